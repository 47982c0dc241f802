"""Permission questions at the terminal. Only what is typed after the question is on the screen answers it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, TextIO

from orchestrator.approval import PermissionReply, PermissionRequest
from orchestrator.permission_patterns import PatternError, parse_rule
from orchestrator.ui.agent_tree import Line
from orchestrator.ui.line_reader import LineReader
from orchestrator.ui.live import paint
from orchestrator.ui.question_text import question, visible, wrap
from orchestrator.ui.sink import Sink
from orchestrator.ui.terminal import Terminal, detect_terminal, terminal_size

_ENDED = "the input ended before there was an answer"
_ONCE = frozenset({"y", "Y", "yes", "once"})
_ALWAYS = frozenset({"a", "A", "e", "E", "always", "edit"})
_NO = frozenset({"n", "no"})
_NO_BECAUSE = frozenset({"r", "R", "N"})
_VIEW = frozenset({"v", "V", "view"})


class TerminalApprover:
    """Draws each question on standard error and reads the answer from standard input, a line."""

    def __init__(
        self,
        stdin: TextIO | None,
        stderr: TextIO,
        suspended: Callable[[], AbstractContextManager[None]],
        terminal: Terminal | None = None,
    ) -> None:
        """`suspended` takes what is drawn live off the screen meanwhile. `terminal` is looked at if not given."""
        self._stderr = stderr
        self._stdin = stdin
        self._suspended = suspended
        self._terminal = terminal or detect_terminal(stderr, stderr, os.environ)

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        """The user's answer. Cancelled, it leaves the terminal as it was; at the end of input the answer is no."""
        reader = LineReader(self._stdin)
        screen = _Screen(self._stderr, self._terminal)
        with self._suspended(), reader.listening():
            talk = _Talk(request, reader, screen)
            try:
                return await talk.reply()
            except _EndOfInputError:
                return PermissionReply("no", _ENDED)
            finally:
                screen.end_line()


class _EndOfInputError(Exception):
    """There is nobody there any more."""


class _Screen:
    """Writes lines and prompts; knows whether the cursor stands behind a prompt."""

    def __init__(self, stderr: TextIO, terminal: Terminal) -> None:
        self._stream = stderr
        self._sink = Sink(stderr, lossy=True)
        self._terminal = terminal
        self._behind_prompt = False

    @property
    def terminal(self) -> Terminal:
        return self._terminal

    @property
    def size(self) -> os.terminal_size:
        return terminal_size(self._stream)

    def lines(self, *lines: Line) -> None:
        drawn = (paint(line, self._terminal.color) if self._terminal.escapes else _text(line) for line in lines)
        self._sink.write("".join(f"{line}\n" for line in drawn))

    def say(self, text: str) -> None:
        width = max(self.size.columns - 1, 10)
        pieces: list[Line] = [[(piece, "")] for piece in wrap(visible(text), width)]
        self.lines(*pieces)

    def prompt(self, text: str) -> None:
        self._behind_prompt = True
        self._sink.write(text)

    def answered(self) -> None:
        """The user pressed Enter, which the terminal has shown."""
        self._behind_prompt = False

    def end_line(self) -> None:
        if self._behind_prompt:
            self._sink.write("\n")
            self._behind_prompt = False


def _text(line: Line) -> str:
    return "".join(text for text, _ in line)


class _Talk(NamedTuple):
    """One question until it is answered."""

    request: PermissionRequest
    reader: LineReader
    screen: _Screen

    async def reply(self) -> PermissionReply:
        cut = self._draw(whole=False)
        self.reader.forget_typed()
        while True:
            answer = (await self._line(self._prompt(cut))).strip()
            word, _, rest = answer.partition(" ")
            rest = rest.strip()
            if word in _VIEW and not rest:
                cut = self._draw(whole=True)
                continue
            reply = await self._meant(word, rest)
            if reply is not None:
                return reply

    async def _meant(self, word: str, rest: str) -> PermissionReply | None:
        """What an answer comes to; `None` where it has to be asked again."""
        if word in _NO or word in _NO_BECAUSE:
            asked = word in _NO_BECAUSE and not rest
            return PermissionReply("no", (await self._line("why not? ")).strip() if asked else rest)
        if word in _ONCE and not rest:
            return PermissionReply("once")
        if word in _ALWAYS and not rest:
            return await self._always()
        self.screen.say("Enter alone is no answer." if not word else "That is none of the answers.")
        return None

    async def _always(self) -> PermissionReply | None:
        """Let the user edit the rule; `None` when they go back to the question."""
        offered = self.request.pattern
        if not offered:
            self.screen.say("This cannot be allowed for always, only once.")
            return None
        self.screen.say(f"The rule: {offered}")
        self.screen.say("Enter keeps it; or type another rule; or n to go back.")
        while True:
            typed = (await self._line("rule: ")).strip()
            if typed in _NO:
                self._draw(whole=False)
                return None
            wrong = _fault(typed or offered, offered)
            if not wrong:
                return PermissionReply("always", pattern=typed or offered)
            self.screen.say(f"That does not do: {wrong}.")

    def _prompt(self, cut: bool) -> str:
        keys = ["y", *(["a"] if self.request.pattern else []), "n", "r", *(["v"] if cut else [])]
        return f"{'/'.join(keys)}? "

    def _draw(self, *, whole: bool) -> bool:
        size = self.screen.size
        drawn = question(self.request, size.columns, size.lines, self.screen.terminal.glyphs, whole=whole)
        self.screen.lines(*drawn.lines)
        return drawn.cut

    async def _line(self, prompt: str) -> str:
        """Raises `_EndOfInputError`."""
        self.screen.prompt(prompt)
        line = await self.reader.line()
        if line is None:
            raise _EndOfInputError
        self.screen.answered()
        return line


def _fault(rule: str, offered: str) -> str:
    """What is wrong with a rule that the user typed in the place of the one offered, or an empty text."""
    try:
        tool = parse_rule(rule).tool
    except PatternError as error:
        return str(error)
    wanted = parse_rule(offered).tool
    return "" if tool == wanted else f"it must be a rule for {wanted}"
