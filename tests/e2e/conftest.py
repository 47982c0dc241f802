from __future__ import annotations

from pathlib import Path

import pytest

AUTH = """\
import os


def legacy_auth(user):
    return os.environ.get(user)


def login(user):
    return legacy_auth(user)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small repository."""
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text(AUTH)
    (root / "src" / "big.txt").write_text("".join(f"line {n} of a long file\n" for n in range(1, 2001)))
    return root
