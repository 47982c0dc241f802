"""From role files to a `RoleBook`: `extends`, checks, and what an untrusted workspace may change.

A role extends roles of its own place or of a place further down (workspace, user, built-in), so a file of the workspace
can never change what a role of the user means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from orchestrator.paths import Places
from orchestrator.problems import Position, Problem, did_you_mean, errors_in
from orchestrator.role_files import RoleFile, role_files, role_folders
from orchestrator.roles import GIVEN_TOOLS, PARENT, Role, RoleBook, RoleFields
from orchestrator.strict_yaml import Document
from orchestrator.validation import problems_of

_ORDER = ("workspace", "user", "built-in")
_ALWAYS_OWN = frozenset({"name", "extends"})


class LoadedRole(NamedTuple):
    """A role file that is right, as a role; `origins` says where the value of each field comes from."""

    role: Role
    origins: Mapping[str, str]


def load_roles(*, workspace: Path, places: Places, tools: Mapping[str, bool], trusted: bool) -> RoleBook:
    """All roles of the workspace, the user and orch itself, with every problem of every file.

    `tools` maps the name of each tool there is to whether it is read-only. Without trust a role of the workspace that
    has the name of a role of the user or of orch can only narrow it. Raises nothing: a bad file is a problem.
    """
    files = all_role_files(workspace, places, tools)
    resolver = Resolver(files, tools)
    chosen: dict[str, list[tuple[RoleFile, LoadedRole]]] = {}
    for file in files:
        loaded = resolver.load(file)
        if loaded is not None:
            chosen.setdefault(loaded.role.name, []).append((file, loaded))
    roles: dict[str, LoadedRole] = {}
    for name, namesakes in chosen.items():
        roles[name], notes = _choose(namesakes, trusted)
        resolver.problems.extend(notes)
    return RoleBook(
        {name: loaded.role for name, loaded in roles.items()},
        tuple(resolver.problems),
        {name: loaded.origins for name, loaded in roles.items()},
        {name: tuple(file.file for file, _ in rest[1:]) for name, rest in chosen.items() if rest[1:]},
    )


def all_role_files(workspace: Path, places: Places, tools: Mapping[str, bool]) -> list[RoleFile]:
    """Every role file there is, those that hide others first."""
    return [file for folder in role_folders(workspace, places) for file in role_files(folder, tools)]


class Resolver:
    """Checks files one by one and resolves `extends`; each file is done once, its problems collected in order."""

    def __init__(self, files: list[RoleFile], tools: Mapping[str, bool]) -> None:
        self.files = files
        self.tools = tools
        self.problems: list[Problem] = []
        self._done: dict[str, LoadedRole | None] = {}
        self._open: list[str] = []
        """The files being resolved, each extending the next."""

    def load(self, file: RoleFile) -> LoadedRole | None:
        """The role of `file`, or `None` when it has errors (which are in `problems` then)."""
        if file.file in self._done:
            return self._done[file.file]
        self._open.append(file.file)
        loaded, problems = self._load(file)
        self._open.pop()
        self.problems.extend(sorted(problems, key=lambda problem: (problem.position.line, problem.position.column)))
        self._done[file.file] = loaded
        return loaded

    def _load(self, file: RoleFile) -> tuple[LoadedRole | None, list[Problem]]:
        problems = list(file.problems)
        document = file.document
        if document is None:
            return None, problems
        base, trouble = self._base(file, document)
        problems += trouble
        merged = _merge(document.data, base)
        try:
            fields = RoleFields.model_validate(merged)
        except ValidationError as error:
            problems += problems_of(error, document, RoleFields)
            fields = None
        problems += self._check_tools(file, document, merged.get("read_only", True) is True)
        if fields is None or errors_in(problems):
            return None, problems
        # Values are validated already; constructing skips a second pass.
        role = Role.model_construct(**dict(fields), source=file.file, place=file.place)
        return LoadedRole(role, _origins(document, role, base)), problems

    def _base(self, file: RoleFile, document: Document) -> tuple[LoadedRole | None, list[Problem]]:
        name = document.data.get("extends")
        if not isinstance(name, str):
            return None, []
        here = document.position(("extends",))
        candidates = list(self._candidates(file, name))
        if not candidates:
            return None, [Problem(file.file, here, *self._no_base(file, name))]
        for candidate in candidates:
            if candidate.file in self._open:
                circle = " → ".join([*self._open[self._open.index(candidate.file) :], candidate.file])
                return None, [Problem(file.file, here, f"`extends` goes round in a circle: {circle}")]
            base = self.load(candidate)
            if base is not None:
                return base, []
        hint = f"put {candidates[0].file} right first"
        return None, [Problem(file.file, here, f"`extends`: the role `{name}` has errors of its own", hint)]

    def _no_base(self, file: RoleFile, name: str) -> tuple[str, str]:
        if name == file.name:
            return f"`extends`: there is no other role `{name}` that it could extend", "extend a built-in role"
        known = {other.name for other in self._visible(file) if other.name not in ("", file.name)}
        return f"`extends`: there is no role `{name}`", did_you_mean(name, known)

    def _candidates(self, file: RoleFile, name: str) -> Iterator[RoleFile]:
        """The files whose role `file` may extend under this name; its own name means the next one further down."""
        visible = list(self._visible(file))
        if name == file.name:
            own = next(index for index, other in enumerate(visible) if other.file == file.file)
            visible = visible[own + 1 :]
        return (other for other in visible if other.name == name and other.document is not None)

    def _visible(self, file: RoleFile) -> Iterator[RoleFile]:
        own = _ORDER.index(file.place)
        return (other for other in self.files if _ORDER.index(other.place) >= own)

    def _check_tools(self, file: RoleFile, document: Document, read_only: bool) -> Iterator[Problem]:
        listed = document.data.get("tools")
        if not isinstance(listed, list):
            return
        for index, tool in enumerate(listed):
            if not isinstance(tool, str):
                continue
            trouble = self._tool_trouble(file, tool, read_only)
            if trouble is not None:
                yield Problem(file.file, document.position(("tools", index)), *trouble)

    def _tool_trouble(self, file: RoleFile, tool: str, read_only: bool) -> tuple[str, str] | None:
        if tool == "delegate":
            if file.place == "built-in" and file.name == PARENT:
                return None
            return "`delegate` cannot be a role's tool", "only the parent delegates; a sub-agent starts no other"
        if tool in GIVEN_TOOLS:
            return None
        if tool not in self.tools:
            near = did_you_mean(tool, self.tools.keys() - GIVEN_TOOLS) or "`orch tools list` shows what there is"
            return f"unknown tool `{tool}`", near
        if read_only and not self.tools[tool]:
            return f"`{tool}` changes things, and the role is read-only", "take it out, or add `read_only: false`"
        return None


def _merge(own: Mapping[str, Any], base: LoadedRole | None) -> dict[str, Any]:
    """The role's own keys over those of the role it extends. `tools:` without a value is a list of none."""
    merged = dict(own)
    if "tools" in own and own["tools"] is None:
        merged["tools"] = []
    if base is None:
        return merged
    for key in RoleFields.model_fields:
        if key not in own and key not in _ALWAYS_OWN:
            merged[key] = getattr(base.role, key)
    if isinstance(own.get("budget"), dict):
        merged["budget"] = {**base.role.budget.model_dump(), **own["budget"]}
    return merged


def _origins(document: Document, role: Role, base: LoadedRole | None) -> dict[str, str]:
    origins = {}
    for key in RoleFields.model_fields:
        if key in document.data:
            line = document.position((key,), of_key=True).line
            origins[key] = f"{document.file}:{line}"
        elif base is not None and key not in _ALWAYS_OWN:
            origins[key] = base.origins[key]
        else:
            origins[key] = "default"
    return origins


# --- namesakes -------------------------------------------------------------------------------------------------------


def _choose(namesakes: list[tuple[RoleFile, LoadedRole]], trusted: bool) -> tuple[LoadedRole, list[Problem]]:
    """Of roles with one name the first, announced where a workspace takes over a role that is not its own."""
    file, loaded = namesakes[0]
    notes = [_hidden(other, file) for other, _ in namesakes[1:] if other.place == file.place]
    below = next((pair for pair in namesakes[1:] if pair[0].place != file.place), None)
    if file.place != "workspace" or below is None:
        return loaded, notes
    replaced, kept = below
    if trusted:
        return loaded, [*notes, _note(file, f"takes the place of the role `{file.name}` of {replaced.file}")]
    narrowed, left_out = _narrow(kept, loaded)
    extra = f"; left out: {', '.join(left_out)}" if left_out else ""
    message = f"has the name of the role `{file.name}` of {replaced.file} and can only narrow it{extra}"
    hint = "with `--trust` the folder is trusted and the file counts in full"
    return narrowed, [*notes, _note(file, message, hint)]


def _narrow(kept: LoadedRole, wanted: LoadedRole) -> tuple[LoadedRole, list[str]]:
    """`kept` with no more rights than either has, and the names of the fields in which `wanted` was not followed."""
    old, new = kept.role, wanted.role
    values: dict[str, Any] = {
        "tools": tuple(tool for tool in old.tools if tool in new.tools),
        "read_only": old.read_only or new.read_only,
        "max_turns": min(old.max_turns, new.max_turns),
        "timeout": min(old.timeout, new.timeout),
        "max_summary_tokens": min(old.max_summary_tokens, new.max_summary_tokens),
        "budget": old.budget.lower(new.budget),
    }
    narrowed = old.model_copy(update=values)
    origins = dict(kept.origins)
    for key in values:
        if getattr(narrowed, key) != getattr(old, key):
            origins[key] = wanted.origins[key]
    keys = [key for key in RoleFields.model_fields if key not in _ALWAYS_OWN and wanted.origins[key] != "default"]
    left_out = [key for key in keys if getattr(new, key) != getattr(narrowed, key)]
    return LoadedRole(narrowed, origins), left_out


def _hidden(file: RoleFile, used: RoleFile) -> Problem:
    """Two files of one place have the same role; within one folder that cannot be meant."""
    note = _note(file, f"not used: {used.file} has a role of the same name, `{file.name}`")
    return note._replace(severity="error", hint="rename one") if file.folder == used.folder else note


def _note(file: RoleFile, message: str, hint: str = "") -> Problem:
    position = file.document.position(("name",)) if file.document else Position(1, 1)
    return Problem(file.file, position, message, hint, "warning")
