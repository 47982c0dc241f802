"""A workspace and a user with role files of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orchestrator.paths import Places
from orchestrator.problems import errors_in
from orchestrator.role_loading import load_roles
from orchestrator.roles import DEFAULT_TOOLS, RoleBook

TOOLS: Mapping[str, bool] = {
    **dict.fromkeys((*DEFAULT_TOOLS, "web_fetch", "delegate", "report"), True),
    **dict.fromkeys(("run_shell", "shell_output", "shell_stop", "todo_write"), True),
    **dict.fromkeys(("write_file", "edit_file", "apply_patch"), False),
}
"""The tools there are, and whether a read-only role may have each."""


class RoleSetup:
    """Write role files, then `load()` them."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.home = folder / "home"
        self.places = Places.find({"ORCH_HOME": str(self.home)})

    def write(self, name: str, text: str | bytes, *, user: bool = False) -> Path:
        """Write `name` below the workspace (`.orch/roles/x.yaml`) or the user's folder (`roles/x.yaml`)."""
        path = (self.home if user else self.workspace) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def role(self, name: str, text: str = "", *, user: bool = False, prompt: str = "Look.") -> Path:
        """Write the role `name` with the lines `text` besides name, description and prompt."""
        folder = "roles" if user else ".orch/roles"
        lines = f"name: {name}\ndescription: A test role.\nprompt: {prompt}\n{text}"
        return self.write(f"{folder}/{name}.yaml", lines, user=user)

    def load(self, *, trusted: bool = False) -> RoleBook:
        return load_roles(workspace=self.workspace, places=self.places, tools=TOOLS, trusted=trusted)


def errors(book: RoleBook) -> list[str]:
    return [str(problem) for problem in errors_in(book.problems)]


def warnings(book: RoleBook) -> list[str]:
    return [str(problem) for problem in book.problems if problem.severity == "warning"]
