"""The kind of a place from its line alone: for languages without a grammar, and where the parser found errors."""

from __future__ import annotations

import re

from orchestrator.tool import OccurrenceKind

_COMMENTED = re.compile(
    r"^\s*(?:#(?!\s*(?:define|if|elif|ifdef|ifndef|undef|include|import|pragma|error)\b|[\[!]\w)|//|/\*|\*|--|;|%(?=[\s%])|<!--|\"\"\"|''')|(?<=\s)(?:#|//|/\*|--|<!--)\s"
)
_DEFINING = re.compile(
    r"\b(?:def|defp|func|fun|fn|function|sub|proc|class|struct|interface|trait|enum|union|type|typedef|object|module"
    r"|record|protocol|extension|macro|defmacro|define|defun|defmodule|let|var|val|const|message|service|rpc"
    r"|(?:create|alter)\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index|type))\s+(?:[\w.]+[.:])?$",
    re.I,
)
_IMPORTING = re.compile(r"^\s*(?:import|from|use|using|require|include|#\s*include|@import|open|source|\.)\b")
_ASSIGNED = re.compile(r"\s*(?:\+|\?|:)?:?=(?!=)")
_CALLED = re.compile(r"\s*\(")
_MEMBER = re.compile(r"(?:\.|->|::)\s*$")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")


def kind_by_words(line: str, start: int, end: int) -> OccurrenceKind:
    """The kind of the name at `line[start:end]`, as well as one line can tell."""
    before, after = line[:start], line[end:]
    if _COMMENTED.search(before):
        return "comment"
    if _IMPORTING.match(before):
        return "import"
    if before.endswith(("$", "${")):
        return "reference"
    if any(found.start() < start and end < found.end() for found in _QUOTED.finditer(line)):
        return "string"
    if _DEFINING.search(before) or (not before.strip() and _ASSIGNED.match(after)):
        return "definition"
    if _CALLED.match(after):
        return "call"
    return "attribute" if _MEMBER.search(before) else "reference"
