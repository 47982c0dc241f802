"""The scout on a large tree, built out of the installed packages, against `rg -w` on the same tree in the same run."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.figures import Row, figure
from bench.installed import Installed
from bench.process import run

NAMES = ("ClientTimeout", "urlparse", "BaseModel")
"""Names with few, some hundred and several thousand lines in each copy of the packages."""
_SKIPPED = (".pyc", ".so", ".pyd", ".dll", ".pth", ".exe")
_MARKED = (".py", ".pyi", ".md", ".txt")


def build(folder: Path, files: int) -> Path:
    """A tree of `files` files below `folder`: the installed packages, again and again.

    A line at the end of every source tells the copies apart, so that no cache by content can take one for another.
    """
    packages = Path(sysconfig.get_path("purelib"))
    sources = sorted(path for path in packages.rglob("*") if path.is_file() and not path.name.endswith(_SKIPPED))
    places = ((copy, source) for copy in itertools.count() for source in sources)
    for copy, source in itertools.islice(places, files):
        target = folder / f"copy-{copy}" / source.relative_to(packages)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        if target.suffix in _MARKED:
            with target.open("a") as file:
                file.write(f"\n# copy {copy}\n")
    return folder


def tree(installed: Installed, folder: Path, runs: int, files: int) -> list[Row]:
    """The rows of each of `NAMES` on a tree of `files` files."""
    workspace = build(folder / "tree", files)
    rows = (row for name in NAMES for row in _rows(installed, folder, workspace, name, runs))
    return [replace(row, what=f"{files:,} files, {row.what}") for row in rows]


def _rows(installed: Installed, folder: Path, workspace: Path, name: str, runs: int) -> list[Row]:
    search = ("rg", "--word-regexp", "--no-config", "--line-number", name, workspace)
    found = run(search, installed.env).output  # the first run brings the tree into the file cache
    rg = figure([run(search, installed.env).wall for _ in range(runs)], "s")
    command = (installed.orch, "ask", "-q", "-C", workspace, f"where is {name} used")
    first, again, changed = list[float](), list[float](), list[float]()
    for number in range(runs):
        env = {**installed.env, "HOME": str(folder / f"home-{name}-{number}")}
        first.append(run(command, env).wall)
        again.append(run(command, env).wall)
        _change(found, name)
        changed.append(run(command, env).wall)
    memory = _peak_of_tree(command, {**installed.env, "HOME": str(folder / f"home-{name}")})
    what = f"`{name}`, on {len(found.splitlines()):,} lines"
    warm = f"2 × rg + 0.3 = {2 * rg.median + 0.3:.2f} s"
    return [
        Row(f"{what}: the first question", figure(first, "s"), rg, aim=f"4 × rg + 1 = {4 * rg.median + 1:.2f} s"),
        Row(f"{what}: the second", figure(again, "s"), rg, aim=warm),
        Row(f"{what}: after one file changed", figure(changed, "s"), rg, aim=warm),
        Row(f"{what}: memory of all its processes, first question", figure([memory], "MB"), aim="300 MB"),
    ]


def _change(found: str, name: str) -> None:
    """Add a line with `name` to the first file that has one."""
    path = found.split("\n", 1)[0].split(":", 1)[0]
    with Path(path).open("a") as file:
        file.write(f"# {name}\n")


def _peak_of_tree(command: Sequence[str | Path], env: Mapping[str, str]) -> float:
    """Run `command`; the most memory that it and its descendants held together, in MB, shared pages counted once."""
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_proportional_size, _family(process.pid))))
        time.sleep(0.02)
    return peak / 1e6


def _family(pid: int) -> list[int]:
    """The process and all that it has started, as far as they are still there."""
    try:
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [pid, *(member for child in " ".join(lists).split() for member in _family(int(child)))]


def _proportional_size(pid: int) -> int:
    """Bytes; 0 for a process that has gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
