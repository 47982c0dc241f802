"""One agent's list of what is to do: kept, shown live, and remembered when it is forgotten."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from orchestrator.tool import Todo

TOOL = "todo_write"
_ROUNDS = 3
"""Rounds of tool calls without an update after which the agent is reminded."""

_CHECKER = re.compile(
    r"""pytest|py\.test|tox|nox|unittest|doctest|ruff|mypy|pyright|flake8|pylint|bandit|jest|vitest|mocha|eslint|tsc|biome
      |phpunit|rspec|ctest|shellcheck|golangci-lint|prove|busted|cypress|playwright|karma|ava""",
    re.VERBOSE,
)
_RUNNER = re.compile(
    r"""npm|pnpm|yarn|bun|deno|cargo|go|mvnw?|gradlew?|make|just|rake|mix|dotnet|swift|bazel|sbt|composer|stack|zig
      |meson|ninja|task""",
    re.VERBOSE,
)
_WRAPPER = re.compile(
    r"""sudo|env|time|timeout|nice|uvx?|poetry|pipenv|pdm|hatch|rye|npx|bunx|bundle|pipx|coverage|python[\d.]*|bash|sh
      |node|run|exec|dlx""",
    re.VERBOSE,
)
"""Words before the one that says what is run; numbers, options and assignments are passed over as well."""
_PASSED_OVER = re.compile(r"-.*|\w+=.*|[\d.]+[smh]?")
_TARGET = re.compile(r"(?:.*[:._-])?(?:tests?|check|lint|vet|verify|build|typecheck|clippy|spec)(?:[:._-].*)?")
_SCRIPT = re.compile(r"(?:.*[_-])?tests?(?:[_-].*)?(?:\.\w+)?")
_BETWEEN = re.compile(r"[;&|()\n]+")

_VERIFY = (
    "All is marked completed, but nothing was tested or checked since files last changed. "
    "Run the tests, or what else shows that it works, before you say that it is done."
)


class TodoList:
    """The list of one agent. `changed` is told each new list as (content, active form, status)."""

    def __init__(self, agent: str, changed: Callable[[tuple[tuple[str, str, str], ...]], None]) -> None:
        self.agent = agent
        self._changed = changed
        self._items: tuple[Todo, ...] = ()
        self._rounds = 0
        self._untested = False

    @property
    def items(self) -> Sequence[Todo]:
        return self._items

    def replace(self, items: Sequence[Todo]) -> str:
        """Put a new list in the place of the old one. All done and nothing tested: gives a nudge to verify."""
        self._items = tuple(items)
        self._rounds = 0
        self._changed(tuple((item.content, item.active_form, item.status) for item in self._items))
        all_done = bool(self._items) and not self._open
        return _VERIFY if all_done and self._untested else ""

    def round_ended(self, tool_names: Sequence[str]) -> str:
        """A round of tool calls is over. Gives a reminder when the list was left alone for too long, mostly nothing."""
        if not tool_names or TOOL in tool_names or not self._open:
            self._rounds = 0
            return ""
        self._rounds += 1
        if self._rounds % _ROUNDS:
            return ""
        item = next((item for item in self._items if item.status == "in_progress"), self._open[0])
        return (
            f"Your list was not updated for {self._rounds} rounds "
            f"({len(self._open)} open, now: {_short(item.content)}); "
            f"bring it up to date with {TOOL} if it no longer fits."
        )

    def note_call(self, tool: str, command: str, *, wrote: bool) -> None:
        """A call has run. `command`: what a shell ran, else empty; `wrote`: it may have changed files."""
        if command and _checks_something(command):
            self._untested = False
        elif wrote:
            self._untested = True

    @property
    def _open(self) -> list[Todo]:
        return [item for item in self._items if item.status != "completed"]


def _checks_something(command: str) -> bool:
    """Whether a command tests or checks something, roughly: a nudge too many costs a turn, one too few nothing."""
    return any(_is_check(part.split()) for part in _BETWEEN.split(command))


def _is_check(words: Sequence[str]) -> bool:
    for index, word in enumerate(words):
        name = word.rpartition("/")[2]
        if _CHECKER.fullmatch(name):
            return True
        if _RUNNER.fullmatch(name):
            return any(_TARGET.fullmatch(each) for each in words[index + 1 :])
        if not _WRAPPER.fullmatch(name) and not _PASSED_OVER.fullmatch(word):
            return _SCRIPT.fullmatch(name) is not None and name != "test"
    return False


def _short(text: str, width: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
