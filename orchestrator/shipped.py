"""Where the files that come with orch are: inside the installed package, else beside it in a checkout."""

from __future__ import annotations

from pathlib import Path


def shipped_folder(name: str) -> Path:
    """The folder `tools`, `roles` or `configs` that belongs to this copy of orch, never one of the working folder."""
    package = Path(__file__).resolve().parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name
