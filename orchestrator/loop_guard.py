"""Notices an agent that goes round in circles: the same call, the same error, the same words, again and again.

A call is the same when tool and arguments are the same JSON. In a window of the last 16 calls, the third one that could
only give what the two before it gave is not run: the model is told what was tried and to go another way. The fifth
stops the agent, unless the user lets it go on. What changes does not count: a call whose outcome is another one, and
everything from before a new successful call of a tool that may change something.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from orchestrator.json_bytes import parse_object
from orchestrator.messages import ToolCall, scrub

WINDOW = 16
"""Calls that are looked back on."""
WARN_AT, STOP_AT = 3, 5
"""The same call with the same outcome: which one is not run, and which one stops the agent."""
ALIKE_WARN_AT, ALIKE_STOP_AT = 20, 22
"""The same call whose outcomes differ in nothing but words with digits, such as the time of day (B190)."""
FAILURES_WARN_AT, FAILURES_STOP_AT = 4, 6
"""Turns in which one tool failed in the same way, whatever it was given, and nothing new succeeded in between."""
SAID_WARN_AT, SAID_STOP_AT = 3, 6
"""Turns with the same text that came to nothing new."""
SHORT_TEXT = 20
"""Characters; a shorter text, such as "Let me look." may be said twice as often."""

_REMEMBERED = 256
"""Calls by which it is told whether one is new."""
_LOOKING = """read_file grep glob list_files symbols find_references repo_map git_log shell_output todo_write report"""
"""Tools that change nothing in the workspace. Any other one may."""
_WAITING, _STILL_RUNS = "shell_output", " is running"
"""The tool with which an agent waits for a job, and what its result says as long as the job runs: that there is no news
yet is no sign of a circle."""


class GuardVerdict(NamedTuple):
    """`go`; `warn`: not to be run, `text` is the result instead; `stop`: `text` is why the agent should end."""

    action: Literal["go", "warn", "stop"]
    text: str = ""


GO = GuardVerdict("go")


class LoopGuard:
    """The guard of one agent. It wants to be told everything: `before` each call, `after` each one that was run, and
    what was `said` in each reply once its calls are done, also when that is nothing.
    """

    def __init__(self) -> None:
        self._turn = 0
        self._known: dict[str, None] = {}
        self._overruled = ""
        self._progress = False
        self._called = False
        self._text = ""
        self._times_said = 0
        self._start_anew()

    def _start_anew(self) -> None:
        self._same = _SameCalls()
        self._alike = _AlikeOutcomes()
        self._failures: dict[str, _Failures] = {}

    def before(self, call: ToolCall) -> GuardVerdict:
        """Whether `call` may be run. Calls of one reply may come before the former have ended; a model is only stopped
        for what it does after it has read a warning.
        """
        self._called = True
        key = fingerprint(call)
        failing = self._failures.get(call.name)
        verdict = self._same.judge(key, call.name, self._turn)
        if verdict.action == "warn":
            self._same.add(key, self._turn, is_run=False)
        if verdict.action == "go":
            verdict = self._alike.judge(key, call.name, self._turn)
        if verdict.action == "go" and failing is not None:
            verdict = failing.judge(call.name, self._turn)
        if verdict.action == "go":
            self._same.add(key, self._turn, is_run=True)
        elif verdict.action == "stop":
            self._overruled = key
        return verdict

    def after(self, call: ToolCall, text: str, *, is_error: bool) -> None:
        """Note what a call came to: `text` is the result as the model reads it."""
        key = fingerprint(call)
        if key == self._overruled:  # it was run although it should have stopped the agent: the user said so
            self._overruled = ""
            self._start_anew()
        is_new = not is_error and key not in self._known
        outcome = self._outcome(call.name, text, is_error)
        self._progress |= is_new or self._same.changed(key, outcome)
        if is_new:
            self._note_success(key, call.name)
        if is_error:
            self._note_failure(call.name, text)
        else:
            self._failures.pop(call.name, None)
        self._same.settle(key, self._turn, outcome, _excerpt(text))
        self._alike.note(key, _digest(f"{is_error}{_without_digits(text)}"))

    def said(self, text: str) -> GuardVerdict:
        """A reply with this text is done, its calls included. One without calls does not count: it ends the agent, or
        has a limit of its own."""
        self._turn += 1
        called, progress = self._called, self._progress
        self._called = self._progress = False
        if not called:
            return GO
        words = " ".join(text.split())
        same = bool(words) and words == self._text and not progress
        self._times_said = self._times_said + 1 if same else 1
        self._text = words
        patience = 1 if len(words) >= SHORT_TEXT else 2
        if self._times_said < SAID_WARN_AT * patience:
            return GO
        reason = f"the same was said {self._times_said} times in a row, and nothing new came of it: {_excerpt(words)!r}"
        return GuardVerdict("stop" if self._times_said >= SAID_STOP_AT * patience else "warn", reason)

    def _outcome(self, tool: str, text: str, is_error: bool) -> str:
        """What is compared: a report never reads the same twice, and waiting is another thing in each turn."""
        if tool == "delegate":
            return ""
        waits = tool == _WAITING and _STILL_RUNS in text.split("\n", 1)[0]
        return _digest(f"{is_error}{self._turn if waits else ''}{text}")

    def _note_success(self, key: str, tool: str) -> None:
        """A call succeeded that had not done so before."""
        self._known[key] = None
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        if tool not in _LOOKING.split():
            self._start_anew()
        for failures in self._failures.values():
            failures.eased = True

    def _note_failure(self, tool: str, text: str) -> None:
        kind = _kind_of_error(text)
        failures = self._failures.get(tool)
        if failures is None or failures.kind != kind:
            failures = self._failures[tool] = _Failures(kind)
        failures.add(self._turn)


# --- the same call with the same outcome -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Attempt:
    key: str
    turn: int
    is_run: bool
    outcome: str | None = None
    """`None` as long as it runs, and for what was not run: taken to be like that of the others."""
    excerpt: str = ""

    def was_cut_off(self, turn: int) -> bool:
        """Whether it is of a turn that is over and never ended."""
        return self.is_run and self.outcome is None and self.turn < turn


class _SameCalls:
    def __init__(self) -> None:
        self._window: deque[_Attempt] = deque(maxlen=WINDOW)

    def judge(self, key: str, tool: str, turn: int) -> GuardVerdict:
        former = self._alike(key, turn)
        times = len(former) + 1
        if times < WARN_AT:
            return GO
        warned = any(not each.is_run and each.turn < turn for each in former)
        refused = sum(1 for each in self._window if not each.is_run and each.turn < turn)
        if (times >= STOP_AT and warned) or times >= WINDOW or refused >= WINDOW // 2:
            return _stop(
                f"{tool} was called {times} times with the same arguments, and nothing came of it that was new"
            )
        given = next((each.excerpt for each in former if each.outcome is not None), None)
        return _warning(
            f"This is call {times} of {tool} with the same arguments",
            "the others are still running" if given is None else f"the result was the same each time: {given}",
        )

    def add(self, key: str, turn: int, *, is_run: bool) -> None:
        self._window.append(_Attempt(key, turn, is_run))

    def settle(self, key: str, turn: int, outcome: str, excerpt: str) -> None:
        """Note what the oldest call that still runs came to; one that is not in the window is put into it."""
        for attempt in self._window:
            if attempt.key == key and attempt.is_run and attempt.outcome is None and not attempt.was_cut_off(turn):
                break
        else:
            attempt = _Attempt(key, turn, is_run=True)
            self._window.append(attempt)
        attempt.outcome, attempt.excerpt = outcome, excerpt

    def changed(self, key: str, outcome: str) -> bool:
        """Whether the last known outcome of this call was another one."""
        last = next(
            (each.outcome for each in reversed(self._window) if each.key == key and each.outcome is not None), None
        )
        return last is not None and last != outcome

    def _alike(self, key: str, turn: int) -> list[_Attempt]:
        """The attempts at this call, from the last one back to where the outcome was another one."""
        found: list[_Attempt] = []
        outcome: str | None = None
        for attempt in reversed(self._window):
            if attempt.key != key or attempt.was_cut_off(turn):
                continue
            if None not in (outcome, attempt.outcome) and outcome != attempt.outcome:
                break
            outcome = attempt.outcome if outcome is None else outcome
            found.append(attempt)
        return found


# --- the same call with nearly the same outcome ----------------------------------------------------------------------


@dataclass(slots=True)
class _Series:
    shape: str
    times: int = 1
    warned: int | None = None


class _AlikeOutcomes:
    def __init__(self) -> None:
        self._series: dict[str, _Series] = {}

    def judge(self, key: str, tool: str, turn: int) -> GuardVerdict:
        series = self._series.get(key)
        patience = 2 if tool == _WAITING else 1
        if series is None or series.times + 1 < ALIKE_WARN_AT * patience:
            return GO
        series.times += 1
        what = f"{tool} was called {series.times} times with the same arguments, and only numbers in its result changed"
        warned = series.warned is not None and series.warned < turn
        if (series.times >= ALIKE_STOP_AT * patience and warned) or series.times >= ALIKE_STOP_AT * patience + WINDOW:
            return _stop(what)
        series.warned = turn if series.warned is None else series.warned
        return _warning(f"This is call {series.times} of {tool} with the same arguments", "only numbers changed")

    def note(self, key: str, shape: str) -> None:
        series = self._series.pop(key, None)
        if series is None or series.shape != shape:
            series = _Series(shape, 0)
        series.times += 1
        self._series[key] = series
        if len(self._series) > _REMEMBERED:
            del self._series[next(iter(self._series))]


# --- the same error of varied calls ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Failures:
    """Failures of one tool in the same way. A turn counts one half where something else succeeded in between."""

    kind: str
    halves: int = 0
    turn: int = -1
    eased: bool = False
    warned: int | None = None
    not_run: int = 0

    def add(self, turn: int) -> None:
        if turn != self.turn:
            self.halves += 1 if self.eased else 2
            self.turn, self.eased = turn, False

    def judge(self, tool: str, turn: int) -> GuardVerdict:
        what = f"{tool} failed again and again in the same way, whatever it was given"
        if self.not_run >= WINDOW or (self.halves >= 2 * FAILURES_STOP_AT and self.warned not in (None, turn)):
            return _stop(f"{what}: {self.kind}")
        if self.halves >= 2 * FAILURES_WARN_AT and self.warned in (None, turn):
            self.warned = turn
            self.not_run += 1
            return _warning(what, f"the error was: {self.kind}")
        return GO


# --- texts -----------------------------------------------------------------------------------------------------------


def _warning(what: str, result: str) -> GuardVerdict:
    advice = (
        "It was not run. Nothing suggests that it would come out differently. Go another way: use what you have, "
        "other arguments or another tool, or say what you found and what is missing."
    )
    return GuardVerdict("warn", f"error: repeated: {what}; {result}\n{advice}")


def _stop(what: str) -> GuardVerdict:
    return GuardVerdict("stop", what)


def _excerpt(text: str, width: int = 200) -> str:
    line = " ".join(scrub(text[: width * 4]).split())
    return line if len(line) <= width else line[: width - 1] + "…"


# --- what is the same ------------------------------------------------------------------------------------------------

_WITH_DIGITS = re.compile(r"\S*\d\S*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_NAME_OR_NUMBER = re.compile(r"\S*[\d/.\\]\S+|\d+")


def fingerprint(call: ToolCall) -> str:
    """The call in a form that is the same for the same JSON, however it is written. Never fails."""
    arguments = parse_object(call.arguments.strip() or "{}")
    if arguments is None:
        return _digest(f"{call.name}\n{call.arguments.strip()}")
    given = {key: value for key, value in arguments.items() if value is not None}
    if call.name == "delegate":
        given = _task_of(given)
    try:
        canonical = json.dumps(given, sort_keys=True)
    except RecursionError:
        canonical = call.arguments
    return _digest(f"{call.name}\n{canonical}")


def _task_of(arguments: Mapping[str, object]) -> dict[str, object]:
    """What a sub-agent is asked, without the context that comes along and without how the text is laid out."""
    return {key: " ".join(str(arguments.get(key, "")).split()).rstrip(".!?") for key in ("role", "task")}


def _digest(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _without_digits(text: str) -> str:
    return " ".join(_WITH_DIGITS.sub("#", text).split())


def _kind_of_error(text: str) -> str:
    """The first line of an error without what names or counts things: "error: not_found: There is no file …"."""
    first = scrub(text.strip().split("\n", 1)[0][:500])
    return " ".join(_NAME_OR_NUMBER.sub("…", _QUOTED.sub("…", first)).split())[:200]
