"""What extends or implements a type, and what it extends itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.scouting import lookups
from orchestrator.scouting.explain import documented
from orchestrator.scouting.line_kinds import declared_type, defines_function_or_class, extends
from orchestrator.scouting.lineage import Family, descend, split_by_root
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, Symbol, of_kinds, one_a_line
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.resolve import Found, apply_filters, find, reading_note, unknown_part
from orchestrator.scouting.sentences import defined_clause, definition_group, sorted_definitions, where_clause
from orchestrator.scouting.wording import Words, code

_MAX_READ = 40
"""Lines around which more is read because a header may go over several lines."""
_ABOVE = 8
_HEADER = re.compile(r"[\w.$\[\]<>, *]*[\w\])>]\s*[,)({:]*\s*(?:\{|:)?")
_OPENS = re.compile(r"\b(?:class|interface|struct|enum|record|trait|impl|protocol|object|type)\b")


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
    roots = tuple(p for p in found.definitions if defines_function_or_class(p.text, found.last))
    families = descend(book, split_by_root(found.last, roots, direct, found.places), roots)
    if families is None:
        return None
    total = sum(family.size for family in families)
    families = tuple(inside for family in families if (inside := family.inside(ask.filters)).size)
    if not families:
        where = where_clause(ask.filters, words)
        elsewhere = words.say("elsewhere_subclasses", count=words.count(total, "subclass")) if total else ""
        return _none(found, where, elsewhere, words)
    listed = groups(*_family_groups(families, words), definition_group(found, words))
    part = Part(_headline(found, families, words), listed, is_yes=True)
    return noted(part, _which(families, words), reading_note(found, words), _implicit(found.places, words))


def _headline(found: Found, families: Sequence[Family], words: Words) -> str:
    direct, indirect = sum(len(f.direct) for f in families), sum(len(f.indirect) for f in families)
    total = words.count(direct + indirect, "subclass")
    if len(families) == 1:
        defined = defined_clause(found, words)
        name = code(found.name)
        return words.say("subclassed", name=name, count=total, direct=direct, indirect=indirect, defined=defined)
    each = words.listed((_share(family, words) for family in families), 5)
    classes = sum(family.root is not None for family in families)
    return words.say("subclassed_many", name=code(found.name), classes=classes, count=total, each=each)


def _share(family: Family, words: Words) -> str:
    at = family.root.at if family.root else ""
    return words.say("of_root" if at else "uncertain", count=family.size, at=at)


def _root_name(family: Family, words: Words) -> str:
    return family.root.at if family.root else words.say("no_root")


def _family_groups(families: Sequence[Family], words: Words) -> list[tuple[str, tuple[Place, ...]]]:
    made: list[tuple[str, tuple[Place, ...]]] = []
    for family in families:
        of = f" · {_root_name(family, words)}" if len(families) > 1 else ""
        made += [(words.title("direct") + of, family.direct), (words.title("indirect") + of, family.indirect)]
    return made


def _which(families: Sequence[Family], words: Words) -> str:
    """Asks back when there are several classes of the name: `db.models.Field`, with the last folder of each."""
    roots = [family.root for family in families if family.root]
    if len(roots) < 2:
        return ""
    return words.say("which_class", names=words.listed(f"{root.at}" for root in roots))


def _direct(book: Notebook, name: str, places: Sequence[Place]) -> tuple[Place, ...] | None:
    """The lines at which types that extend `name` begin."""
    on_line = [p for p in places if p.kind not in ("comment", "string", "doc") and extends(p.text, name)]
    known_lines = set(on_line)
    rest = [
        p
        for p in of_kinds(places, {"reference", "attribute", "call"})
        if p not in known_lines and _HEADER.fullmatch(p.text)
    ][:_MAX_READ]
    above = [_may_go_on(book, place) for place in rest]
    if None in above:
        return None
    rest = [place for place, goes_on in zip(rest, above, strict=True) if goes_on]
    known = {path: lookups.symbols(book, path) for path in dict.fromkeys(p.path for p in rest)}
    wrapped: list[Place] = []
    for place in rest:
        symbols = known[place.path]
        if symbols is None:
            return None
        wrapped += [s.place for s in _headers(symbols, place) if extends(s.signature, name) or _embeds(s, place)]
    every = one_a_line((*on_line, *wrapped))
    return tuple(p._replace(kind="reference", scope="") for p in every if declared_type(p.text) != name)


def _may_go_on(book: Notebook, place: Place) -> bool | None:
    """Whether a type begins right above the line."""
    first = max(1, place.line - _ABOVE)
    lines = lookups.read(book, place.path, first, place.line - first)
    return None if lines is None else any(_OPENS.search(text) for _, text in lines.rows)


def _headers(symbols: Sequence[Symbol], place: Place) -> list[Symbol]:
    """The types whose header the line may belong to."""
    return [s for s in symbols if s.line <= place.line <= min(s.end_line, s.line + _ABOVE) and _is_type(s)]


def _is_type(symbol: Symbol) -> bool:
    return any(word in symbol.kind for word in ("class", "struct", "interface", "trait", "type", "enum", "impl"))


def _embeds(symbol: Symbol, place: Place) -> bool:
    """A Go struct or interface that has the name alone on a line of it."""
    return place.path.endswith(".go") and re.fullmatch(r"\*?(?:\w+\.)?\w+", place.text) is not None


def _none(found: Found, where: str, elsewhere: str, words: Words) -> Part:
    """Nothing extends it in the part asked for; a method that several types define may be overridden."""
    definitions = sorted_definitions(found.places, found.last)
    scopes = {place.scope for place in definitions if place.scope}
    context = groups((words.title("definition"), definitions))
    if len(scopes) > 1 and not elsewhere:
        return Part(words.say("overridden", name=code(found.last), count=len(scopes)), context)
    defined = defined_clause(found, words)
    said = words.say("not_subclassed", name=code(found.last), where=where, elsewhere=elsewhere, defined=defined)
    return noted(Part(said, context, is_yes=False), _implicit(found.places, words))


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
