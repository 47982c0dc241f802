"""`CodeIndex`: facts about the code of a workspace. The text search is asked first; what it names is parsed."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from typing import TypeVar

from orchestrator.code.calls import calls_in
from orchestrator.code.facts_cache import FactsCache
from orchestrator.code.imports import imports_in
from orchestrator.code.languages import language_by_name
from orchestrator.code.near import anywhere_pattern, candidates, definitions_pattern, rank
from orchestrator.code.occurrences import FileOccurrences
from orchestrator.code.outline import FileSymbol
from orchestrator.code.pace import Pace
from orchestrator.code.qualified import Fit, parse_name
from orchestrator.code.reading import Reader
from orchestrator.code.repo_graph import VENDORED, Terms, map_files
from orchestrator.code.tasks import Task, links_task, occurrences_task, symbols_task
from orchestrator.code.workers import run_over
from orchestrator.errors import ToolError
from orchestrator.tool import (
    Belongs,
    Files,
    MappedFile,
    Match,
    Occurrence,
    Occurrences,
    RepoMap,
    Search,
    SearchQuery,
    Symbol,
    Symbols,
)

T = TypeVar("T")

MAX_NAME = 300
"""Characters of the longest name that is looked for."""
MAX_MAPPED = 1500
"""Files that are parsed for one map."""
_SEARCHED_WORDS = 4
"""Words of a question that are searched for to choose among more files than that."""
_SOME_FILES = 64
"""Files that are read at once when only the first symbols are wanted."""
_NEAR_ROWS = 4000
_NO_NAMES = ("!*.po", "!*.json", "!*.svg", "!*.csv", "!*.lock", "!*.map", "!*.min.*", "!*.html", "!*.xml")
"""Files with much text and few names of code."""


_Asked = tuple[str, tuple[str, ...], tuple[str, ...]]


def _nothing(text: str) -> None:
    """Where nobody follows the progress."""


class CodeIndex:
    """`Code` over the files of one workspace. Nothing is built beforehand; what is found is kept in the `cache`."""

    def __init__(self, files: Files, search: Search, cache: FactsCache | None = None) -> None:
        self._files = files
        self._search = search
        self._cache = cache
        self._latest: tuple[_Asked, Occurrences] | None = None

    async def occurrences(
        self,
        name: str,
        under: Sequence[str] = (".",),
        globs: Sequence[str] = (),
        *,
        again: bool = False,
        progress: Callable[[str], None] = _nothing,
    ) -> Occurrences:
        """See `Code`; the newest listing is kept for its further pages."""
        asked = (name, tuple(under), tuple(globs))
        if again and self._latest is not None and self._latest[0] == asked:
            return self._latest[1]
        found = await self._occurrences(name, under, globs, progress)
        self._latest = (asked, found)
        return found

    async def _occurrences(
        self, name: str, under: Sequence[str], globs: Sequence[str], progress: Callable[[str], None]
    ) -> Occurrences:
        """Every place of `name`. Raises `ToolError('invalid_name')` for one that cannot stand on a line of code.

        A qualified name (`Session.send`, `requests.Session`) gives the places that belong to the qualifier as far as
        the syntax of each file tells: definitions and `self` inside it, receivers and imports that name it. Places of
        the last part whose receiver does not tell are kept if the qualifier is a class that defines the name, and
        counted in a note; those that belong to something else are left out and counted.
        """
        wanted = parse_name(_checked(name))
        query = SearchQuery(wanted.last, literal=True, under=tuple(under), globs=tuple(globs))
        paths, unsearched = await self._search.files_with(query)
        with Reader(self._files) as reader:
            results = await self._over(occurrences_task(name), paths, reader, progress)
        found = [(path, result) for path, result in zip(paths, results, strict=True) if result is not None]
        rows = [row for path, result in found for row in _rows(path, result)]
        notes = [*unsearched, *reader.notes(), *_notes(found)]
        if wanted.qualifier:
            rows, about = _belonging(rows, wanted.last, ".".join(wanted.qualifier))
            notes += about
        occurrences = tuple(row for row, _ in rows)
        return Occurrences(occurrences, (*notes, *_vendored(occurrences)))

    async def symbols(
        self,
        under: Sequence[str] = (".",),
        name: str = "",
        limit: int | None = None,
        progress: Callable[[str], None] = _nothing,
    ) -> Symbols:
        """See `Code`. Headings of documents are given only for a document that `under` names itself."""
        paths = await self._with_symbols(under, name)
        rows: list[Symbol] = []
        is_called = _name_filter(name)
        step = len(paths) if limit is None else _SOME_FILES
        for first in range(0, len(paths), max(step, 1)):
            some = paths[first : first + step]
            with Reader(self._files) as reader:
                results = await self._over(symbols_task(), some, reader, progress)
            for path, result in zip(some, results, strict=True):
                rows += (_symbol(path, symbol) for symbol in result or () if is_called(symbol))
            if limit is not None and len(rows) > limit:
                return Symbols(tuple(rows), max(0, len(paths) - first - step))
        return Symbols(tuple(rows))

    async def calls(self, path: str, first: int, last: int) -> Sequence[Occurrence]:
        """The calls on the lines `first` to `last` of the file at `path`."""
        file = self._files.read_text(path)
        found = calls_in(file.path, file.text.encode("utf-8", "surrogatepass"), first, last)
        return tuple(
            Occurrence(file.path, line, column, "call", text, scope, preview, name)
            for line, column, name, text, scope, preview in found
        )

    async def calls_from(self, path: str, line: int) -> Sequence[Occurrence]:
        """The calls made inside the innermost definition that holds `line` of the file at `path`, else by that line."""
        listed = await self.symbols((path,))
        around = [symbol for symbol in listed.rows if symbol.line <= line <= symbol.end_line]
        if not around:
            return await self.calls(path, line, line)
        inner = min(around, key=lambda symbol: symbol.end_line - symbol.line)
        return await self.calls(path, inner.line, inner.end_line)

    async def imports_of(self, path: str) -> Sequence[Occurrence]:
        """What the file at `path` imports; `name` of each is the module or the name in full, as written."""
        file = self._files.read_text(path)
        found = imports_in(file.path, file.text.encode("utf-8", "surrogatepass"))
        return tuple(Occurrence(file.path, row.line, 1, "import", row.text, name=row.name) for row in found)

    async def subclasses(self, name: str, under: Sequence[str] = (".",)) -> Sequence[Symbol]:
        """The classes, and Rust's `impl` blocks, whose header names the class `name` as one that they build on."""
        last = parse_name(_checked(name)).last
        paths, _ = await self._search.files_with(SearchQuery(last, literal=True, under=tuple(under)))
        with Reader(self._files) as reader:
            results = await self._over(symbols_task(), paths, reader)
        return tuple(
            _symbol(path, symbol)
            for path, result in zip(paths, results, strict=True)
            for symbol in result or ()
            if last in symbol.bases
        )

    async def near(self, name: str, under: Sequence[str] = (".",)) -> Sequence[tuple[str, str, int]]:
        """Names that resemble `name`: first among those that are defined, then among all.

        For a qualified name whose last part is defined elsewhere these are the definitions of that part.
        """
        wanted = parse_name(_checked(name))
        if wanted.qualifier:
            others = await self.occurrences(wanted.last, under)
            defined = [row for row in others.rows if row.kind == "definition"]
            if defined:
                return [(f"{row.scope}.{wanted.last}".lstrip("."), row.path, row.line) for row in defined[:5]]
        rows: list[Match] = []
        for pattern in (definitions_pattern(wanted.last), anywhere_pattern(wanted.last)):
            rows += await self._lines_like(pattern, under)
        best = rank(wanted.last, candidates(rows, anywhere_pattern(wanted.last)))
        return [(each.name, each.path, each.line) for each in best]

    async def _lines_like(self, pattern: str, under: Sequence[str]) -> Sequence[Match]:
        """Lines that match in any case, with ASCII's idea of a letter where the engine has it: 30 times faster."""
        query = SearchQuery(
            f"(?-u){pattern}" if pattern.isascii() else pattern,
            ignore_case=True,
            under=tuple(under),
            globs=_NO_NAMES,
            per_file=_NEAR_ROWS // 10,
            limit=_NEAR_ROWS,
        )
        try:
            return (await self._search.grep(query)).rows
        except ToolError as error:
            if error.code != "invalid_regex" or query.pattern == pattern:
                raise
        return (await self._search.grep(query._replace(pattern=pattern))).rows

    async def repo_map(
        self, query: str, under: Sequence[str], limit: int, progress: Callable[[str], None] = _nothing
    ) -> RepoMap:
        """See `Code`. Of a repository with very many files only those are looked at that hold words of `query`."""
        paths = await self._with_symbols(under, "")
        terms = Terms(query)
        chosen = await self._promising(paths, under, terms)
        progress(f"mapping {len(chosen):,} of {len(paths):,} files")
        with Reader(self._files) as reader:
            results = await self._over(links_task(), chosen, reader, progress)
        files = {path: links for path, links in zip(chosen, results, strict=True) if links and links.symbols}
        best = await asyncio.to_thread(map_files, files, terms, limit)
        mapped = (MappedFile(path, tuple(_symbol(path, symbol) for symbol in symbols)) for path, symbols in best)
        return RepoMap(tuple(mapped), len(paths), len(chosen))

    async def _promising(self, paths: Sequence[str], under: Sequence[str], terms: Terms) -> list[str]:
        """At most `MAX_MAPPED` of the files: those with most words of the question, then those highest up."""
        if len(paths) <= MAX_MAPPED:
            return list(paths)
        words = sorted(terms.parts, key=lambda word: (-len(word), word))[:_SEARCHED_WORDS]
        queries = [SearchQuery(word, literal=True, ignore_case=True, under=tuple(under)) for word in words]
        hits: Counter[str] = Counter()
        for query in queries:
            found = (await self._search.files_with(query)).paths
            hits.update(dict.fromkeys(found, len(paths) // (len(found) + 1) + 1))
        return sorted(sorted(paths, key=lambda path: (-hits[path], path.count("/"), path))[:MAX_MAPPED])

    async def _over(
        self, task: Task[T], paths: Sequence[str], reader: Reader, say: Callable[[str], None] = _nothing
    ) -> list[T | None]:
        """The facts of each file, from the cache as far as it has them; `say` gets how far it has come."""
        pace = Pace(say, len(paths))
        if self._cache is None:
            return await run_over(task, paths, reader.read, progress=pace)
        return await self._cache.run_over(task, paths, self._files.root, reader.read, progress=pace)

    async def _with_symbols(self, under: Sequence[str], name: str) -> list[str]:
        """The files that can have the symbols asked for."""
        named = [located.path for each in under if not (located := self._files.locate(each)).is_dir]
        part = max(re.split(r"[*?.]|::", name), key=len)
        if part:
            query = SearchQuery(part, literal=True, under=tuple(under))
            found = list((await self._search.files_with(query)).paths)
        else:
            listed = [await self._search.list_files(each) for each in under if each not in named]
            found = sorted({*named, *(path for paths in listed for path in paths)})
        return [path for path in found if path in named or _can_define(path)]


def _checked(name: str) -> str:
    if not name.strip() or "\n" in name or "\0" in name or len(name) > MAX_NAME:
        raise ToolError(
            "invalid_name", f"The name must be text within one line, of 1 to {MAX_NAME} characters.", got=name[:80]
        )
    return name


# --- occurrences -----------------------------------------------------------------------------------------------------

_Row = tuple[Occurrence, Fit]


def _rows(path: str, result: FileOccurrences) -> Iterator[_Row]:
    for line, column, kind, text, scope, fit, preview, is_local in result.places:
        belongs: Belongs = "local" if is_local else "maybe" if fit == "maybe" else "yes"
        yield Occurrence(path, line, column, kind, text, scope, preview, belongs=belongs), fit


def _belonging(rows: Sequence[_Row], last: str, owner: str) -> tuple[list[_Row], list[str]]:
    """The rows that belong to the qualifier `owner`, and what is to be said about the others."""
    by_fit = Counter(fit for _, fit in rows)
    if not by_fit["yes"]:
        others = f"no {last} that belongs to {owner}; {_counted(by_fit.total(), 'place')} of {last} otherwise"
        return [], [others] if rows else []
    defining = [row for row, fit in rows if fit == "yes" and row.kind == "definition"]
    is_method = any(row.scope for row in defining)
    languages = {rules for row in defining if (rules := _rules_of(row.path))}
    kept: list[_Row] = [
        (row, fit)
        for row, fit in rows
        if (fit == "yes" or (is_method and fit == "maybe")) and _may_mean(row, fit, languages)
    ]
    notes = []
    unsure = sum(fit == "maybe" for _, fit in kept)
    if unsure:
        notes.append(f"{_counted(unsure, 'place')} marked maybe: the syntax does not tell the type of the receiver")
    left = len(rows) - len(kept)
    if left:
        notes.append(f"{_counted(left, 'place')} of {last} left out: nothing says that they belong to {owner}")
    return kept, notes


def _may_mean(row: Occurrence, fit: Fit, languages: Set[str]) -> bool:
    """Whether a place can belong to something that is defined in `languages`: code calls only what is in its own."""
    rules = _rules_of(row.path)
    if not languages or rules in languages or row.kind in ("comment", "string", "doc", "other"):
        return True
    return not rules and fit == "yes"


def _rules_of(path: str) -> str:
    """The rules by which the code in the file is read; the same for languages that call each other."""
    language = language_by_name(path)
    return language.rules if language is not None else ""


def _notes(found: Sequence[tuple[str, FileOccurrences]]) -> Iterator[str]:
    hidden = {path: result.hidden for path, result in found if result.hidden}
    if hidden:
        named = ", ".join(f"{path} ({count})" for path, count in list(hidden.items())[:3])
        more = f" and {_counted(len(hidden) - 3, 'more file')}" if len(hidden) > 3 else ""
        yield f"{_counted(sum(hidden.values()), 'more place')} in very long lines, not listed: {named}{more}"
    binary = sum(result.how == "binary" for _, result in found)
    if binary:
        yield f"{_counted(binary, 'binary file')} skipped"
    unparsed = [path for path, result in found if result.how == "words" and result.places and _is_code(path)]
    if unparsed:
        named = ", ".join(unparsed[:3]) + (", …" if len(unparsed) > 3 else "")
        yield f"kinds guessed from single lines in {_counted(len(unparsed), 'file')} that could not be parsed: {named}"


def _is_code(path: str) -> bool:
    language = language_by_name(path)
    return language is not None and language.family == "code"


def _vendored(rows: Sequence[Occurrence]) -> Iterator[str]:
    folders: Counter[str] = Counter()
    for path, count in Counter(row.path for row in rows).items():
        if found := VENDORED.search(path):
            folders[found[1]] += count
    if folders:
        yield f"{_counted(folders.total(), 'place')} in vendored folders: {', '.join(sorted(folders))}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


# --- symbols ---------------------------------------------------------------------------------------------------------


def _symbol(path: str, found: FileSymbol) -> Symbol:
    name, kind, qualified, line, end_line, signature, doc, lines, _ = found
    return Symbol(name, kind, qualified, path, line, end_line, signature, doc, lines)


def _name_filter(name: str) -> Callable[[FileSymbol], bool]:
    """Whether a symbol has the name asked for: simple, qualified, or with `*` and `?` for any characters."""
    plain = name.strip().replace("::", ".")
    if not plain:
        return lambda symbol: True
    wild = "".join(".*" if char == "*" else "." if char == "?" else re.escape(char) for char in plain)
    if "." in plain:
        pattern = re.compile(rf"(?:.*\.)?{wild}")
        return lambda symbol: pattern.fullmatch(symbol.qualified) is not None
    pattern = re.compile(wild)
    return lambda symbol: pattern.fullmatch(symbol.name) is not None


def _can_define(path: str) -> bool:
    """Whether symbols of the file are listed although it is not named itself: code, and files without a suffix."""
    language = language_by_name(path)
    if language is None:
        return "." not in path.rsplit("/", 1)[-1]
    return language.family in ("code", "notebook")
