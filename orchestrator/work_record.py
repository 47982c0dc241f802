"""What was done, in lines made without a model: for when there is no time, no room or no model for a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.compacted_text import cut_tokens, former_of, is_summary
from orchestrator.message_sizes import messages_tokens
from orchestrator.messages import Message
from orchestrator.result_stubs import describe
from orchestrator.summary_request import transcript
from orchestrator.tokens import estimate_tokens

_NOTE = "(There was no room for a summary by a model. These are the earlier summary and the steps since, unshortened \
where they fit; results were left out.)"
_WIDTH = 200


def record_of(older: Sequence[Message], room: int) -> str:
    """`older` in about `room` tokens (estimated): what an earlier summary said, then the last steps that fit."""
    rest = [message for message in older if not is_summary(message)]
    former = former_of(older).summary.removeprefix(_NOTE).strip()
    if messages_tokens(rest) + estimate_tokens(former) <= room:
        return "\n\n".join(filter(None, [former, transcript(rest)]))
    former = cut_tokens(former, room * 3 // 4)
    steps = [line for message in rest for line in _lines(message)]
    last = _that_fit(steps, room - estimate_tokens(former))
    left_out = f"[{len(steps) - len(last)} earlier steps are left out]" if len(last) < len(steps) else ""
    return "\n".join(filter(None, [_NOTE, former, left_out, *last]))


def _lines(message: Message) -> Iterator[str]:
    if message.role == "tool":
        if message.is_error:
            yield f"  failed: {_short(message.content)}"
        return
    if message.content.strip():
        yield f"- {'the user' if message.role == 'user' else 'said'}: {_short(message.content)}"
    for call in message.tool_calls:
        yield f"- {describe(call)}"


def _that_fit(lines: Sequence[str], room: int) -> Sequence[str]:
    """The last lines, the newest first of all."""
    for count, line in enumerate(reversed(lines)):
        room -= estimate_tokens(line) + 1
        if room < 0:
            return lines[len(lines) - count :]
    return lines


def _short(text: str) -> str:
    line = " ".join(text[: 4 * _WIDTH].split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
