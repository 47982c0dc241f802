"""Figures and events in the words that people read."""

from __future__ import annotations

import json

from orchestrator.events import Retry
from orchestrator.safe_text import safe_line


def count(number: int) -> str:
    """`950`, `12.3k`, `4.5M`."""
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def money(usd: float | None) -> str:
    """US dollars with as many digits as say something; `cost unknown` for `None`, never a zero."""
    if usd is None:
        return "cost unknown"
    if usd == 0:
        return "$0"
    if usd < 0.0001:
        return "<$0.0001"
    return f"${usd:.4f}" if usd < 0.1 else f"${usd:.2f}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3:05`, `1:02:03`."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def tool_line(tool: str, summary: str) -> str:
    """A tool call in one line, its name said once."""
    name, text = safe_line(tool), safe_line(summary)
    return text if text.startswith(name) else f"{name} {text}".rstrip()


def call_line(tool: str, summary: str) -> str:
    """A tool call before it runs: its name and the values of its arguments, when `summary` is their JSON text."""
    try:
        arguments = json.loads(summary)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return tool_line(tool, summary)
    values = [value if isinstance(value, str) else json.dumps(value) for value in arguments.values()]
    return f"{safe_line(tool)} {safe_line(' '.join(values))}".rstrip()


def retry_line(event: Retry) -> str:
    failed = f"attempt {event.attempt} of {event.attempts} failed"
    return f"{failed}, the next in {duration(event.delay_s)}: {safe_line(event.reason)}"
