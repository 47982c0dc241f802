"""The process that only answers questions: the kernel keeps it from changing files, and its work goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.landlock import landlock_abi
from orchestrator.sandbox import Policy, confine_process

PROGRAM = """
import asyncio, sqlite3, sys, tempfile
from pathlib import Path
from orchestrator.sandbox import confine_to_reading

state, cache, outside = map(Path, sys.argv[1:])
print(confine_to_reading((state, cache)))

import diskcache

def refused(act):
    try:
        act()
    except PermissionError:
        return True
    return False

print(refused(lambda: (outside / "new").write_text("x")), refused(lambda: (outside / "old").unlink()),
      refused((outside / "old").open("r+").write if False else lambda: (outside / "old").open("r+")),
      refused(lambda: (outside / "old").rename(state / "taken")))
with sqlite3.connect(state / "a.db") as database:
    database.execute("pragma journal_mode=wal")
    database.execute("create table t (x)")
with diskcache.Cache(str(cache / "kept")) as kept:
    kept["a"] = 1
    print(kept["a"])
with tempfile.NamedTemporaryFile() as temporary:
    print(str(temporary.name).startswith(str(cache)))

async def work():
    rg = await asyncio.create_subprocess_exec(sys.executable, "-c", f"print(open('{outside}/old').read())", stdout=-1)
    print((await rg.communicate())[0].decode().strip())
    touch = await asyncio.create_subprocess_exec("touch", str(outside / "child"), stderr=-3)
    print(await touch.wait() != 0)
    print(await asyncio.to_thread(lambda: refused(lambda: (outside / "thread").write_text("x"))))
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    print(await reader.read())
    writer.close()
    server.close()

asyncio.run(work())
"""


def test_work_goes_on_and_nothing_outside_changes(tmp_path: Path) -> None:
    if landlock_abi() < 3:
        pytest.skip("no Landlock here, or an early one")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old").write_text("old")
    folders = [str(tmp_path / name) for name in ("state", "cache", "outside")]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *folders],
        env={**os.environ, "PYTHONPATH": str(root), "TMPDIR": str(outside)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split("\n")[:-1] == ["True", "True True True True", "1", "True", "old", "True", "True", "b''"], (
        done
    )
    assert [(each.name, each.read_text()) for each in outside.iterdir()] == [("old", "old")]


def test_off_confines_nothing(tmp_path: Path) -> None:
    assert confine_process(Policy("off", True, tmp_path, tmp_path)) is False
    (tmp_path / "still").write_text("writable")
