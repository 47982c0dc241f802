from __future__ import annotations

import asyncio
import os
import pickle
import random
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.code.facts_cache import WORTH_KEEPING, FactsCache
from orchestrator.code.index import CodeIndex
from orchestrator.search import find_ripgrep, open_search
from orchestrator.tool import TextFile
from orchestrator.workspace import WorkspaceFiles
from tests.support.command import orch, result_of

MANY = WORTH_KEEPING + 2
LATER = 10**12
"""Nanoseconds by which the clock of a cache is ahead, so that files made just now count as settled."""


class CountingFiles(WorkspaceFiles):
    """The files of a workspace, and the paths of those that were read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read: list[str] = []

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], TextFile]]:
        with super().reading() as read:

            def counted(path: str) -> TextFile:
                self.read.append(path)
                return read(path)

            yield counted


class Asked:
    """A workspace with a cache, asked as if in a new process each time."""

    def __init__(self, root: Path, folder: Path, ahead: int = LATER) -> None:
        self.root, self.folder, self.ahead = root, folder, ahead
        self.read: Sequence[str] = ()

    async def places(self, name: str = "needle", *, cached: bool = True) -> list[tuple[str, int, str, str]]:
        files = CountingFiles(self.root)
        index = CodeIndex(files, open_search(files, ripgrep=find_ripgrep()), self._cache() if cached else None)
        found = await index.occurrences(name)
        self.read = files.read
        return [(row.path, row.line, row.kind, row.text) for row in found.rows]

    async def symbols(self, *, cached: bool = True) -> list[tuple[str, int, str]]:
        files = CountingFiles(self.root)
        index = CodeIndex(files, open_search(files, ripgrep=find_ripgrep()), self._cache() if cached else None)
        found = await index.symbols()
        self.read = files.read
        return [(row.path, row.line, row.qualified) for row in found.rows]

    def _cache(self) -> FactsCache:
        return FactsCache(self.folder, now=lambda: _now() + self.ahead)


def _now() -> int:
    return time.time_ns()


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    root = tmp_path / "repo"
    for at in range(MANY):
        path = root / f"part{at % 3}" / f"m{at}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def f{at}():\n    return needle\n")
    return Asked(root, tmp_path / "cache")


async def test_the_second_question_reads_no_file(asked: Asked) -> None:
    first = await asked.places()
    assert len(first) == MANY
    assert len(asked.read) == MANY
    assert await asked.places() == first
    assert asked.read == []


def test_the_command_keeps_facts_unless_told_not_to(asked: Asked, own_home: Path) -> None:
    def ask(*flags: str) -> list[object]:
        run = orch("ask", *flags, "--model", "scout", "--output", "json", "where is needle used", folder=asked.root)
        found = result_of(run)["citations"]
        assert isinstance(found, list)
        return found

    folder = own_home / "cache" / "code"
    without = ask("--no-cache")
    assert len(without) == MANY
    assert not folder.exists()
    assert ask() == without
    assert (folder / "cache.db").exists()
    assert ask() == without


async def test_symbols_are_kept_apart_from_places(asked: Asked) -> None:
    await asked.places()
    first = await asked.symbols()
    assert len(first) == MANY
    assert len(asked.read) == MANY
    assert await asked.symbols() == first
    assert asked.read == []


async def test_only_a_changed_file_is_read(asked: Asked) -> None:
    await asked.places()
    (asked.root / "part0" / "m0.py").write_text("needle()\n")
    found = await asked.places()
    assert asked.read.count("part0/m0.py") == len(asked.read) > 0
    assert found[0] == ("part0/m0.py", 1, "call", "needle()")
    await asked.places()
    assert asked.read == []


async def test_a_touched_file_is_read_but_its_facts_are_kept(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await asked.places()
    for path in asked.root.rglob("*.py"):
        os.utime(path, ns=(1, 1))

    def parse(*arguments: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr("orchestrator.code.occurrences.parse", parse)
    assert await asked.places() == first
    assert len(asked.read) == MANY


async def test_an_edit_that_keeps_size_and_time_is_noticed(asked: Asked) -> None:
    await asked.places()
    path = asked.root / "part0" / "m0.py"
    before = path.stat()
    path.write_text(path.read_text().replace("return needle", "needle(12345)"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert ("part0/m0.py", 2, "call", "    needle(12345)") in await asked.places()


async def test_a_file_changed_within_the_tick_of_its_reading_is_read_again(asked: Asked) -> None:
    """Two edits can leave the same times behind when they are close together."""
    asked.ahead = 0
    await asked.places()
    await asked.places()
    assert len(asked.read) == MANY


async def test_a_file_that_changes_while_it_is_read_is_not_kept(asked: Asked) -> None:
    class Racing(WorkspaceFiles):
        @contextmanager
        def reading(self) -> Iterator[Callable[[str], TextFile]]:
            with super().reading() as read:

                def read_and_change(path: str) -> TextFile:
                    file = read(path)
                    (asked.root / path).write_text("needle = 1\n")
                    return file

                yield read_and_change

    files = Racing(asked.root)
    cache = FactsCache(asked.folder, now=lambda: _now() + LATER)
    racing = CodeIndex(files, open_search(files, ripgrep=find_ripgrep()), cache)
    assert all(row.kind == "reference" for row in (await racing.occurrences("needle")).rows)
    assert all(kind == "definition" for _, _, kind, _ in await asked.places())


async def test_few_files_do_not_open_the_cache(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("needle\n")
    assert await Asked(root, tmp_path / "cache").places()
    assert not (tmp_path / "cache").exists()


async def test_a_file_that_may_no_longer_be_read_is_not_answered_from_the_cache(asked: Asked, tmp_path: Path) -> None:
    await asked.places()
    outside = tmp_path / "outside.py"
    outside.write_text("needle\n")
    inside = asked.root / "part0" / "m0.py"
    inside.unlink()
    inside.symlink_to(outside)
    assert "part0/m0.py" not in {path for path, *_ in await asked.places()}


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_an_answer_with_the_cache_is_the_answer_without_it(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    chance = random.Random(seed)
    root = tmp_path_factory.mktemp("repo")
    asked = Asked(root, tmp_path_factory.mktemp("cache"))
    for at in range(MANY + 10):
        (root / f"m{at}.py").write_text(_content(chance))

    async def check() -> None:
        for _ in range(3):
            assert await asked.places() == await asked.places(cached=False)
            assert await asked.symbols() == await asked.symbols(cached=False)
            for _ in range(8):
                _change(root, chance)

    asyncio.run(check())


def _content(chance: random.Random) -> str:
    lines = ("needle()", "import needle", "def needle(): pass", "# needle", "x = 'needle'", "y = 1", "class A: pass")
    return "\n".join(chance.choices(lines, k=chance.randrange(1, 6))) + "\n"


def _change(root: Path, chance: random.Random) -> None:
    """One edit, as a person, git or a tool that restores times would make it."""
    path = chance.choice(sorted(root.glob("*.*")))
    status = path.stat()
    match chance.randrange(6):
        case 0:
            path.write_text(_content(chance))
        case 1:
            path.rename(root / f"n{chance.randrange(99)}.{chance.choice(('py', 'md', 'js'))}")
        case 2:
            path.unlink()
        case 3:
            path.write_text(path.read_text() + "needle\n")
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        case 4:
            source, target = chance.choice(sorted(root.glob("*.*"))), root / f"c{chance.randrange(99)}.py"
            if source != target:
                shutil.copy2(source, target)
        case _:
            os.utime(path, ns=(5, 5))


# --- a folder that cannot be used ------------------------------------------------------------------------------------


def _rows(folder: Path) -> Iterator[tuple[str, int]]:
    with sqlite3.connect(folder / "cache.db") as connection:
        yield from connection.execute("SELECT key, length(value) FROM Cache").fetchall()
    connection.close()


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (os.environ["BOMB"],)


@pytest.mark.parametrize("in_file", [False, True])
async def test_a_pickled_value_is_never_loaded(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_file: bool
) -> None:
    """B175: whoever can write to the cache folder must not be able to run code."""
    first = await asked.places()
    exploded = tmp_path / "exploded"
    monkeypatch.setenv("BOMB", str(exploded))
    data = pickle.dumps(Bomb())
    (asked.folder / "bomb.val").write_bytes(data)
    value, name = (None, "bomb.val") if in_file else (data, None)
    connection = sqlite3.connect(asked.folder / "cache.db")
    changed = connection.execute("UPDATE Cache SET mode = 4, value = ?, filename = ?", (value, name)).rowcount
    connection.commit()
    connection.close()
    assert changed
    assert await asked.places() == first
    assert len(asked.read) == MANY
    assert not exploded.exists()
    await asked.places()
    assert asked.read == []


async def test_no_file_that_an_entry_names_is_deleted(asked: Asked, tmp_path: Path) -> None:
    """B175: diskcache deletes the file of an entry that it replaces, wherever that is."""
    await asked.places()
    precious = tmp_path / "precious"
    precious.write_text("keep")
    connection = sqlite3.connect(asked.folder / "cache.db")
    connection.execute("UPDATE Cache SET mode = 2, filename = ?", (str(precious),))
    connection.commit()
    connection.close()
    await asked.places()
    assert precious.read_text() == "keep"


async def test_a_damaged_cache_is_started_anew(asked: Asked) -> None:
    first = await asked.places()
    for damage in (b"no database at all" * 500, b"SQLite format 3\0" + b"\1" * 9000):
        (asked.folder / "cache.db").write_bytes(damage)
        assert await asked.places() == first
        await asked.places()
        await asked.places()
        assert asked.read == []


async def test_rubbish_in_an_entry_counts_as_absent(asked: Asked) -> None:
    first = await asked.places()
    for value in (b"rubbish", zlib.compress(b"[1]"), zlib.compress(b'{"part0/m0.py": 3}'), zlib.compress(b"[" * 10**5)):
        connection = sqlite3.connect(asked.folder / "cache.db")
        connection.execute("UPDATE Cache SET value = ?", (value,))
        connection.commit()
        connection.close()
        assert await asked.places() == first


@pytest.mark.parametrize("setting", ["disk_surprise", "sqlite_user_version; DROP", "_disk"])
async def test_settings_that_are_not_ours_are_not_obeyed(asked: Asked, setting: str) -> None:
    first = await asked.places()
    connection = sqlite3.connect(asked.folder / "cache.db")
    connection.execute("INSERT INTO Settings VALUES (?, 1)", (setting,))
    connection.commit()
    connection.close()
    assert await asked.places() == first
    await asked.places()
    await asked.places()
    assert asked.read == []


async def test_a_locked_cache_is_done_without(asked: Asked) -> None:
    first = await asked.places()
    connection = sqlite3.connect(asked.folder / "cache.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        assert await asked.places() == first
        assert len(asked.read) == MANY
    finally:
        connection.close()


async def test_a_cache_folder_that_cannot_be_made_is_done_without(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file stands where the folder should")
    assert len(await asked.places()) == MANY


async def test_old_entries_go_when_the_cache_is_full(asked: Asked) -> None:
    for path in asked.root.rglob("*.py"):
        path.write_text(" ".join(f"name{at}" for at in range(60)) + "\n" + os.urandom(4000).hex())
    files = WorkspaceFiles(asked.root)
    cache = FactsCache(asked.folder, size_limit=100_000, now=lambda: _now() + LATER)
    index = CodeIndex(files, open_search(files, ripgrep=find_ripgrep()), cache)
    for at in range(60):
        await index.occurrences(f"name{at}")
    assert len(list(_rows(asked.folder))) < 60
    assert (asked.folder / "cache.db").stat().st_size < 400_000


async def test_the_cache_is_private(asked: Asked) -> None:
    await asked.places()
    assert (asked.folder.stat().st_mode & 0o077) == 0
