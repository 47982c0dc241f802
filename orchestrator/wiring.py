"""Puts a session together from what the user asked for: configuration, roles, model, tools, limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from orchestrator.approval import Approver, PermissionReply, PermissionRequest
from orchestrator.budget import Budget, Limits
from orchestrator.cache_watch import CacheWatch
from orchestrator.config import Loaded, load_config
from orchestrator.delegation import Crew, clock_from
from orchestrator.errors import ConfigError, UsageError
from orchestrator.events import Emit, Notice
from orchestrator.http import HttpPool
from orchestrator.model import Model, Think
from orchestrator.models import Choice, choose_model, open_model
from orchestrator.paths import Places
from orchestrator.problems import errors_in
from orchestrator.prompts import build_system_prompt, read_environment
from orchestrator.providers import load_providers
from orchestrator.role_loading import load_roles
from orchestrator.roles import PARENT, Role, RoleBook
from orchestrator.session import Session, SessionLimits
from orchestrator.tape import Tape
from orchestrator.tool import Code, Search, ToolContext
from orchestrator.toolbox import Toolbox
from orchestrator.trust import is_trusted, trust
from orchestrator.workbench import Bench, Workbench
from orchestrator.workspace import WorkspaceFiles

if TYPE_CHECKING:
    from orchestrator.permissions import Mode


@dataclass(frozen=True, slots=True)
class Setup:
    """What is known before any model is chosen: where we are, what is configured, which roles there are."""

    workspace: Path
    env: Mapping[str, str]
    places: Places
    trusted: bool
    loaded: Loaded
    toolbox: Toolbox
    flags: Mapping[str, object] = field(default_factory=dict)
    use_cache: bool = True
    """Whether what is found out about the code is kept for the next question, and used."""

    def roles(self) -> RoleBook:
        return load_roles(
            workspace=self.workspace, places=self.places, tools=self.toolbox.read_only, trusted=self.trusted
        )

    def choose(self, name: str | None = None) -> Choice:
        """The model of the session, or the one called `name` that a role asks for.

        A base URL goes with the model that it was given for, never with another one's key.
        """
        config = self.loaded.config
        return choose_model(
            flag=name or _text(self.flags.get("model")),
            env=self.env,
            configured=config.model if name is None else None,
            base_url=self.loaded.base_url_for(name or config.model or ""),
            via=config.via,
            providers=load_providers(),
        )


def read_setup(
    workspace: Path,
    env: Mapping[str, str],
    flags: Mapping[str, object],
    *,
    trust_folder: bool = False,
    use_cache: bool = True,
) -> Setup:
    """The setup of a folder. Raises `UsageError` when it is none, `ConfigError` for what is wrong in files."""
    try:
        root = workspace.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"the workspace {workspace} cannot be opened: {error.strerror if isinstance(error, OSError) else error}",
            "give a folder with -C DIR",
        ) from None
    if not root.is_dir():
        raise UsageError(f"the workspace {workspace} is not a folder", "give a folder with -C DIR")
    places = Places.find(env)
    if trust_folder:
        trust(root, places)
    trusted = is_trusted(root, places)
    loaded = load_config(workspace=root, env=env, flags=flags, trusted=trusted)
    return Setup(root, env, places, trusted, loaded, Toolbox(), flags, use_cache)


class Models:
    """The models of a session by name, each opened when the first agent needs it, on one pool of connections."""

    def __init__(self, setup: Setup, tape: Tape | None = None) -> None:
        self._setup = setup
        self._tape = tape or Tape()
        self._pool = HttpPool()
        self._open: dict[str, Model] = {}
        self._session_model = self._opened("")

    def for_role(self, role: Role) -> Model:
        """The model of `role`. Raises `ConfigError` when what it asks for cannot be used."""
        name = self._setup.loaded.config.model_for(role.model, "")
        if not name or role.name == PARENT:
            return self._session_model
        return self._named(name)

    def small(self) -> Model | None:
        """The configured small model. Raises `ConfigError` when it cannot be used."""
        name = self._setup.loaded.config.small
        return self._named(name) if name else None

    def _named(self, name: str) -> Model:
        if name not in self._open:
            self._open[name] = self._opened(name)
        return self._open[name]

    async def aclose(self) -> None:
        for model in [self._session_model, *self._open.values()]:
            await model.aclose()
        await self._pool.aclose()

    def _opened(self, name: str) -> Model:
        """The model that is wanted by this name; empty: the session's."""
        replayed = self._tape.replayed(name)
        return replayed or self._tape.around(self._asked(self._setup.choose(name or None)), name)

    def _asked(self, choice: Choice) -> Model:
        config = self._setup.loaded.config
        return open_model(
            choice,
            env=self._setup.env,
            pool=self._pool,
            cache_folder=self._setup.places.cache,
            retries=config.retries,
            idle_timeout=config.stream_idle_timeout,
            overrides=config.model_info,
        )


class NobodyToAsk:
    """The approver of a tree that only reads, where no question can come up."""

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        return PermissionReply("no", "nobody can be asked in this run", by="headless")


def open_session(
    setup: Setup,
    models: Models,
    emit: Emit,
    *,
    mode: Mode = "plan",
    approver: Approver | None = None,
) -> Session:
    """A session with its one budget. In `plan` mode its whole tree is read-only, and nobody is asked."""
    config = setup.loaded.config
    book = setup.roles()
    parent = book.get(PARENT)
    clock = clock_from(perf_counter())
    _announce(setup, book, emit, clock)
    limits = Limits(config.max_tokens, config.max_usd)
    _require_price(limits, models.for_role(parent))
    session_id = new_session_id()
    read_only = mode == "plan"
    bench = Workbench(
        Bench(
            setup.workspace,
            setup.places,
            setup.env,
            config,
            setup.trusted,
            setup.toolbox,
            session_id,
            mode,
            approver or NobodyToAsk(),
            emit,
            clock,
        )
    )
    bench.load_settings()
    _tell_of_thinking(
        config.think, models.for_role(parent), lambda text: emit(Notice(PARENT, clock(), "warning", text))
    )
    crew = Crew(
        toolbox=setup.toolbox,
        context=tool_context(setup.workspace, setup.places.cache / "code" if setup.use_cache else None),
        read_only=read_only,
        safety=bench.safety,
        workbench=bench.context_of,
        begin_turn=bench.begin_turn,
        release=bench.release,
        close=bench.aclose,
        denied_tools=frozenset(config.tools.deny),
        system=_prompts(setup, book, read_only=read_only),
        model_for=models.for_role,
        small=models.small,
        emit=emit,
        clock=clock,
        transcripts=setup.places.state / "sessions" / session_id,
        watch=CacheWatch(),
        think=config.think,
        max_output=config.max_tool_output,
    )
    session_limits = SessionLimits(config.timeout, config.max_turns, config.max_parallel)
    return Session(session_id, crew, book, Budget(limits), session_limits)


def new_session_id() -> str:
    """Sorts by time; the random part keeps sessions of one second apart."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.urandom(3).hex()}"


def tool_context(workspace: Path, cache_folder: Path | None = None) -> ToolContext:
    """What tools use to look into `workspace`, each part opened once by the first call that needs it.

    What is found out about the code is kept in `cache_folder`, if one is given.
    """
    files = WorkspaceFiles(workspace)

    @cache
    def search() -> Search:
        from orchestrator.search import find_ripgrep, open_search

        return open_search(files, ripgrep=find_ripgrep(workspace))

    @cache
    def code() -> Code:
        from orchestrator.code.facts_cache import FactsCache
        from orchestrator.code.index import CodeIndex

        return CodeIndex(files, search(), FactsCache(cache_folder) if cache_folder else None)

    return ToolContext(files, search, code)


def _prompts(setup: Setup, book: RoleBook, *, read_only: bool) -> Callable[[Role], str]:
    """The system prompt by role, built once: every agent of a role gets the same bytes."""
    environment = read_environment(setup.workspace)
    built: dict[str, str] = {}

    def prompt(role: Role) -> str:
        if role.name not in built:
            roles = book.delegates() if role.name == PARENT else ()
            acting = not (read_only or role.read_only)
            built[role.name] = build_system_prompt(role, roles=roles, environment=environment, acting=acting)
        return built[role.name]

    return prompt


def _announce(setup: Setup, book: RoleBook, emit: Emit, clock: Callable[[], float]) -> None:
    """What was left out or is wrong, said once at the start."""
    for text in (*setup.loaded.warnings, *map(str, setup.loaded.ignored)):
        emit(Notice(PARENT, clock(), "warning", text))
    for problem in errors_in(book.problems):
        emit(Notice(PARENT, clock(), "warning", str(problem), "`orch roles check` shows every problem"))


def _tell_of_thinking(think: Think | None, model: Model, tell: Callable[[str], None]) -> None:
    """Say it when the model cannot think as it was told to."""
    if think is None:
        return
    from orchestrator.thinking import think_notice

    if note := think_notice(model.name, model.info, think):
        tell(note)


def _require_price(limits: Limits, model: Model) -> None:
    if limits.usd is not None and model.info.input_price is None:
        raise ConfigError(
            f"the price of {model.name} is not known, so --max-usd cannot be kept",
            "limit the run with --max-tokens, or give the price under `models:` in the configuration",
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
