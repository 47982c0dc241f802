"""The rules of the configuration, and what each of them says about tools, commands and files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.errors import ConfigError
from orchestrator.permission_patterns import CommandPattern, PathPattern, PatternError, Spot, Word, parse_rule
from orchestrator.problems import did_you_mean

if TYPE_CHECKING:
    from orchestrator.config import PermissionSettings

WRITING_TOOLS = frozenset({"edit_file", "write_file", "apply_patch"})
READING_TOOL = "read_file"
REDIRECTION_TOOL = "write_file"
"""The tool as which a redirection of the shell is judged."""


@dataclass(frozen=True)
class Rule:
    """`TOOL` or `TOOL(pattern)`; `tool` may be `*`. A pattern of `*` is about files, whatever tool touches them."""

    tool: str
    pattern: str | None

    @classmethod
    def parse(cls, text: str, tool_names: Collection[str] = ()) -> Rule:
        """Raises `PatternError`; for an unknown tool only where `tool_names` are given."""
        tool, pattern = parse_rule(text)
        if tool_names and tool != "*" and tool not in tool_names:
            hint = did_you_mean(tool, tool_names)
            raise PatternError(f"there is no tool `{tool}`" + (f"; {hint}" if hint else ""))
        return cls(tool, pattern)

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"

    # --- what an allow rule grants, to the letter -----------------------------------------------------------------

    def grants_tool(self, tool: str) -> bool:
        return self.pattern is None and self.tool in ("*", tool)

    def grants_command(self, tool: str, words: Sequence[Word]) -> bool:
        return self.tool == tool and self.pattern is not None and self._command.grants(words)

    def grants_file(self, tool: str, spots: Sequence[Spot]) -> bool:
        if self.pattern is None:
            return self.tool in ("*", tool)
        return self.tool in ("*", tool) and self._path.grants(spots)

    @property
    def names_program(self) -> bool:
        return self.pattern is not None and self._command.names_program

    # --- what a deny or ask rule is about, widely -------------------------------------------------------------------

    def hits_tool(self, tool: str) -> bool:
        return self.grants_tool(tool)

    def hits_command(self, tool: str, words: Sequence[Word]) -> bool:
        return self.tool == tool and self.pattern is not None and self._command.hits(words)

    def hits_write(self, spots: Sequence[Spot], *, whole_folder: bool = False) -> bool:
        """A file pattern of any tool that writes is about all writing, also by commands."""
        return self._is_about(WRITING_TOOLS) and self._path.hits(spots, whole_folder=whole_folder)

    def hits_read(self, spots: Sequence[Spot]) -> bool:
        return self._is_about({READING_TOOL}) and self._path.hits(spots)

    def hits_file(self, tool: str, spots: Sequence[Spot]) -> bool:
        """The file pattern of this very tool."""
        return self._is_about({tool}) and self._path.hits(spots)

    def _is_about(self, tools: Collection[str]) -> bool:
        return self.pattern is not None and (self.tool == "*" or self.tool in tools)

    @cached_property
    def _command(self) -> CommandPattern:
        return CommandPattern(self.pattern or "*")

    @cached_property
    def _path(self) -> PathPattern:
        return PathPattern(self.pattern or "**")


class Rules(NamedTuple):
    """deny > ask > allow."""

    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    allow: tuple[Rule, ...] = ()


def read_rules(settings: PermissionSettings, tool_names: Collection[str]) -> Rules:
    """The rules of the configuration. Raises `ConfigError` that names every one that is wrong."""
    problems: list[str] = []
    lists = (tuple(_read(key, getattr(settings, key), tool_names, problems)) for key in ("deny", "ask", "allow"))
    rules = Rules(*lists)
    if problems:
        raise ConfigError("\n".join(problems), "`orch permissions list` shows the rules; `orch tools list` the tools")
    return rules


def _read(key: str, texts: Iterable[str], tool_names: Collection[str], problems: list[str]) -> Iterator[Rule]:
    for text in texts:
        try:
            yield Rule.parse(text, tool_names)
        except PatternError as error:
            problems.append(f"permissions.{key}: the rule `{text}` is wrong: {error}")
