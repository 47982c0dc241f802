"""What extends or implements a type, and what it extends itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from orchestrator.scouting import lookups
from orchestrator.scouting.explain import documented
from orchestrator.scouting.line_kinds import declared_type, extends
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, Symbol, of_kinds, one_a_line
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.resolve import apply_filters, find, reading_note, unknown_part
from orchestrator.scouting.uses import defined_clause, sorted_definitions
from orchestrator.scouting.wording import Words, code

_MAX_LEVELS = 4
_MAX_TYPES = 40
"""Types whose own subclasses are looked for."""
_MAX_FILES = 40
"""Files whose types are read because a header goes over several lines."""
_HEADER = re.compile(r"[\w.$\[\]<>, *]*[\w\])>]\s*[,)({:]*\s*(?:\{|:)?")


def subclasses(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """The types that name `subject` as a base, an interface, a trait or a mixin, and those that extend them."""
    found = find(book, subject)
    if found is None:
        return None
    if not found.places:
        return unknown_part(found, words)
    direct = _direct(book, found.last, found.places)
    if direct is None:
        return None
    indirect = _indirect(book, found.last, direct)
    if indirect is None:
        return None
    inside = apply_filters(direct, ask.filters).inside
    further = apply_filters(indirect, ask.filters).inside
    if not inside and not further:
        return _none(found.places, found.last, defined_clause(found, words), words)
    total = len(inside) + len(further)
    said = words.say(
        "subclassed",
        name=code(found.name),
        count=words.count(total, "subclass"),
        direct=len(inside),
        indirect=len(further),
        defined=defined_clause(found, words),
    )
    context = (words.title("context"), sorted_definitions(found.places, found.last)[:5])
    part = Part(said, groups((words.title("direct"), inside), (words.title("indirect"), further), context))
    return noted(part, reading_note(found, words), _implicit(found.places, words))


def _direct(book: Notebook, name: str, places: Sequence[Place]) -> tuple[Place, ...] | None:
    """The lines at which types that extend `name` begin."""
    on_line = [p for p in places if p.kind not in ("comment", "string", "doc") and extends(p.text, name)]
    rest = [
        p
        for p in of_kinds(places, {"reference", "attribute", "call"})
        if p not in on_line and _HEADER.fullmatch(p.text)
    ]
    paths = tuple(dict.fromkeys(p.path for p in rest))[:_MAX_FILES]
    known = {path: lookups.symbols(book, path) for path in paths}
    wrapped: list[Place] = []
    for place in rest:
        symbols = known.get(place.path, ())
        if symbols is None:
            return None
        wrapped += [s.place for s in _headers(symbols, place) if extends(s.signature, name) or _embeds(s, place)]
    every = one_a_line((*on_line, *wrapped))
    return tuple(replace(p, kind="reference", scope="") for p in every if declared_type(p.text) != name)


def _headers(symbols: Sequence[Symbol], place: Place) -> list[Symbol]:
    """The types whose header the line may belong to."""
    return [s for s in symbols if s.line <= place.line <= min(s.end_line, s.line + 8) and _is_type(s)]


def _is_type(symbol: Symbol) -> bool:
    return any(word in symbol.kind for word in ("class", "struct", "interface", "trait", "type", "enum", "impl"))


def _embeds(symbol: Symbol, place: Place) -> bool:
    """A Go struct or interface that has the name alone on a line of it."""
    return place.path.endswith(".go") and re.fullmatch(r"\*?(?:\w+\.)?\w+", place.text) is not None


def _indirect(book: Notebook, name: str, direct: Sequence[Place]) -> tuple[Place, ...] | None:
    """Subclasses of the subclasses, level by level."""
    seen = {name}
    found: list[Place] = []
    level: Sequence[Place] = direct
    for _ in range(_MAX_LEVELS):
        types = [t for t in dict.fromkeys(declared_type(p.text) for p in level) if t and t not in seen][:_MAX_TYPES]
        seen.update(types)
        following: list[Place] = []
        missing = False
        for each in types:
            references = lookups.references(book, each)
            below = None if references is None else _direct(book, each, one_a_line(references.places))
            missing = missing or below is None
            following += below or ()
        if missing:
            return None
        known = {(p.path, p.line) for p in (*direct, *found)}
        level = [p for p in one_a_line(following) if (p.path, p.line) not in known]
        found += level
        if not level:
            break
    return tuple(found)


def _none(places: Sequence[Place], name: str, defined: str, words: Words) -> Part:
    """Nothing extends it; a method that several types define may be overridden."""
    definitions = sorted_definitions(places, name)
    methods = tuple(p for p in definitions if p.scope)
    context = groups((words.title("definition"), definitions))
    if len({p.scope for p in methods}) > 1:
        return Part(words.say("overridden", name=code(name), count=len({p.scope for p in methods})), context)
    part = Part(words.say("not_subclassed", name=code(name), defined=defined), context)
    return noted(part, _implicit(places, words))


def _implicit(places: Sequence[Place], words: Words) -> str:
    is_go = any(
        p.path.endswith(".go") and re.search(r"\binterface\b", p.text) for p in of_kinds(places, {"definition"})
    )
    return words.say("implicit") if is_go else ""


def bases(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """What the type extends, with the definitions of its bases that are in the workspace."""
    found = find(book, subject)
    if found is None:
        return None
    if not found.places:
        return unknown_part(found, words)
    definitions = sorted_definitions(apply_filters(found.places, ask.filters).inside or found.places, found.last)[:1]
    detailed = documented(book, found.last, definitions)
    if detailed is None:
        return None
    if not detailed:
        said = words.say("nowhere_defined", name=code(found.name), mentioned="")
        return Part(said, groups((words.title("reference"), found.places)))
    header = detailed[0].symbol.signature or definitions[0].text
    names = _base_names(header, found.last)
    known = {name: lookups.references(book, name) for name in names}
    if any(references is None for references in known.values()):
        return None
    places = [p for name in names for p in sorted_definitions(known[name].places if known[name] else (), name)[:3]]  # type: ignore[union-attr]  # checked above
    key = "bases" if names else "no_bases"
    said = words.say(key, name=code(found.name), bases=words.listed(map(code, names)), at=definitions[0].at)
    return Part(said, groups((words.title("definition"), definitions), (words.title("base"), places)))


def _base_names(header: str, name: str) -> tuple[str, ...]:
    """The last names of what the header says the type extends."""
    found = (
        re.search(rf"\bclass\s+{re.escape(name)}(?:\[.*?\])?\s*\((.*)\)", header)
        or re.search(r"\b(?:extends|implements)\b(.*?)(?:\{|$)", header)
        or re.search(rf"{re.escape(name)}(?:<.*?>)?(?:\(.*?\))?\s*(?::(?!:)|<)\s*(.*?)(?:\{{|$)", header)
    )
    if not found:
        return ()
    plain = re.sub(r"<[^<>]*>|\[[^\[\]]*\]|\w+\s*=\s*[\w.]+", "", found[1])
    pieces = re.split(r"[,&+]|\bimplements\b|\bextends\b|\bwith\b", plain)
    names = (
        re.findall(r"[A-Za-z_$][\w$]*", re.sub(r"\b(?:public|private|protected|virtual)\b", "", piece))
        for piece in pieces
    )
    return tuple(dict.fromkeys(words[-1] for words in names if words))
