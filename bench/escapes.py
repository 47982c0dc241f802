"""Makes every attempt to escape and writes the table docs/escapes.md: what each came to, and what stopped it.

    python bench/escapes.py [NAME …] > docs/escapes.md

Each attempt is made free, under the whole sandbox, and under each of its layers alone. With names, only these are made.
"""

from __future__ import annotations

import os
import platform
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from orchestrator.landlock import landlock_abi  # noqa: E402  # found through the line above
from orchestrator.landlock_sandbox import LAYERS, LandlockSandbox, Layer  # noqa: E402
from orchestrator.sandbox import Sandbox, open_sandbox  # noqa: E402
from tests.support.attempts import Attempt, attempt, impossible  # noqa: E402
from tests.support.escapes import ESCAPES, Escape  # noqa: E402

SAID_AT_MOST = 90
ORDER: tuple[Layer, ...] = ("landlock", "filter", "privileges")
WORDS = {
    "landlock": "Landlock",
    "filter": "system calls",
    "privileges": "capabilities",
    "start": "start",
    "all": "together",
}
HEAD = """\
# Attempts to escape

Written by `python bench/escapes.py`, from a real run: {system}, as {user}.

How to read it. Each row is a command as an agent could run it, first outside the sandbox, where it works, and then in
it. Its target is a scratch folder, process or socket made for it; what counts is whether that target changed, was
reached or was read, not what the command says. The same attempts are tests (`tests/safety/test_escapes.py`), made anew
in every run of the suite.

- **level**: what the command may do. `read-only`: write its private temporary folder and nothing else; `workspace`: the
  workspace too. The network is off unless the row says otherwise.
- **stopped by**: each layer of the Landlock sandbox was tried alone, so two names are two independent reasons:
  *Landlock* (files, signals, tracing, TCP), *system calls* (the filter), *capabilities* (what the superuser loses;
  other users have none), *start* (no new privileges, own session, closed descriptors), *together* (only all at once).
- **what happened**: the last line that the command printed, and its exit code. A command may end with 0 and have done
  nothing: the signal was never sent, the link was made but what it leads to is unchanged.
- **bubblewrap**: the sandbox used where Landlock is missing. *own* means that the command gets one of its own instead.
- **classifier**: what `command_rules` says of the command before anything runs; Python programs are always `unknown`.
  `unknown` and `writes` do not pass where reading is all that is allowed, whatever the sandbox does.

| # | attempt | level | stopped by | what happened | bubblewrap | classifier |
|--:|---|---|---|---|---|---|
"""
GAPS = """
## What gets through

With Landlock, at the level `workspace`:

- anything in the workspace can be written, also `.git/hooks`, `.git/config` and `.orch` (bubblewrap and Seatbelt guard
  them): Landlock cannot take a folder out of one that may be written. Permissions ask for commands that name them;
- permissions and times of the user's own files outside can be changed (`chmod`, `touch -d`); contents cannot;
- files that other programs of the user keep in `/dev/shm` can be written;
- a command can use up memory, processor time and disk space.

At both levels: the names in a folder of secrets can be listed (not read), and the command lines of other processes are
seen in `/proc` (not their memory, environment or files). With bubblewrap neither is possible.

With the network allowed, a command reaches all that the machine reaches: also services on loopback, and the addresses
at which clouds hand out credentials.

For the superuser, the keys of *other* users' homes are files like any other: run orch as the user whose work it does.

## What does not work inside

UNIX sockets (docker, ssh-agent, gpg-agent, tmux, X11), pseudo-terminals (`script`), namespaces (containers), System V
shared memory, `sudo` and the like, raw sockets (`ping`), io_uring, extended attributes, set-user-ID bits. Connected
pairs of sockets, pipes, named pipes, job control, signals to a command's own processes, locks and queues of Python's
`multiprocessing` (at the level `workspace`), `git`, compilers, `venv`, `pip` and `npm` (with the network allowed) work;
`tests/unit/test_sandbox_work.py` runs them. TMPDIR and the caches of npm, Go and uv lead to the private folder.
"""


def main(names: list[str]) -> None:
    chosen = [escape for escape in ESCAPES if not names or escape.name in names]
    system = f"Linux {platform.release().split('-')[0]} on {platform.machine()}, Landlock ABI {landlock_abi()}"
    print(HEAD.format(system=system, user="the superuser" if os.geteuid() == 0 else "a usual user"), end="")
    skipped = []
    count = 0
    for escape in chosen:
        row = cells(escape)
        if isinstance(row, str):
            skipped.append(f"{escape.name} ({row})")
            continue
        count += 1
        print(f"| {count} | {escape.tries} (`{escape.name}`) | {level(escape)} | {' | '.join(row)} |", flush=True)
    print(
        f"\n{count} attempts, {count} stopped."
        + (f" Not possible on this machine: {', '.join(skipped)}." if skipped else "")
    )
    print(GAPS, end="")


def level(escape: Escape) -> str:
    return escape.level + (", network on" if escape.network else "")


def cells(escape: Escape) -> tuple[str, ...] | str:
    """What stopped it, what happened, bubblewrap, the classifier; or why it cannot be tried here."""
    whole = LandlockSandbox(Path.home(), os.environ)
    if why := impossible(escape):
        return why
    if not attempt(escape, whole, confined=False).harm:
        return "not offered by this kernel"
    made = attempt(escape, whole)
    if made.harm:
        sys.exit(f"{escape.name} got through: {made.harm}")
    return ", ".join(stopping(escape)), happened(made), in_bubblewrap(escape), classified(escape)


def happened(made: Attempt) -> str:
    """The last line that was printed, without the name of the scratch folder, and the exit code."""
    lines = [line for line in made.output.splitlines() if line.strip()]
    said = re.sub(r"[^\s']*/orch-escape-[^/]+/", "", lines[-1]).strip() if lines else ""
    said = said.replace("|", "\\|").replace("`", "'")
    said = said if len(said) <= SAID_AT_MOST else said[: SAID_AT_MOST - 1] + "…"
    ended = f"exit {made.exit_code}" if made.exit_code >= 0 else f"ended by {signal.Signals(-made.exit_code).name}"
    return f"`{said}`, {ended}" if said else ended


def stopping(escape: Escape) -> Iterator[str]:
    """The layers that stop it, each alone."""
    if not attempt(escape, alone()).harm:
        yield WORDS["start"]
        return
    enough = [WORDS[layer] for layer in ORDER if not attempt(escape, alone(layer)).harm]
    yield from enough or [WORDS["all"]]


def alone(*layers: Layer) -> Sandbox:
    assert LAYERS.issuperset(layers)
    return LandlockSandbox(Path.home(), os.environ, layers=layers)


def in_bubblewrap(escape: Escape) -> str:
    sandbox = open_sandbox(True, os.environ, prefer="bubblewrap")
    if sandbox.name != "bubblewrap":
        return "not installed"
    return "own" if attempt(escape, sandbox).harm else "stopped"


def classified(escape: Escape) -> str:
    if escape.is_python:
        return "unknown"
    from orchestrator.command_rules import Surroundings, judge_command

    here, home = Path("/work-tree"), Path("/home/user")
    judged = judge_command(escape.program, Surroundings(workspace=here, cwd=here, home=home, env=dict(os.environ)))
    return "forbidden" if judged.forbidden else judged.level


if __name__ == "__main__":
    main(sys.argv[1:])
