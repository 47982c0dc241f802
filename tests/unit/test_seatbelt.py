"""The profile for macOS, as text: which rule comes after which."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.sandbox import Policy
from orchestrator.seatbelt import seatbelt_profile


def policy(tmp_path: Path, **changes: object) -> Policy:
    for name in ("workspace", "temp", "home/.ssh"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    given: dict[str, object] = {
        "level": "workspace",
        "network": False,
        "workspace": tmp_path / "workspace",
        "temp": tmp_path / "temp",
        "unreadable": (tmp_path / "home" / ".ssh",),
    }
    return Policy(**(given | changes))  # type: ignore[arg-type]  # checked by the class


def after(profile: str, later: str, earlier: str) -> bool:
    return profile.index(later) > profile.index(earlier)


def test_writing_is_denied_then_allowed_then_denied_where_it_runs_by_itself(tmp_path: Path) -> None:
    profile = seatbelt_profile(policy(tmp_path), tmp_path / "home")
    allowed = f'(allow file-write*\n  (subpath "{tmp_path}/temp")\n  (subpath "{tmp_path}/workspace"))'
    assert after(profile, allowed, "(deny file-write*)")
    assert after(profile, f'(subpath "{tmp_path}/workspace/.git/hooks")', allowed)
    assert f'(deny file-read*\n  (subpath "{tmp_path}/home/.ssh"))' in profile


def test_only_reading_writes_nothing_but_the_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / ".env").touch()
    profile = seatbelt_profile(policy(tmp_path, level="read-only", writable=(tmp_path / "more",)), tmp_path / "home")
    assert f'(allow file-write*\n  (subpath "{tmp_path}/temp"))' in profile
    assert "more" not in profile
    assert after(profile, f'(deny file-read*\n  (subpath "{tmp_path}/workspace/.env"))', "(allow file-read*")


def test_the_network_is_denied_unless_it_is_on(tmp_path: Path) -> None:
    assert "(deny network*)" in seatbelt_profile(policy(tmp_path), tmp_path)
    assert "(deny network*)" not in seatbelt_profile(policy(tmp_path, network=True), tmp_path)


def test_a_path_cannot_add_rules(tmp_path: Path) -> None:
    odd = tmp_path / 'a")(allow default)("'
    odd.mkdir()
    profile = seatbelt_profile(policy(tmp_path, workspace=odd), tmp_path)
    assert f'(subpath "{tmp_path}/a\\")(allow default)(\\"")' in profile
    broken = tmp_path / "a\nb"
    broken.mkdir()
    with pytest.raises(OSError, match="control characters"):
        seatbelt_profile(policy(tmp_path, workspace=broken), tmp_path)
