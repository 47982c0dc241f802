"""Sets of names, written as text."""

from __future__ import annotations


def names_in(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())
