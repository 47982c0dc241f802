"""The interactive session: a prompt, the answer, the next prompt. What is typed comes line by line."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TextIO

Say = Callable[[str], None]
Read = Callable[[str], Awaitable[str]]
"""Reads one line after the prompt that is given. Raises `EOFError` at the end, `KeyboardInterrupt` at Ctrl+C."""

PROMPT = "> "
_COMMAND = re.compile(r"/([a-z]+)(?:\s+(.*))?\Z", re.DOTALL)
_LEAVE = ("exit", "quit")


class Command(NamedTuple):
    """`/NAME`: what it says in `/help`, and what it does with what stands behind its name; it gives what to show."""

    help: str
    run: Callable[[str], Awaitable[str]]


async def converse(
    read: Read, say: Say, answer: Callable[[str], Awaitable[None]], commands: Mapping[str, Command]
) -> None:
    """Answer one line after the other, until the end of input, `/exit`, or Ctrl+C twice in a row."""
    interrupted = False
    while True:
        try:
            line = (await read(PROMPT)).strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            if interrupted:
                return
            interrupted = True
            say("press Ctrl+C again to leave, or Ctrl+D")
            continue
        interrupted = False
        command = _COMMAND.match(line)
        if command and command[1] in _LEAVE:
            return
        if command:
            say(await _obey(command[1], command[2] or "", commands))
        elif line:
            await answer(line)


async def _obey(name: str, rest: str, commands: Mapping[str, Command]) -> str:
    if name == "help":
        rows = [*((f"/{each}", command.help) for each, command in commands.items()), ("/exit", "leave (or Ctrl+D)")]
        return "\n".join(f"{name:<8} {text}" for name, text in rows)
    if name not in commands:
        return f"there is no command /{name}; /help lists what there is"
    return await commands[name].run(rest)


def line_reader(stdin: TextIO, history: Path) -> Read:
    """Reads from a terminal with editing and a history kept in the file `history`, else plain lines."""
    if stdin.isatty():
        return _terminal_reader(history)

    async def read(prompt: str) -> str:
        line = await asyncio.to_thread(stdin.readline)
        if not line:
            raise EOFError
        return line

    return read


def _terminal_reader(history: Path) -> Read:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory

    kept: History = InMemoryHistory()
    try:
        history.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        history.touch(mode=0o600)
        kept = FileHistory(str(history))
    except OSError:  # a history that cannot be kept is no reason not to talk
        pass
    session: PromptSession[str] = PromptSession(history=kept)
    return session.prompt_async
