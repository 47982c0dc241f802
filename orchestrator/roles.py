"""What a role is, and the book of all roles there are. `role_loading` fills the book from the files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.errors import UsageError
from orchestrator.problems import Problem, did_you_mean

PARENT = "parent"
"""The role of the agent that the user talks to; the only one that delegates."""

BUILT_IN_ROLES = (PARENT, "explorer", "planner", "reviewer")

DEFAULT_TOOLS = ("read_file", "list_files", "glob", "grep", "repo_map", "symbols", "find_references", "git_log")
"""What a role gets that does not say `tools`: reading only. An empty list means no tools."""

GIVEN_TOOLS = frozenset({"delegate", "report"})
"""Given by orch itself (`delegate` to the parent, `report` to every sub-agent), never through a whitelist."""

Place = Literal["workspace", "user", "built-in"]


class Budget(BaseModel):
    """What one run of a role may use. `None` sets no limit of its own; the limits of the whole tree still hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    tokens: Annotated[int, Field(ge=1)] | None = None
    usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    def lower(self, other: Budget) -> Budget:
        """The smaller limit of the two in each unit."""
        tokens = [limit for limit in (self.tokens, other.tokens) if limit is not None]
        usd = [limit for limit in (self.usd, other.usd) if limit is not None]
        return Budget(tokens=min(tokens, default=None), usd=min(usd, default=None))


class RoleFields(BaseModel):
    """The keys of a role file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, str_strip_whitespace=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
    description: Annotated[str, Field(min_length=1)]
    """The parent chooses a role by this."""
    tools: Annotated[tuple[str, ...], Field(strict=False)] = DEFAULT_TOOLS
    """The whitelist, before anything is taken off it; see `effective_tools`."""
    read_only: bool = True
    """Only tools that change nothing, whatever the whitelist says."""
    model: Annotated[str, Field(min_length=1)] = "inherit"
    """`inherit` (the parent's), `small` or `large` (tiers of the configuration), or a model's name."""
    max_turns: Annotated[int, Field(ge=1, le=1000)] = 30
    """Model calls in one run. The parent's own limit is `max_turns` of the configuration."""
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 300.0
    """Seconds."""
    max_summary_tokens: Annotated[int, Field(ge=50, le=20_000)] = 1000
    """Where the summary is cut before it reaches the parent."""
    budget: Budget = Budget()
    extends: Annotated[str, Field(min_length=1)] | None = None
    prompt: Annotated[str, Field(min_length=1)]


class Role(RoleFields):
    """A role with `extends` resolved: every field has its final value."""

    model_config = ConfigDict(defer_build=True)  # made from valid fields, so its own validator is hardly ever needed

    source: str
    """The file it comes from, as messages name it."""
    place: Place

    def effective_tools(self, known: Mapping[str, bool], denied: Collection[str] = ()) -> tuple[str, ...]:
        """The tools that an agent of this role is offered, in the order of the whitelist.

        `known` maps each tool there is to whether it is read-only. Unknown tools, those in `denied`, those that change
        something when the role is read-only, and `delegate` and `report` (given apart from this list) are left out.
        """
        return tuple(
            tool
            for tool in dict.fromkeys(self.tools)
            if tool in known and tool not in denied and tool not in GIVEN_TOOLS and (known[tool] or not self.read_only)
        )


class RoleBook(NamedTuple):
    """The roles that can be used, by name, and everything that is wrong with any role file.

    `origins` says for each role where the value of each field comes from; `replaced` names the files whose role of the
    same name is hidden by the one in use.
    """

    roles: Mapping[str, Role]
    problems: tuple[Problem, ...] = ()
    origins: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    replaced: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    def get(self, name: str) -> Role:
        """The role called `name`. Raises `UsageError` naming the near ones and those there are."""
        role = self.roles.get(name)
        if role is not None:
            return role
        near = did_you_mean(name, self.roles)
        raise UsageError(f"there is no role `{name}`", near or f"the roles are: {', '.join(sorted(self.roles))}")

    def delegates(self) -> tuple[Role, ...]:
        """The roles that the parent can choose from, by name."""
        return tuple(self.roles[name] for name in sorted(self.roles) if name != PARENT)
