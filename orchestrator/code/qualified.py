"""Names with a qualifier (`Session.send`, `requests.Session`): which places of the last part belong to it.

Only the file's own text is looked at, so the answer has three values. `yes`: the place is inside that class or module,
or its receiver says so (`Session.send`, `self` inside the class or its subclass, a variable that the same file makes or
declares as one, a name imported from that module). `no`: it belongs to something else, or is only prose with the last
part. `maybe`: a receiver whose type the syntax does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from orchestrator.tool import OccurrenceKind

Fit = Literal["yes", "maybe", "no"]

_QUALIFIED = re.compile(r"([A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*)(?:\.|::|->|#)([A-Za-z_$#][\w$]*[?!]?)")
_SEPARATOR = re.compile(r"::|->|[.#]")
_RECEIVER = re.compile(r"((?:[\w$@]+(?:\(\))?\s*(?:\?\.|!\.|\.|->|::|#)\s*)+)$")
_CHAIN_END = re.compile(r"(?:\?\.|!\.|\.|->|::)\s*$")
_OWN = frozenset({"self", "cls", "this", "$this", "super()", "super", "parent", "static", "Self"})
_BACK = 300
"""Characters before a place that are searched for its receiver."""
_STATEMENT = 3000
"""Characters before and after a name in which the rest of its import statement is looked for."""
_FROM = re.compile(r"\s*from\s+([\w.]+)\s+import\b[^()]*(?:\([^()]*)?$")
_FROM_AFTER = re.compile(r"[^;]*?(?:\bfrom|require\()\s*['\"]([^'\"\n]+)")


class Name(NamedTuple):
    """A name asked for; `qualifier` is empty for a plain one."""

    last: str
    qualifier: tuple[str, ...] = ()


def parse_name(text: str) -> Name:
    """`Session.send`, `Session::send()`, `requests.Session` as parts; anything else as one literal name."""
    text = text.strip()
    bare = text[:-2] if text.endswith("()") and len(text) > 2 else text
    found = _QUALIFIED.fullmatch(bare)
    if not found:
        return Name(bare)
    return Name(found[2], tuple(_SEPARATOR.split(found[1])))


def word_pattern(name: str, *, sigil: bool = False) -> re.Pattern[str]:
    """Where `name` stands as a whole word. `$` is a letter of names, except where it marks the use of one (`sigil`)."""
    inner = r"\w" if sigil and not name.startswith("$") else r"\w$"
    literal = re.escape(name)  # first, because the search for a literal is many times faster than for a look-behind
    return re.compile(rf"{literal}(?<![{inner}]{literal})(?![{inner}])")


def receiver_of(text: str, start: int) -> str:
    """What stands before the dot before `text[start]`, joined by dots; "" for nothing, "?" for more than names."""
    before = text[max(0, start - _BACK) : start]
    if not before.rstrip().endswith((".", ":", ">", "#")):
        return ""
    found = _RECEIVER.search(before)
    if found:
        parts = [part.strip() for part in re.split(r"\?\.|!\.|\.|->|::|#", found[1])]
        return ".".join(filter(None, parts))
    return "?" if _CHAIN_END.search(before) else ""


def is_member(text: str, start: int) -> bool:
    """Whether a dot, or what stands for one, is before `text[start]` on its line."""
    return _CHAIN_END.search(text[max(0, start - 20) : start].rpartition("\n")[2]) is not None


class Place(NamedTuple):
    """What is known of a place of the last part asked for; `start` is its offset in the text."""

    start: int
    kind: OccurrenceKind
    scope: str


class Judge:
    """Decides for the places of one file, of which `places` are all."""

    def __init__(self, name: Name, path: str, text: str, places: Sequence[Place]) -> None:
        self._qualifier = list(name.qualifier)
        self._owner = re.escape(name.qualifier[-1])
        self._folder = path.split("/")[:-1]
        self._module = _module_parts(path)
        self._text = text
        self._imports = [place for place in places if place.kind == "import"]
        self._defining = {part for place in places if place.kind == "definition" for part in place.scope.split(".")}
        self._variables: dict[str, Fit] = {}

    def fit(self, place: Place) -> Fit:
        receiver = receiver_of(self._text, place.start)
        if place.kind in ("comment", "string", "doc", "other"):
            return "yes" if self._is_owner(receiver) else "no"
        if place.kind == "definition":
            return "yes" if self._inside(place.scope) or self._is_owner(receiver) else "no"
        if place.kind == "import":
            return "yes" if self._is_imported(place) else "no"
        if receiver:
            return self._fit_receiver(place, receiver)
        return "yes" if self._is_known_bare else "no"

    def _is_owner(self, receiver: str) -> bool:
        """Whether the receiver ends the way the qualifier does, as far as both go."""
        parts = receiver.split(".")
        common = min(len(parts), len(self._qualifier))
        return parts[-common:] == self._qualifier[-common:]

    def _inside(self, scope: str) -> bool:
        """Whether `scope` in this file is the qualifier: its classes by the scope, its modules by the path."""
        parts = scope.split(".") if scope else []
        inner = min(len(parts), len(self._qualifier))
        if inner and parts[-inner:] != self._qualifier[-inner:]:
            return False
        outer = self._qualifier[: len(self._qualifier) - inner]
        return _contains(self._module, outer)

    def _is_imported(self, place: Place) -> bool:
        module = self._module_at(place.start)
        return _contains(module, self._qualifier) or self._is_owner(receiver_of(self._text, place.start))

    def _module_at(self, start: int) -> list[str]:
        """The parts of the module that the import at `start` names, a relative one resolved against the path."""
        statement = self._text[max(0, start - _STATEMENT) : start]
        begin = max(statement.rfind("\nfrom "), statement.rfind(" from "), 0 if statement.startswith("from ") else -1)
        found = _FROM.match(statement, begin) if begin >= 0 else None
        if not found:
            found = _FROM_AFTER.match(self._text, start, start + _STATEMENT)
        if not found:
            return []
        return self._resolved(found[1])

    def _resolved(self, module: str) -> list[str]:
        dots = len(module) - len(module.lstrip("."))
        parts = [part for part in re.split(r"[./\\]+", module) if part]
        if not dots:
            return parts
        up = module.count("../") if "/" in module else dots - 1
        return [*self._folder[: len(self._folder) - up], *parts]

    @cached_property
    def _is_known_bare(self) -> bool:
        """Whether this file imports the last part from the qualifier, or is the module that defines it."""
        return any(map(self._is_imported, self._imports)) or _contains(self._module, self._qualifier)

    def _fit_receiver(self, place: Place, receiver: str) -> Fit:
        if receiver == "?":
            return "no" if self._text[place.start - 2 : place.start - 1] in ("'", '"', "]", "}") else "maybe"
        if self._is_owner(receiver):
            return "yes"
        last = receiver.rsplit(".", 1)[-1]
        if last in _OWN:
            return self._fit_own(place.scope)
        if last not in self._variables:
            self._variables[last] = self._fit_variable(last)
        return self._variables[last]

    def _fit_own(self, scope: str) -> Fit:
        """`self.name` inside the class `scope` names: that class, one derived from it, or another."""
        parts = scope.split(".")
        if self._qualifier[-1] in parts:
            return "yes"
        if self._defining.intersection(parts):
            return "no"
        fits: list[Fit] = [self._fit_class(part) for part in parts if part]
        return "yes" if "yes" in fits else "maybe" if "maybe" in fits else "no"

    def _fit_class(self, name: str) -> Fit:
        header = re.search(
            rf"\b(?:class|struct|interface|trait|impl(?:<[^>]*>)?)\s+{re.escape(name)}\b([^{{;]{{0,400}}?)(?:\{{|:\s*\n|\n)",
            self._text,
        )
        if not header:
            return "no"
        if re.search(rf"(?<![\w$]){self._owner}(?![\w$])", header[1]):
            return "yes"
        return "maybe" if re.search(r"\w", header[1]) else "no"

    def _fit_variable(self, name: str) -> Fit:
        """Whether the file makes the variable as one of the qualifier, declares it as one, or renames the qualifier."""
        literal = re.escape(name)
        variable = rf"{literal}(?<![\w$]{literal})"
        owner = rf"(?:[\w$]+(?:\.|::))*{self._owner}(?![\w$])"
        made = rf"{variable}[ \t]*(?::[^=\n]*)?:?=\s*(?:await\s+|new\s+|&)?"
        declared = rf"{variable}[ \t]*\??:[ \t]*[^=\n,)]*?{owner}"
        declared_before = rf"{self._owner}(?:[ \t]*[&*]+[ \t]*|[ \t]+){variable}[ \t]*[=;,)]"
        renamed = rf"\b{self._owner}\s+as\s+{literal}\b"
        told = re.compile("|".join((rf"{made}{owner}\s*[({{.:]", declared, declared_before, renamed)))
        if any(name in line and told.search(line) for line in self._owner_lines):
            return "yes"
        if name[:1].isupper() and not name.isupper():
            return self._fit_class(name)
        return "no" if re.search(rf"{made}(?:[\w$]+\.)*[A-Z]\w*\s*\(", self._text) else "maybe"

    @cached_property
    def _owner_lines(self) -> list[str]:
        """The lines that hold the last part of the qualifier."""
        owner = self._qualifier[-1]
        return [line for line in self._text.split("\n") if owner in line] if owner in self._text else []


def _module_parts(path: str) -> list[str]:
    parts = path.split("/")
    stem = parts[-1].split(".")[0]
    return [*parts[:-1], *([] if stem in ("__init__", "index", "mod") else [stem])]


def _contains(parts: list[str], wanted: list[str]) -> bool:
    """Whether `wanted` stands in `parts` as a run; nothing always does."""
    return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts) - len(wanted) + 1))
