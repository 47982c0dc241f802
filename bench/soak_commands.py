"""Judges commands made at random, and runs for real the ones that are said to only read.

    python bench/soak_commands.py [--count N] [--seed S]

Four checks: no composition with a writing part is `read-only`; what is `read-only` changes nothing in a scratch
repository when it is run (confined, the whole tree compared); every program that bash really starts was found in the
text; arbitrary text never raises and takes no time.
Ends with 1 when a check fails, and prints the commands.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from orchestrator.command_rules import judge_command  # noqa: E402  # found through the line above
from orchestrator.sandbox import open_sandbox  # noqa: E402
from orchestrator.shell_syntax import parse_command  # noqa: E402
from tests.support.command_grammar import composed, mutated, soup  # noqa: E402
from tests.support.command_runs import Scratch, is_call_of, programs_run  # noqa: E402

_SLOW_S = 1.0
_RUNNERS = frozenset(("command", "exec", "builtin", "eval", "time", "source", ".", "trap"))
"""They run their words as a command, which is no command of the text itself."""
_LETTERS = "\"'\\`$(){}[]<>|&;#!*?~=% \n\t\r\0a1-é\u00a0\u200b"


def check_compositions(count: int, random: Random, scratch: Scratch) -> tuple[str, list[str]]:
    """Compositions with a writing part that are called read-only."""
    levels: Counter[str] = Counter()
    wrong = []
    for _ in range(count):
        made = composed(random)
        level = judge_command(made.text, scratch.surroundings).level
        levels[f"{level}{' (with a writing part)' if made.writes else ''}"] += 1
        if made.writes and level == "read-only":
            wrong.append(made.text)
    return f"{count} compositions: {dict(sorted(levels.items()))}", wrong


def check_runs(count: int, random: Random, folder: Path, sandbox_name: str) -> tuple[str, list[str]]:
    """Read-only commands that changed something when they were run."""
    sandbox = open_sandbox(True, os.environ)
    wrong, ran, made = [], 0, 0
    scratch = Scratch(folder / "0", sandbox)
    while ran < count:
        made += 1
        text = random.choice((mutated, soup, lambda r: composed(r).text))(random)
        if judge_command(text, scratch.surroundings).level != "read-only":
            continue
        ran += 1
        if changes := scratch.changed(text):
            wrong.append(f"{text!r} changed {changes[:3]}")
            scratch = Scratch(folder / str(ran), sandbox)
    return f"{made} commands made, the {ran} read-only ones run in the sandbox `{sandbox_name}`", wrong


def check_reading(count: int, random: Random, folder: Path) -> tuple[str, list[str]]:
    """Programs that bash starts and that were not found in the text."""
    wrong, calls, read = [], 0, 0
    for number in range(count):
        text = random.choice((mutated, soup, lambda r: composed(r).text))(random)
        parsed = parse_command(text)
        names = [each.words[0].value for each in parsed.commands if each.words]
        if parsed.unknown or any(name is None or name in _RUNNERS for name in names):
            continue
        read += 1
        for argv in programs_run(text, folder / str(number)):
            calls += 1
            if not any(is_call_of(argv, each.words) for each in parsed.commands if each.words):
                wrong.append(f"{text!r} runs {argv}")
    return f"{count} commands made, {read} of them read with certainty; bash started {calls} programs for them", wrong


def check_text(count: int, random: Random, scratch: Scratch) -> tuple[str, list[str]]:
    """Text that takes long to judge; an exception ends the whole run."""
    slowest, wrong = 0.0, []
    for number in range(count):
        text = _arbitrary(number, random)
        start = time.perf_counter()
        judge_command(text, scratch.surroundings)
        took = time.perf_counter() - start
        slowest = max(slowest, took)
        if took > _SLOW_S:
            wrong.append(f"{took:.2f} s for {text[:60]!r}… ({len(text)} characters)")
    return f"{count} arbitrary texts, the slowest took {slowest * 1000:.0f} ms", wrong


def _arbitrary(number: int, random: Random) -> str:
    if number % 50 == 0:
        part = random.choice(
            ("(", "$(", "((", "`", "{ ", "${a:-", '"$(', "if true; then ", "a;", "a|", "[[ ", "<<E\n", "\\")
        )
        return (part * 65536)[: random.randint(1, 70000)]
    if number % 2:
        return mutated(random)
    return "".join(random.choice(_LETTERS) for _ in range(random.randint(0, 60)))


def main() -> int:
    """Run all checks; gives the exit code."""
    options = argparse.ArgumentParser(description="Judge and run shell commands made at random.")
    options.add_argument("--count", type=int, default=2000, help="how many commands are run for real (default 2000)")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    random = Random(given.seed)
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sandbox = open_sandbox(True, os.environ)
        scratch = Scratch(folder / "still", sandbox)
        for told, wrong in (
            check_compositions(given.count * 5, random, scratch),
            check_runs(given.count, random, folder, sandbox.name),
            check_reading(given.count * 3, random, folder / "read"),
            check_text(given.count * 5, random, scratch),
        ):
            print(told, *(f"  WRONG: {each}" for each in wrong), sep="\n")
            failures += len(wrong)
    print("all as it should be" if not failures else f"{failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
