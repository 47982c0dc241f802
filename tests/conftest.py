"""What every test gets: the checkout on the path (for `tests.support`), and a home of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run: a suite is green or it is not. HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("suite", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

AUTH = """\
import os


def legacy_auth(user):
    return os.environ.get(user)


def login(user):
    return legacy_auth(user)
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """`ORCH_HOME` in a fresh folder, and none of the user's keys or settings."""
    home = tmp_path_factory.mktemp("orch-home")
    for name in [n for n in os.environ if n.startswith("ORCH_") or n.endswith(("_API_KEY", "_API_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ORCH_HOME", str(home))
    yield home


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small repository."""
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text(AUTH)
    (root / "src" / "big.txt").write_text("".join(f"line {n} of a long file\n" for n in range(1, 2001)))
    return root
