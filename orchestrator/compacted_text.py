"""The message that stands for all that was compacted, and what can be read out of one again.

It is what a user says, as far as a provider is concerned; the program wrote it. What must not depend on a summary
(role, task, plan, to-do list, changed files) stands in it beside the summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from orchestrator.image_header import attachment_tokens
from orchestrator.json_bytes import parse_object
from orchestrator.messages import Attachment, Message, ToolCall, user
from orchestrator.text_cut import cut_middle
from orchestrator.tokens import characters_for
from orchestrator.tool import Todo

HEAD = "[orch: to save room, the conversation before this point was replaced by this message.]"
_FOOT = "[orch: what follows is the end of the conversation as it was. Do not start again: go on from where it stands.]"
_FILES = "# Files changed so far"
_SUMMARY = "# Summary of the conversation so far"
_BELOW = "It is the message of the user further down."
_PATCHED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\r\n]+)", re.MULTILINE)
_LEAST_CHARACTERS = 80


class Standing(NamedTuple):
    """What an agent must know whatever is left out. `role` says in a sentence who it is; `images` go with the task."""

    task: str
    todos: Sequence[Todo] = ()
    plan: str = ""
    role: str = ""
    images: tuple[Attachment, ...] = ()


class Former(NamedTuple):
    """What a history tells of what came before it, and the `files` that were changed, in order."""

    summary: str = ""
    files: tuple[str, ...] = ()


def is_summary(message: Message) -> bool:
    """Whether it stands for a compacted conversation."""
    return message.role == "user" and message.content.startswith(HEAD)


def former_of(history: Sequence[Message]) -> Former:
    """The last summary in `history`, and every file that it and the calls say was changed."""
    summary = ""
    files: dict[str, None] = {}
    for message in filter(is_summary, history):
        summary = _section(message.content, _SUMMARY)
        lines = _section(message.content, _FILES).split("\n")
        files |= dict.fromkeys(line[2:] for line in lines if line.startswith("- "))
    return Former(summary, tuple(files | dict.fromkeys(_changed_files(history))))


def images_of(task: str, history: Sequence[Message]) -> tuple[Attachment, ...]:
    """The images that came with `task`, from its own message or from the one that stands for it now."""
    for message in reversed(history):
        if message.attachments and (is_summary(message) or (task and message.content.startswith(task))):
            return message.attachments
    return ()


def summary_message(
    standing: Standing, summary: str, files: Sequence[str], kept: Sequence[Message], room: int
) -> Message:
    """The message that goes before the `kept` ones. What stands in it beside the summary takes about `room` tokens
    (estimated) at the most.

    A task that stands in the kept messages is not said twice.
    """
    said_below = any(message.role == "user" and message.content == standing.task for message in kept)
    images, note = _images_within(standing.images, room // 2)
    task = cut_tokens(standing.task, room * 2 // 5) + note
    todos = "\n".join(f"- [{item.status}] {item.content}" for item in standing.todos)
    sections = {
        "# Your role": standing.role,
        "# Your task": _BELOW if said_below else task,
        "# The plan": cut_tokens(standing.plan, room // 5),
        "# To do": cut_tokens(todos, room // 5),
        _FILES: cut_tokens("\n".join(f"- {path}" for path in files), room // 5),
        _SUMMARY: _without_titles(summary),
    }
    parts = [HEAD, *(f"{title}\n{text.strip()}" for title, text in sections.items() if text.strip()), _FOOT]
    return user("\n\n".join(parts), () if said_below else images)


def cut_tokens(text: str, tokens: int) -> str:
    """`text` in about `tokens` tokens (estimated), its middle left out with a mark."""
    limit = characters_for(max(1, tokens), text)
    return text if len(text) <= limit else cut_middle(text, max(_LEAST_CHARACTERS, limit), "it was cut to save room")


def _images_within(images: tuple[Attachment, ...], room: int) -> tuple[tuple[Attachment, ...], str]:
    """All images, or none and a note that says so."""
    if sum(map(attachment_tokens, images)) <= room:
        return images, ""
    names = ", ".join(image.name or "an image" for image in images)
    return (), f"\n\n[left out to save room: {names}; ask for it again if it is needed]"


def _section(content: str, title: str) -> str:
    """The text under a title of a summary message, found from its end: only what stands before it may quote it."""
    start = content.rfind(f"\n{title}\n")
    if start < 0:
        return ""
    text = content[start + len(title) + 2 :]
    end = text.rfind(f"\n\n{_FOOT}") if title == _SUMMARY else text.find("\n\n")
    return text[:end] if end >= 0 else text


def _without_titles(summary: str) -> str:
    return "\n".join(line for line in summary.split("\n") if line.strip() not in (_FILES, _SUMMARY))


def _changed_files(history: Sequence[Message]) -> Iterator[str]:
    """The files of the edits that succeeded."""
    done = {message.tool_call_id for message in history if message.role == "tool" and not message.is_error}
    for message in history:
        for call in message.tool_calls:
            if call.id in done:
                yield from _files_of(call)


def _files_of(call: ToolCall) -> Iterator[str]:
    if call.name not in ("edit_file", "write_file", "apply_patch"):
        return
    arguments = parse_object(call.arguments) or {}
    path, patch = arguments.get("path"), arguments.get("patch")
    if isinstance(path, str):
        yield _one_line(path)
    if isinstance(patch, str):
        yield from (_one_line(name) for name in _PATCHED.findall(patch) if name != "/dev/null")


def _one_line(path: str) -> str:
    return " ".join(path.split())
