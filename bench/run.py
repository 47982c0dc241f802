"""Measures orch and writes bench/README.md.

    python bench/run.py [NAME ...] [--runs N] [--files N]

Without names everything is measured but `tree`, which takes minutes; figures of measures that are not named stay as
they were. Run it on an idle machine: other work shows up in the figures.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import Row, read_results, table, write_results
from bench.installed import install
from bench.measures import MEASURES, Lab
from bench.tree import tree

TREE = "tree"
HERE = Path(__file__).resolve().parent
README = """\
# Benchmarks

    python bench/run.py

measures what is installed: a wheel of this checkout in a fresh virtual environment, bytecode compiled, run as `orch`
over the native OpenAI wire, streaming, against a scripted model server in a process of its own on loopback. Figures
are medians [lowest–highest]. The floor is `bench/floor.py`, the same conversations over bare aiohttp with nothing else,
taken in the same run. The figures of the peers were taken side by side on one 2-core machine in November 2026, with the
same kind of server; compare orders of magnitude, not digits. `python bench/run.py NAME…` measures only some of:
{names}, and `tree`, which is only measured when it is named.

{facts}

{table}

`python bench/run.py tree` asks the scout "where is NAME used" on a large tree: the installed packages, copied until
there are so many files, every copy of a source told apart by a line of its own. It is compared with `rg --word-regexp`
for the name on the same tree in the same run; the tree is in the file cache.

{tree}

How it is measured: the time to the first request and the gap between turns are taken at the server, from the clock
that all processes of a machine share; memory is the largest resident set that the kernel reports at the end
(1 MB is 10^6 bytes); a turn of the long conversation reads {lines} lines of a file, so its history grows to what 200
small tool results are.
"""


def main(arguments: Sequence[str]) -> None:
    """Measure what `arguments` name, print it and write it down."""
    options = _options(arguments)
    results = read_results(HERE / "results.json")
    with tempfile.TemporaryDirectory(prefix="orch-bench-") as folder:
        lab = Lab(install(Path(folder)), Path(folder), options.runs)
        for name in options.names or MEASURES:
            print(f"{name} …", file=sys.stderr)
            if name == TREE:
                results[name] = tree(lab.installed, lab.folder, min(options.runs, 3), options.files)
            else:
                results[name] = MEASURES[name](lab)
            print(table(results[name], floor="floor"))
    write_results(HERE / "results.json", results)
    (HERE / "README.md").write_text(_readme(results))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("bench/run.py", description="Measures orch and writes bench/README.md.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=[*MEASURES, TREE, []], help=", ".join((*MEASURES, TREE))
    )
    parser.add_argument("--runs", type=int, default=7, help="runs for each figure (default 7)")
    parser.add_argument("--files", type=int, default=100_000, help="files of the tree (default 100,000)")
    return parser.parse_args(arguments)


def _readme(results: Mapping[str, Sequence[Row]]) -> str:
    from bench.scripts import LINES_READ

    rows = [row for name in MEASURES for row in results.get(name, ())]
    names = ", ".join(f"`{name}`" for name in MEASURES)
    return README.format(
        names=names,
        facts=_facts(),
        table=table(rows, floor="bare aiohttp"),
        tree=table(results.get(TREE, ()), floor="`rg -w`"),
        lines=LINES_READ,
    )


def _facts() -> str:
    """The machine, without saying which one it is."""
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[2]
    return (
        f"{time.strftime('%B %Y')}: {cores} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, load average of the last 15 minutes {load:.1f}."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
