"""What a name calls, what a file imports, and who imports a file or a module."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from orchestrator.scouting import lookups, uses
from orchestrator.scouting.import_lines import import_lines
from orchestrator.scouting.line_kinds import kind_of_line
from orchestrator.scouting.names import stem, word_set
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, files_of, of_kinds, one_a_line, with_kind
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.readings import Lines
from orchestrator.scouting.resolve import apply_filters, find, reading_note, unknown_part
from orchestrator.scouting.sentences import sorted_definitions, where_clause
from orchestrator.scouting.spots import as_name, locate
from orchestrator.scouting.wording import Words, code

_MAX_DEFINITIONS = 3
_MAX_NAMES = 3
_MAX_PAGES = 5


def callees(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """What the functions, methods or classes called `subject` call."""
    found = find(book, subject)
    if found is None:
        return None
    if not found.places:
        return unknown_part(found, words)
    inside = apply_filters(found.places, ask.filters).inside
    definitions = sorted_definitions(inside, found.last)[:_MAX_DEFINITIONS]
    paths = tuple(dict.fromkeys(place.path for place in definitions))
    known = {path: lookups.symbols(book, path, calls=True) for path in paths}
    calls: list[Place] = []
    for definition in definitions:
        symbols = known[definition.path]
        if symbols is None:
            return None
        own = [
            s for s in symbols if s.line <= definition.line <= s.end_line and s.name.rpartition(".")[2] == found.last
        ]
        spans = [(s.line, s.end_line) for s in own[-1:]]
        calls += [c for s in symbols for c in s.calls if any(first <= c.line <= last for first, last in spans)]
    every = one_a_line(calls)
    context = (words.title("context"), definitions)
    if not every:
        return noted(
            Part(words.say("calls_nothing", name=code(found.name)), groups(context)), reading_note(found, words)
        )
    names = words.listed(dict.fromkeys(code(name) for place in every for name in _called_names(place.text)), _MAX_NAMES)
    said = words.say("calls", name=code(found.name), count=words.count(len(every), "call"), functions=names)
    return noted(Part(said, groups((words.title("call"), every), context)), reading_note(found, words))


def _called_names(text: str) -> list[str]:
    return [name for name in re.findall(r"([A-Za-z_$][\w$]*)\s*(?:::<[^>]*>)?\(", text) if name not in _NO_CALLS]


_NO_CALLS = word_set("if for while switch return catch def function func fn match with and or not in elif when await")


def file_imports(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """The import lines of a file; of a name, those of the file that defines it."""
    spot = locate(book, subject)
    if spot is None:
        return None
    path = spot.files[0] if spot.files else ""
    if not path:
        name = subject if subject.shape == "name" else as_name(subject)
        found = find(book, name) if name else None
        if name and found is None:
            return None
        definitions = sorted_definitions(found.places, found.last) if found else ()
        if not definitions:
            said = words.say("no_path", path=code(subject.dotted))
            return unknown_part(found, words) if found else Part(said, open_question=said)
        path = definitions[0].path
    lines = _whole(book, path)
    if lines is None:
        return None
    places = import_lines(path, lines)
    if not places:
        return Part(words.say("no_imports", path=code(path)))
    said = words.say("file_imports", path=code(path), count=words.count(len(places), "import"))
    return Part(said, groups((words.title("import"), places)))


def _whole(book: Notebook, path: str) -> tuple[tuple[int, str], ...] | None:
    rows: list[tuple[int, str]] = []
    page: Lines | None = Lines(next_offset=1)
    for _ in range(_MAX_PAGES):
        if page is None or page.next_offset is None:
            break
        page = lookups.read(book, path, page.next_offset)
        rows += page.rows if page else ()
    return None if page is None else tuple(rows)


def importers(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """Who imports the file or module that `subject` names; a path that is none may be a name."""
    spot = locate(book, subject) if subject.shape == "path" else None
    if subject.shape == "path" and spot is None:
        return None
    name = as_name(subject) if subject.shape == "path" else None
    if spot and not spot.exists and name:
        part = uses.answer(ask, name, book, words)
        if part is None or part.cited:
            return part
    return _module_imports(ask, subject, book, words)


def _module_imports(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """Import lines that name the module, by its name and by the text of its path."""
    module = stem(subject.name) if subject.shape == "path" else subject.name
    by_name = lookups.references(book, module) if re.fullmatch(r"[\w$]+", module) else None
    if by_name is None and re.fullmatch(r"[\w$]+", module):
        return None
    text = subject.name if subject.shape == "text" or "." in subject.name.rpartition("/")[2] else module
    by_text = lookups.grep(book, PurePosixPath(text).name if subject.shape == "path" else text, literal=True)
    if by_text is None:
        return None
    named = of_kinds(by_name.places, {"import"}) if by_name else ()
    literal = with_kind((p for p in by_text.places if kind_of_line(p.text, module, p.path) == "import"), "import")
    every = _of_module(one_a_line((*named, *literal)), subject.name)
    places = apply_filters(every, ask.filters).inside
    label = code(subject.name)
    if not places:
        said = words.say("not_imported", name=label, where=where_clause(ask.filters, words), elsewhere="", defined="")
        rest = apply_filters(with_kind(by_text.places, "string"), ask.filters).inside
        return Part(said, groups((words.title("other"), rest)))
    count = words.count(len(places), "import")
    said = words.say("imported", name=label, files=words.count(files_of(places), "file"), count=count, defined="")
    return Part(said, groups((words.title("import"), places)))


def _of_module(places: tuple[Place, ...], path: str) -> tuple[Place, ...]:
    """Only the lines that name the module's folder too, or are relative, when any do."""
    parent = PurePosixPath(path).parent.name
    if not parent:
        return places
    fitting = tuple(p for p in places if re.search(rf"\b{re.escape(parent)}\b|from\s+\.|['\"]\.", p.text))
    return fitting or places
