"""The Python engine finds what ripgrep finds: in generated trees, and for generated regular expressions."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from orchestrator import search_worker
from orchestrator.errors import ToolError
from orchestrator.rust_regex import Dialect, RegexError, python_pattern
from orchestrator.search import EngineSearch
from orchestrator.search_job import Job
from orchestrator.search_process import Finished
from orchestrator.tool import SearchQuery
from orchestrator.workspace import WorkspaceFiles
from tests.support.read_only_tools import ripgrep_search, write_tree


async def in_this_process(job: Job, folder: Path, consume: Callable[[bytes], object]) -> Finished:
    """The Python engine without its process: thousands of jobs in a test."""
    complaints: list[str] = []
    with contextlib.chdir(folder):
        code = search_worker.run(Job.from_json(job.to_json()), consume, complaints.append)
    return Finished(code, "\n".join(complaints))


async def outcome(search: Any, call: str, *arguments: object) -> object:
    """What a search returns, or why it refuses."""
    try:
        return await getattr(search, call)(*arguments)
    except ToolError as error:
        return error.code


FOLDERS = ["", "a/", "b/", "a/b/", "build/", "src/", ".hid/", "a/build/", "é/"]
NAMES = ["x.py", "y.log", "keep.log", ".dot", "noext", "café.txt", "n.txt", "build", ".env", "x y.py"]
IGNORES = [
    "*.log", "!keep.log", "build/", "/a", "src/*.py", "**/b", "!src", "a/**", "*.{py,txt}", "[xy].*", r"\!x", "# x",
    "/b/", "!b/", ".*", "!.dot", "/*.py", "b/x.py", "**/build/**", "a/*/x.py", "é", "caf?.txt", "caf??.txt", "!a/b",
    "/build/*", "!/build/keep.log", "*x*y*", r"x\ y.py", "{a,b}/x.py", "[!x].py", "a/", "",
]  # fmt: skip
PIECES = [
    "foo", "Foo", "foo_bar", " ", "x", "É", "é", "日本", "e\u0301", "²", "İ", "-", "9", "\t", "\u00a0", "\u200d", "\r",
]  # fmt: skip
RAW = [b"\xe9", b"\xff", b"\xc3", b"\0"]
PATTERNS = [
    "foo", r"\bfoo\b", r"\w+$", r"fo+$", "^foo", r"[a-z]+_", r"\s", r"\d", "é", "(?i)FOO", r"foo.", r"[^a-z]", r"\Bo",
    r"foo|É", r"(f)(o){2}", "", "^$", r"\W", r"\S+\s\S", r"\Afoo\z", "^.$", "(?i:É)x?", r"[\w-]+\b", r"[^\W\d]x",
    "-", ".", r"\<foo\>", r"[[:alpha:]]+9", r"[^[:space:]]$", "f.*?o", r"\x{e9}", "x(?i)FOO", r"\D\b",
]  # fmt: skip


def matches_nothing_at_all(pattern: str) -> bool:
    """Whether the pattern matches the empty text."""
    try:
        python = python_pattern(pattern, Dialect(ascii_only=False), literal=False, word=False, ignore_case=False)
    except RegexError:
        return False
    return re.match(python, "") is not None


line = st.lists(st.sampled_from(PIECES), max_size=5).map(lambda pieces: "".join(pieces).encode())
raw_line = st.lists(st.one_of(st.sampled_from(RAW), line), max_size=3).map(b"".join)
content = st.lists(
    st.tuples(st.one_of(line, line, raw_line), st.sampled_from([b"\n", b"\n", b"\r\n"])), max_size=6
).map(lambda lines: b"".join(text + end for text, end in lines))
cut = st.one_of(content, content.map(lambda data: data.removesuffix(b"\n")))
signed = content.map(lambda data: b"\xef\xbb\xbf" + data)
utf16 = st.lists(line, max_size=4).map(lambda lines: b"\n".join(lines).decode().encode("utf-16"))
path = st.builds("{}{}".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
ignore_file = st.lists(st.sampled_from(IGNORES), max_size=4).map(lambda lines: "\n".join(lines).encode())
ignore_path = st.sampled_from(["", "", "a/", "a/b/", "build/", "src/"]).map(lambda folder: f"{folder}.gitignore")
trees = st.builds(
    lambda files, ignores: {**files, **ignores},
    st.dictionaries(path, st.one_of(cut, cut, signed, utf16), min_size=1, max_size=9),
    st.dictionaries(ignore_path, ignore_file, max_size=3),
)
globs = st.lists(
    st.sampled_from(["*.py", "!*.log", "a/**", "**/b/*", "*.{py,txt}", "!build/", "/x.py", "build/", "café*"]),
    max_size=2,
)
queries = st.builds(
    SearchQuery,
    st.sampled_from(PATTERNS),
    literal=st.booleans(),
    word=st.booleans(),
    ignore_case=st.booleans(),
    under=st.sampled_from([(".",), (".",), ("a",), ("a/b", "."), ("build",), (".hid", "a"), ("src",)]),
    globs=globs.map(tuple),
    context=st.integers(0, 2),
    hidden=st.booleans(),
    per_file=st.integers(1, 3),
    limit=st.integers(1, 6),
)
relaxed = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@relaxed
@given(trees, st.lists(queries, min_size=1, max_size=3))
async def test_both_engines_find_the_same_in_any_tree(tree: dict[str, bytes], asked: list[SearchQuery]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        # a lone CR at the very end is a line end to ripgrep's `^$`, and only there
        write_tree(root, {name: data.rstrip(b"\r") for name, data in tree.items() if not _blocked(name, tree)})
        ours = EngineSearch(WorkspaceFiles(root), in_this_process)
        rg = ripgrep_search(root)
        for query in asked:
            if query.word and matches_nothing_at_all(query.pattern):
                continue  # there ripgrep's own count and its lines differ
            assert await outcome(ours, "grep", query) == await outcome(rg, "grep", query), query
            for under in query.under:
                mine = await outcome(ours, "list_files", under, query.globs, query.hidden)
                assert mine == await outcome(rg, "list_files", under, query.globs, query.hidden)


def _blocked(name: str, tree: dict[str, bytes]) -> bool:
    """Whether another path of the tree needs a folder where `name` is a file."""
    return any(other.startswith(f"{name}/") for other in tree)


ATOMS = [
    "a", "b", "_", "é", "É", " ", ".", r"\w", r"\W", r"\s", r"\S", r"\d", "^", "$", r"\b", r"\B", "[a-c]", "[^a]",
    r"[\w-]", r"[^\s_]", r"\.", "-", "]", "}", r"\x61", r"\u{e9}", "(?i)", r"\A", r"\z", r"[\Wé]", "[[:word:]]", "[]a]",
    r"\-", "[a-]",
]  # fmt: skip
regexes = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.builds("({}{})".format, st.sampled_from(["", "?:", "?P<n>", "?i:", "?-i:"]), inner),
        st.builds("{}{}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{1,}", "*?", "+?"])),
    ),
    max_leaves=6,
)
TEXT = "a\nab\nA b\n é\nÉa_\n-a.\n__\n\nb é9\naé\n]}\n² ½\ne\u0301x\n  \r\nab\r\n\r\naa".encode() + b"\n\xe9a\n\xff \n"


@settings(relaxed, max_examples=80)
@given(regexes, st.booleans(), st.booleans())
@example("(a", False, False)
@example("a{,2}", False, False)
@example("(?=a)", False, False)
@example(r"a\1", False, False)
@example("[b-a]", False, False)
@example(r"[\d-a]", False, False)
@example("*a", False, False)
@example("a{2,1}", False, False)
@example("a)", False, False)
@example("[a", False, False)
@example(r"\e", False, False)
@example("a\nb", False, False)
@example(r"a\n", False, False)
@example("(?P<1>a)", False, False)
@example(r"\b{start}a", False, False)
@example(r"a\b{end-half}", False, False)
@example("(?q)a", False, False)
@example("a\\", False, False)
async def test_both_engines_understand_a_pattern_alike(pattern: str, word: bool, ignore_case: bool) -> None:
    assume(not (word and matches_nothing_at_all(pattern)))  # there ripgrep's own count and its lines differ
    with tempfile.TemporaryDirectory() as folder:
        root = write_tree(Path(folder), {"t.txt": TEXT, "ascii.txt": TEXT[:5]})
        query = SearchQuery(pattern, word=word, ignore_case=ignore_case)
        ours = await outcome(EngineSearch(WorkspaceFiles(root), in_this_process), "grep", query)
        assert ours == await outcome(ripgrep_search(root), "grep", query)
