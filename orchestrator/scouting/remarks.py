"""Remarks that close an answer about the uses of a name: what may be missing from it, or too much."""

from __future__ import annotations

import re

from orchestrator.scouting.attribution import shares
from orchestrator.scouting.line_kinds import defines_function_or_class
from orchestrator.scouting.places import MENTIONS, Place, of_kinds
from orchestrator.scouting.resolve import Found
from orchestrator.scouting.wording import Words, code

_PLAIN_WORD = re.compile(r"[a-z]{2,}")


def aliases(found: Found, words: Words) -> str:
    """Said when files import the name under another one."""
    pattern = re.compile(rf"(?<![\w$]){re.escape(found.last)}\s*(?:\bas\b|:)\s*([A-Za-z_$][\w$]*)")
    renamed = ((place, pattern.search(place.text)) for place in of_kinds(found.places, {"import"}))
    names = dict.fromkeys(
        f"{code(match[1])} · {place.path}" for place, match in renamed if match and match[1] != found.last
    )
    return words.say("alias", names=words.listed(names, 5)) if names else ""


def plain_word(found: Found, words: Words) -> str:
    """Said when a name is an ordinary word and much of what was found is prose."""
    mentions = of_kinds(found.places, MENTIONS)
    is_word = _PLAIN_WORD.fullmatch(found.name) is not None
    if not is_word or len(mentions) <= max(2, len(found.places) // 5):
        return ""
    return words.say("plain_word", name=found.name, kinds=words.kinds(mentions))


def by_name(found: Found, uses: tuple[Place, ...], words: Words) -> str:
    """Said when several functions or classes share the name."""
    declared = tuple(p for p in found.definitions if defines_function_or_class(p.text, found.last))
    if len(declared) < 2 or "." in found.name:
        return ""
    counts, unknown = shares(declared, uses, found.places)
    said = [words.say("share", count=count, at=place.at) for place, count in counts if count]
    if unknown:
        said.append(words.say("share_unknown", count=unknown))
    return words.say("by_name", count=len(declared), shares=words.listed(said, 5))
