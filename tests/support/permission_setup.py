"""Permissions over a real workspace, for tests that look at verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestrator.config import PermissionSettings
from orchestrator.grants import Grants
from orchestrator.permissions import Mode, Permissions, Verdict, read_rules
from orchestrator.tool import Effects
from orchestrator.toolbox import Toolbox

TOOLS = Toolbox()


class Desk:
    """A workspace `repo` beside a home folder, and the permissions of one session in it."""

    def __init__(
        self,
        tmp_path: Path,
        mode: Mode = "default",
        *,
        deny: Sequence[str] = (),
        ask: Sequence[str] = (),
        allow: Sequence[str] = (),
        network: bool = False,
    ) -> None:
        self.root = tmp_path / "repo"
        self.home = tmp_path / "home"
        for folder in (self.root / "src", self.root / ".git", self.home / ".ssh"):
            folder.mkdir(parents=True, exist_ok=True)
        settings = PermissionSettings(deny=tuple(deny), ask=tuple(ask), allow=tuple(allow))
        self.permissions = Permissions(
            mode=mode,
            rules=read_rules(settings, TOOLS.names),
            workspace=self.root,
            home=self.home,
            grants=Grants(tmp_path / "state" / "grants", self.root),
            network=network,
            env={"HOME": str(self.home), "PATH": "/usr/bin:/bin", "ORCH_HOME": str(tmp_path / "orch")},
        )

    def file(self, path: str, text: str = "") -> Path:
        made = self.root / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text)
        return made

    def edit(self, *paths: str, tool: str = "edit_file", read_only: bool = False) -> Verdict:
        return self.permissions.judge(TOOLS.get(tool), Effects(writes=paths), read_only=read_only)

    def read(self, *paths: str, tool: str = "read_file", read_only: bool = False) -> Verdict:
        return self.permissions.judge(TOOLS.get(tool), Effects(reads=paths), read_only=read_only)

    def shell(self, command: str, cwd: str = ".", *, read_only: bool = False) -> Verdict:
        effects = Effects(command=command, cwd=cwd)
        return self.permissions.judge(TOOLS.get("run_shell"), effects, read_only=read_only)

    def decision(self, command: str) -> str:
        return self.shell(command).decision
