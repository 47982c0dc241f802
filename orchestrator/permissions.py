"""Whether a call may be made: rules, grants, modes and protected files, for file tools and for commands.

The order: what is forbidden, deny rules, the mode's ceiling, protected files, ask rules, allow rules and grants, what
the mode lets pass. Whatever is left is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.grants import Grants
from orchestrator.path_names import shown_path
from orchestrator.permission_law import Law
from orchestrator.permission_offers import offer_for_files
from orchestrator.permission_patterns import Spot
from orchestrator.permission_rules import Rule, Rules, read_rules
from orchestrator.permission_verdict import Mode, Source, Verdict
from orchestrator.protected_paths import ProtectedPaths
from orchestrator.queued_approval import QueuedApprover
from orchestrator.tool import Effects, Tool

if TYPE_CHECKING:
    from orchestrator.permission_shell import ShellJudge

__all__ = ["Mode", "Permissions", "QueuedApprover", "Rules", "Verdict", "read_rules"]


class _Files(NamedTuple):
    """The files of a call, each with every name it has."""

    reads: tuple[tuple[str, tuple[Spot, ...]], ...]
    writes: tuple[tuple[str, tuple[Spot, ...]], ...]


class Permissions:
    """The judge of one session. `mode` and `network` are what the whole session runs under."""

    def __init__(
        self,
        *,
        mode: Mode,
        rules: Rules,
        workspace: Path,
        home: Path,
        grants: Grants,
        network: bool,
        env: Mapping[str, str],
    ) -> None:
        self._mode = mode
        self._network = network
        self._workspace, self._home, self._env = workspace, home, env
        self._law = Law(rules, grants)
        self._paths = ProtectedPaths(workspace, home, env)
        self._opened_shell: ShellJudge | None = None

    def judge(self, tool: Tool[Any], effects: Effects, *, read_only: bool) -> Verdict:
        """What is to be done with a call of `tool`. `read_only`: the agent may only read, whatever the mode."""
        read_only = read_only or self._mode == "plan"
        if effects.command:
            return self._shell.judge(tool.name, effects.command, effects.cwd, read_only=read_only)
        if read_only and not tool.read_only:
            return Verdict("deny", "mode", (f"{tool.name} changes things, and only reading is allowed here",))
        return self._judge_files(tool, effects)

    def keep(self, pattern: str) -> None:
        """Allow what `pattern` says from now on, here and in later sessions. Raises `ConfigError`: it is malformed."""
        self._law.keep(pattern)

    @property
    def _shell(self) -> ShellJudge:
        if self._opened_shell is None:
            from orchestrator.permission_shell import ShellJudge

            self._opened_shell = ShellJudge(
                self._law,
                self._paths,
                mode=self._mode,
                network=self._network,
                workspace=self._workspace,
                home=self._home,
                env=self._env,
            )
        return self._opened_shell

    # --- files ------------------------------------------------------------------------------------------------------

    def _judge_files(self, tool: Tool[Any], effects: Effects) -> Verdict:
        files = _Files(*(tuple((path, self._paths.spots(path)) for path in paths) for paths in effects[:2]))
        verb, shown = ("read", files.reads) if tool.read_only else ("change", files.writes)
        lines = tuple(dict.fromkeys(f"{verb} {_named(path, spots)}" for path, spots in shown))
        denied = self._law.denying(lambda rule: _hits(rule, tool.name, files))
        if denied is not None:
            return Verdict("deny", "rule", (f"the rule `{denied}` forbids it",), lines)
        guarded = tuple(self._guarded(files))
        asking = self._law.asking(lambda rule: _hits(rule, tool.name, files))
        if guarded or asking is not None:
            why = (*guarded, *((f"the rule `{asking}` says to ask",) if asking is not None else ()))
            by: Source = "protected" if guarded else "rule"
            return Verdict("ask", by, why, lines, secrets=tuple(self._secrets(files)))
        return Verdict("allow", "default", (), lines) if tool.read_only else self._changing(tool, files, lines)

    def _changing(self, tool: Tool[Any], files: _Files, lines: tuple[str, ...]) -> Verdict:
        """The verdict on changes that nothing speaks against."""
        name = tool.name
        every = [self._law.allowing(partial(Rule.grants_file, tool=name, spots=spots)) for _, spots in files.writes]
        every = every or [self._law.allowing(partial(Rule.grants_tool, tool=name))]
        granted = [each for each in every if each is not None]
        if len(granted) == len(every):
            by: Source = "grant" if any(each.by == "grant" for each in granted) else "rule"
            return Verdict("allow", by, tuple(f"the rule `{each.rule}` allows it" for each in granted), lines)
        if files.writes and self._mode == "accept-edits":
            return Verdict("allow", "mode", ("edits in the workspace are accepted",), lines)
        why = "changes of files are asked" if files.writes else f"what {name} does is asked"
        real = [spots[0].relative or "." for _, spots in files.writes]
        offer = offer_for_files(name, real) if files.writes else "" if tool.judged else name
        return Verdict("ask", "default", (why, *self._law.remarks), lines, offer)

    def _guarded(self, files: _Files) -> Iterator[str]:
        for _, spots in files.writes:
            if reason := self._paths.writing(spots):
                yield reason
        for _, spots in files.reads:
            if reason := self._paths.reading(spots):
                yield reason

    def _secrets(self, files: _Files) -> Iterator[str]:
        """The names by which secret files may be read once the user has said yes."""
        for path, spots in (*files.reads, *files.writes):
            if self._paths.reading(spots):
                yield path
                yield from (shown_path(spot.relative) for spot in spots if spot.relative is not None)


def _named(path: str, spots: tuple[Spot, ...]) -> str:
    """A file for people: where it really is, if that is in the workspace."""
    return shown_path(spots[0].relative) if spots and spots[0].relative is not None else path


def _hits(rule: Rule, tool: str, files: _Files) -> bool:
    """Whether a deny or ask rule is about a call of `tool` on these files."""
    return (
        rule.hits_tool(tool)
        or any(rule.hits_read(spots) or rule.hits_file(tool, spots) for _, spots in files.reads)
        or any(rule.hits_write(spots) or rule.hits_file(tool, spots) for _, spots in files.writes)
    )
