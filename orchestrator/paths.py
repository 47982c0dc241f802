"""The folders of the user's own configuration, state and cache. Nothing is created here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Places(NamedTuple):
    """`config` holds config.yaml and roles/, `state` sessions and trust, `cache` what can be rebuilt.

    `claude_agents` is the user's own folder of Claude Code agents, which is read too.
    """

    config: Path
    state: Path
    cache: Path
    claude_agents: Path

    @classmethod
    def find(cls, env: Mapping[str, str]) -> Places:
        """`ORCH_HOME` puts everything under one folder; without it the platform's own folders are used."""
        home = env.get("ORCH_HOME", "")
        if home:
            root = Path(home).expanduser().absolute()
            return cls(root, root / "state", root / "cache", root / ".claude" / "agents")
        from platformdirs import PlatformDirs

        folders = PlatformDirs("orch", appauthor=False)
        return cls(
            folders.user_config_path,
            folders.user_state_path,
            folders.user_cache_path,
            Path.home() / ".claude" / "agents",
        )
