"""What agents act with, opened when the first of them needs it: edits, commands, sandbox, permissions, hooks, undo."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.approval import Approver
from orchestrator.config import Config, HookEvent
from orchestrator.errors import ToolError
from orchestrator.events import Emit, FilesChanged, Notice
from orchestrator.gate import Refusals, Safety
from orchestrator.paths import Places
from orchestrator.tool import Effects, Files, Tool, ToolContext
from orchestrator.toolbox import Toolbox
from orchestrator.workspace import WorkspaceFiles

if TYPE_CHECKING:
    from orchestrator.checkpoints import Checkpoints
    from orchestrator.hooks import HookOutcome, Hooks
    from orchestrator.permissions import Mode, Permissions, Verdict
    from orchestrator.sandbox import Level, Policy, Sandbox
    from orchestrator.shell import ShellService


@dataclass(frozen=True)
class Bench:
    """Where and how a session acts. `mode` is `plan` wherever only reading is allowed."""

    workspace: Path
    places: Places
    env: Mapping[str, str]
    config: Config
    trusted: bool
    toolbox: Toolbox
    session_id: str
    mode: Mode
    approver: Approver
    emit: Emit
    clock: Callable[[], float]


class Workbench:
    """The acting side of one session. Nothing is imported, opened or made before a call needs it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._turn = 0
        self.safety = Safety(
            judge=_Judge(self),
            approver=bench.approver,
            hooks=_Fire(self),
            policy=self._policy,
            watch=_Watch(self),
            with_secrets=_with_secrets,
            refusals=Refusals(),
        )

    def context_of(self, context: ToolContext, read_only: bool) -> ToolContext:
        """The context of one agent: what it has read, its edits and its shell are its own."""
        shell = self._shell_of(context.agent, read_only)
        if read_only:
            return replace(context, open_shell=shell)
        from orchestrator.edits import ReadingFiles, WorkspaceEdits

        assert isinstance(context.files, WorkspaceFiles)
        edits = WorkspaceEdits(context.files, context.agent, self.checkpoints, self._told_of(context.agent))
        return replace(context, files=ReadingFiles(context.files, edits), open_edits=lambda: edits, open_shell=shell)

    def begin_turn(self, number: int) -> None:
        """What is changed from now on belongs to this prompt of the user."""
        self._turn = number
        if "checkpoints" in self.__dict__:
            self.checkpoints.turn(number)

    def release(self) -> None:
        """Let go of what is kept for undo, until the next change."""
        if "checkpoints" in self.__dict__:
            self.checkpoints.close()

    async def aclose(self) -> None:
        """End every command that still runs, and take away the temporary folder."""
        if "shell" in self.__dict__:
            await self.shell.aclose()
        self.release()
        if "temp" in self.__dict__:
            shutil.rmtree(self.temp, ignore_errors=True)

    # --- the parts --------------------------------------------------------------------------------------------------

    @cached_property
    def permissions(self) -> Permissions:
        from orchestrator.grants import Grants
        from orchestrator.permissions import Permissions, read_rules

        bench = self._bench
        settings = bench.config.permissions
        return Permissions(
            mode=bench.mode,
            rules=read_rules(settings, bench.toolbox.names),
            workspace=bench.workspace,
            home=Path.home(),
            grants=Grants(
                bench.places.state / "grants", bench.workspace, warn=lambda text: self._notice("warning", text)
            ),
            network=bench.config.sandbox.network,
            env=bench.env,
        )

    @cached_property
    def hooks(self) -> Hooks:
        from orchestrator.hooks import open_hooks

        bench = self._bench
        return open_hooks(
            bench.config.hooks,
            workspace=bench.workspace,
            session_id=bench.session_id,
            env=bench.env,
            files=self._hook_files,
            notice=self._notice,
        )

    @cached_property
    def _hook_files(self) -> tuple[Path, ...]:
        bench = self._bench
        return hook_files(bench.places, bench.workspace, trusted=bench.trusted)

    def load_settings(self) -> None:
        """Read rules and hooks now, if there are any. Raises `ConfigError` for what is wrong in them."""
        rules = self._bench.config.permissions
        if rules.deny or rules.ask or rules.allow:
            self.permissions  # noqa: B018  # reading it opens it
        if self.may_have_hooks:
            self.hooks.has("SessionStart")

    @property
    def has_limiting_rules(self) -> bool:
        rules = self._bench.config.permissions
        return bool(rules.deny or rules.ask)

    @property
    def may_have_hooks(self) -> bool:
        return bool(self._bench.config.hooks or self._hook_files)

    @cached_property
    def checkpoints(self) -> Checkpoints:
        from orchestrator.checkpoints import Checkpoints

        bench = self._bench
        folder = bench.places.state / "sessions" / bench.session_id / "checkpoints"
        checkpoints = Checkpoints(folder, bench.workspace, shadow=bench.places.cache / "shadow", notice=self._notice)
        checkpoints.turn(self._turn)
        return checkpoints

    @cached_property
    def temp(self) -> Path:
        """A folder of this session alone, which confined commands may write."""
        return Path(tempfile.mkdtemp(prefix="orch-")).resolve()

    @cached_property
    def sandbox(self) -> Sandbox:
        from orchestrator.sandbox import open_sandbox

        sandbox = open_sandbox(self._bench.config.sandbox.enabled, self._bench.env)
        if sandbox.name == "none":
            why = "it is switched off" if not self._bench.config.sandbox.enabled else "this system offers none"
            self._notice("warning", f"commands run without a sandbox: {why}", "`orch doctor` says what is missing")
        return sandbox

    @cached_property
    def shell(self) -> ShellService:
        from orchestrator.shell import ShellService

        bench = self._bench
        logs = bench.places.state / "sessions" / bench.session_id / "shell"
        return ShellService(
            self.sandbox, workspace=bench.workspace, env=bench.env, keep_env=bench.config.sandbox.keep_env, logs=logs
        )

    # --- the seams --------------------------------------------------------------------------------------------------

    def _policy(self, level: Level, network: bool) -> Policy:
        from orchestrator.sandbox import Policy, secret_places

        settings = self._bench.config.sandbox
        home = Path.home()
        return Policy(
            level,
            network,
            self._bench.workspace,
            self.temp,
            tuple(Path(os.path.expanduser(each)) for each in settings.writable),  # noqa: PTH111  # as the user wrote it
            (*secret_places(home, self._bench.env), *(Path(each).expanduser() for each in settings.unreadable)),
        )

    def _shell_of(self, agent: str, read_only: bool) -> Callable[[], Any]:
        opened: list[Any] = []

        def shell() -> Any:
            if not opened:
                level: Level = "read-only" if read_only else "workspace"
                opened.append(self.shell.for_agent(agent, self._policy(level, False)))
            return opened[0]

        return shell

    def _told_of(self, agent: str) -> Callable[[tuple[str, ...]], None]:
        return lambda paths: self._bench.emit(FilesChanged(agent, self._bench.clock(), paths))

    def _notice(self, level: str, message: str, hint: str = "") -> None:
        self._bench.emit(Notice("parent", self._bench.clock(), level, message, hint))


def hook_files(places: Places, workspace: Path, *, trusted: bool) -> tuple[Path, ...]:
    """Python files with hooks: the user's, and the workspace's when it is trusted."""
    folders = [places.config, *([workspace / ".orch"] if trusted else [])]
    return tuple(path for folder in folders if (path := folder / "hooks.py").is_file())


class _Judge:
    """The permissions, read by the first call that needs a judgement."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def judge(self, tool: Tool[Any], effects: Effects, *, read_only: bool) -> Verdict:
        return self._bench.permissions.judge(tool, effects, read_only=read_only)

    def keep(self, pattern: str) -> None:
        self._bench.permissions.keep(pattern)

    @property
    def concerns_reading(self) -> bool:
        return self._bench.has_limiting_rules


class _Fire:
    """The hooks, of which nothing is loaded where none is configured."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def has(self, event: HookEvent) -> bool:
        return self._bench.may_have_hooks and self._bench.hooks.has(event)

    async def fire(self, event: HookEvent, payload: Mapping[str, Any]) -> HookOutcome:
        return await self._bench.hooks.fire(event, payload)


class _Watch:
    """Looks at the tree around each command that may write, and tells of what it changed."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    async def before_shell(self) -> None:
        await self._bench.checkpoints.before_shell()

    @asynccontextmanager
    async def while_hooks_run(self, agent: str, paths: Sequence[str]) -> AsyncIterator[None]:
        """A hook may change once more what a call has just written (a formatter does): that can be undone too."""
        checkpoints = self._bench.checkpoints
        token = checkpoints.begin(agent, paths)
        try:
            yield
        finally:
            try:
                checkpoints.finish(token)
            except ToolError as error:
                self._bench._notice("warning", f"what a hook changed cannot be undone: {error.message}")

    async def after_shell(self, agent: str) -> Sequence[str]:
        changed = await self._bench.checkpoints.after_shell(agent)
        if changed:
            self._bench._told_of(agent)(tuple(changed))
        return changed


def _with_secrets(files: Files, secrets: Sequence[str]) -> Files:
    if isinstance(files, WorkspaceFiles):
        return files.allowing(secrets)
    from orchestrator.edits import ReadingFiles

    assert isinstance(files, ReadingFiles)
    return files.over(files.files.allowing(secrets))
