"""What is measured, each as a function from the laboratory to the rows of its table."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench import scripts
from bench.figures import Row, figure
from bench.installed import ROOT, Installed
from bench.process import Ran, run
from orchestrator.command_rules import Surroundings, judge_command
from orchestrator.sandbox import Level, NoSandbox, Policy, Sandbox, open_sandbox, secret_places
from tests.support.model_server import ServerProcess

QUESTION = "What is in the file?"
KEY = "sk-test-0123456789abcdef"
TURNS = 200
CHILDREN = 64
DELAY = 0.2
IDEAL = DELAY * (scripts.TURNS_OF_A_CHILD + 3)
"""Seconds: the parent's two responses, and the child's turns and its report between them."""


@dataclass(frozen=True, slots=True)
class Lab:
    """`runs` is how often each figure is taken, `folder` a scratch folder."""

    installed: Installed
    folder: Path
    runs: int

    def ask(self, url: str, workspace: Path, *flags: str) -> Ran:
        """One `orch ask` of the scripted model at `url`."""
        env = {**self.installed.env, "OPENAI_API_KEY": KEY, "ORCH_MAX_PARALLEL": str(CHILDREN)}
        given = ("--model", "openai/scripted", "--base-url", f"{url}/v1", *flags)
        return run((self.installed.orch, "ask", "-q", "-C", workspace, *given, QUESTION), env)

    def floor(self, url: str, workspace: Path) -> Ran:
        """The same conversation by bare aiohttp."""
        command = (self.installed.python, ROOT / "bench" / "floor.py", f"{url}/v1", workspace, QUESTION)
        return run(command, self.installed.env)

    def start(self, box: Sandbox, level: Level, env: Mapping[str, str]) -> float:
        """Milliseconds that `true` takes from the call that starts it to its end."""
        policy = Policy(level, False, self.folder, self.folder, unreadable=secret_places(self.installed.home, env))
        nowhere = subprocess.DEVNULL
        began = time.perf_counter()
        box.popen(["true"], policy, cwd=self.folder, env=env, stdin=nowhere, stdout=nowhere, stderr=nowhere).wait()
        return (time.perf_counter() - began) * 1000

    def new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))


Conversation = tuple[Ran, Sequence[Mapping[str, Any]]]
"""A run, and the requests that the server saw of it."""


def version(lab: Lab) -> list[Row]:
    """`orch --version` against an empty Python program."""
    commands = ((lab.installed.orch, "--version"), (lab.installed.python, "-c", "pass"))
    orch, bare = ([run(command, lab.installed.env).wall for _ in range(lab.runs * 2)] for command in commands)
    what = "`orch --version` (floor: `python -c pass`)"
    return [_row(what, "s", orch, bare, peers="Claude Code 0.01, Codex 0.05 s", aim="0.12 s")]


def one_shot(lab: Lab) -> list[Row]:
    """From the start of the process to its first request, and its memory to the end."""
    workspace = scripts.numbered_file(lab.folder / "one-shot")
    with ServerProcess(scripts.one_reply()) as server:
        lab.ask(server.url, workspace)  # fills the cache of model prices, as in every run but the first
        pairs = [(lab.ask(server.url, workspace), lab.floor(server.url, workspace)) for _ in range(lab.runs)]
        arrivals = [request["received"] for request in server.state()["requests"]][1:]
    orch, bare = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    waits = (_waits(orch, arrivals[0::2]), _waits(bare, arrivals[1::2]))
    peaks = ([each.peak for each in orch], [each.peak for each in bare])
    python = "Codex 0.19, Claude Code 0.55 s, in Python 1.0–4.4 s"
    return [
        _row("process start to the first model request", "s", *waits, peers=python, aim="0.30 s"),
        _row("peak memory of a one-shot run", "MB", *peaks, peers="autogen 71, pydantic-ai 81 MB", aim="60 MB"),
    ]


def offline(lab: Lab) -> list[Row]:
    """The scout's answer about a small repository: with an empty cache, and again."""
    workspace = scripts.small_repository(lab.folder / "offline")
    command = (lab.installed.orch, "ask", "-q", "-C", workspace, "where is ClientTimeout used")
    first, again = list[Ran](), list[Ran]()
    for _ in range(lab.runs):
        env = {**lab.installed.env, "HOME": str(lab.new_folder())}
        first.append(run(command, env))
        again.append(run(command, env))
    what = "offline `orch ask` on a small repository"
    return [
        _row(f"{what}, for the first time", "s", [each.wall for each in first], aim="0.5 s"),
        _row(f"{what}, again", "s", [each.wall for each in again], aim="0.5 s"),
        _row("peak memory of it", "MB", [each.peak for each in first]),
    ]


def turns(lab: Lab) -> list[Row]:
    """Our time between the end of a response and the next request, over a long conversation."""
    workspace = scripts.numbered_file(lab.folder / "turns")
    script = scripts.tool_turns(TURNS)
    orch = [_served(script, lambda url: lab.ask(url, workspace, "--max-turns", "250")) for _ in range(lab.runs)]
    bare = [_served(script, lambda url: lab.floor(url, workspace)) for _ in range(lab.runs)]
    gaps, floors = ([_gaps(requests) for _, requests in served] for served in (orch, bare))
    parts = (
        ("median", slice(None), "gemini-cli 9.3, litellm 21, openai-agents 51 ms", "2 ms"),
        ("first ten", slice(10), "litellm 13, pydantic-ai 9 ms", "1.5 ms"),
        ("last ten", slice(-10, None), "litellm 29, pydantic-ai 87 ms", "3 ms"),
    )
    return [
        _row(
            f"response end to next request, {TURNS} turns: {name}",
            "ms",
            [statistics.median(each[part]) for each in gaps],
            [statistics.median(each[part]) for each in floors],
            peers=peers,
            aim=aim,
        )
        for name, part, peers, aim in parts
    ]


def fan_out(lab: Lab) -> list[Row]:
    """Many children at once: how far from ideal, and how much memory."""
    workspace = scripts.numbered_file(lab.folder / "fan-out")
    script = scripts.fan_out(CHILDREN, delay=DELAY)
    orch = [_served(script, lambda url: lab.ask(url, workspace)) for _ in range(lab.runs)]
    bare = [_served(script, lambda url: lab.floor(url, workspace)) for _ in range(lab.runs)]
    for _, requests in (*orch, *bare):
        assert len(requests) == 2 + CHILDREN * (scripts.TURNS_OF_A_CHILD + 1), len(requests)
    ratios = ([_span(requests) / IDEAL for _, requests in served] for served in (orch, bare))
    peaks = ([ran.peak for ran, _ in served] for served in (orch, bare))
    what = f"{CHILDREN} children × {scripts.TURNS_OF_A_CHILD} turns at {DELAY * 1000:.0f} ms, ideal {IDEAL:.2f} s"
    peers = "autogen 1.55, gemini-cli 1.65, codex 6.2×"
    return [
        _row(what, "×", *ratios, peers=peers, aim="1.15×"),
        _row(f"peak memory at {CHILDREN} children", "MB", *peaks, peers="autogen 80, pydantic-ai 93 MB", aim="80 MB"),
    ]


def child_request(lab: Lab) -> list[Row]:
    """Bytes of a child's first request that stand before its task."""
    workspace = scripts.numbered_file(lab.folder / "child-request")
    _, requests = _served(scripts.fan_out(1, delay=0, record=True), lambda url: lab.ask(url, workspace))
    body = requests[1]["body"]
    before, found, _ = json.dumps(body, ensure_ascii=False, separators=(",", ":")).partition(scripts.CHILD_TASK)
    assert found, body
    what = f"first request of a child before its task, with all {len(body['tools']) - 1} read-only tools and `report`"
    size = len(before.encode()) / 1000
    return [_row(what, "kB", [size], peers="deepagents 9, codex 30, claude-code 33 kB", aim="8 kB")]


def sandbox(lab: Lab) -> list[Row]:
    """A command that does nothing, started in each sandbox that works here and outside of all, in turn."""
    rows = []
    levels: tuple[Level, ...] = ("read-only", "workspace")
    env = {**lab.installed.env, "ORCH_HOME": str(lab.folder / "orch-home")}
    for name in ("landlock", "bubblewrap", "seatbelt"):
        box = open_sandbox(True, env, prefer=name)
        if box.name != name:
            continue
        for level in levels:
            pairs = [(lab.start(box, level, env), lab.start(NoSandbox(), level, env)) for _ in range(lab.runs * 20)]
            inside, outside = ([pair[at] for pair in pairs] for at in (0, 1))
            what = f"`true` started and ended, {name}, level `{level}` (floor: no sandbox)"
            rows.append(_row(what, "ms", inside, outside, aim="10 ms"))
    return [*rows, *_judging(lab)]


def _judging(lab: Lab) -> list[Row]:
    """What it takes to judge a command before it is run; the grammar is loaded by then."""
    folder = lab.new_folder()
    subprocess.run(["git", "init", "-q", folder], check=True)
    around = Surroundings(folder, folder, lab.installed.home, lab.installed.env)
    rows = []
    for command in ("ls -la src", "git status --short", "cd src && grep -rn name . | sort | uniq -c > counts.txt"):
        judge_command(command, around)
        taken = []
        for _ in range(lab.runs * 20):
            began = time.perf_counter()
            judge_command(command, around)
            taken.append((time.perf_counter() - began) * 1000)
        rows.append(_row(f"`{command}` judged".replace("|", "\\|"), "ms", taken, aim="1 ms"))
    return rows


MEASURES: Mapping[str, Callable[[Lab], list[Row]]] = {
    "version": version,
    "one-shot": one_shot,
    "offline": offline,
    "turns": turns,
    "fan-out": fan_out,
    "child-request": child_request,
    "sandbox": sandbox,
}


def _served(script: Mapping[str, Any], client: Callable[[str], Ran]) -> Conversation:
    """One run of `client` against a server of its own."""
    with ServerProcess(script) as server:
        ran = client(server.url)
        state = server.state()
    if state["failures"]:
        raise RuntimeError("\n".join(state["failures"]))
    return ran, state["requests"]


def _waits(runs: Sequence[Ran], arrivals: Sequence[float]) -> list[float]:
    return [arrival - ran.began for ran, arrival in zip(runs, arrivals, strict=True)]


def _gaps(requests: Sequence[Mapping[str, Any]]) -> list[float]:
    """Milliseconds between the end of each response and the head of the next request."""
    return [(later["received"] - earlier["responded"]) * 1000 for earlier, later in pairwise(requests)]


def _span(requests: Sequence[Mapping[str, Any]]) -> float:
    """Seconds from the first request to the end of the last response."""
    first: float = min(each["received"] for each in requests)
    last: float = max(each["responded"] for each in requests)
    return last - first


def _row(
    what: str, unit: str, ours: Sequence[float], floor: Sequence[float] = (), *, peers: str = "", aim: str = ""
) -> Row:
    return Row(what, figure(ours, unit), figure(floor, unit) if floor else None, peers, aim)
