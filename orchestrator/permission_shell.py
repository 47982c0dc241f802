"""Whether a command may be run, judged by each simple command that it is made of, never by its text.

A command passes when every simple command in it only reads, or is allowed by a rule or a grant, and every file that a
redirection writes may be written. A deny or ask rule holds when it is about any of them, in whatever spelling.

The network: with it off in the configuration, a command that wants it is asked, and gets it once allowed. An allow rule
or grant that names the program (`run_shell(curl *)`) gives it too; one about all commands (`run_shell`) does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from orchestrator.command_rules import JudgedCommand, Surroundings, judge_command
from orchestrator.permission_calls import ShellCall, open_call
from orchestrator.permission_law import Law
from orchestrator.permission_offers import offer_for_command, offer_for_files
from orchestrator.permission_rules import REDIRECTION_TOOL, Rule
from orchestrator.permission_verdict import Mode, Source, Verdict
from orchestrator.protected_paths import ProtectedPaths

_MOST_REASONS = 8


class _Open(NamedTuple):
    """What of a command is neither harmless nor allowed. `by` has what allowed the rest of it."""

    commands: tuple[JudgedCommand, ...]
    writes: tuple[str | None, ...]
    by: frozenset[Source]


class ShellJudge:
    """The judge of the commands of one session."""

    def __init__(
        self,
        law: Law,
        paths: ProtectedPaths,
        *,
        mode: Mode,
        network: bool,
        workspace: Path,
        home: Path,
        env: Mapping[str, str],
    ) -> None:
        self._law = law
        self._paths = paths
        self._mode = mode
        self._network = network
        self._root = Path(os.path.realpath(workspace))
        self._home = home
        self._env = env

    def judge(self, tool: str, command: str, cwd: str, *, read_only: bool) -> Verdict:
        """What is to be done with `command` in the folder `cwd`, relative to the workspace or absolute."""
        around = Surroundings(self._root, Path(os.path.normpath(self._root / cwd)), self._home, self._env)
        call = open_call(command, judge_command(command, around), around)
        if call.judged.forbidden:
            return Verdict("deny", "forbidden", (f"never to be run: {call.judged.forbidden}",), call.lines)
        denied = self._law.denying(lambda rule: self._is_about(rule, tool, call))
        if denied is not None:
            return Verdict("deny", "rule", (f"the rule `{denied}` forbids it{_known_late(call)}",), call.lines)
        if read_only and (call.judged.level != "read-only" or call.unclear or call.judged.network):
            return Verdict("deny", "mode", tuple(_more_than_reading(call)), call.lines, level="read-only")
        return self._weighed(tool, call, read_only=read_only)

    def _weighed(self, tool: str, call: ShellCall, *, read_only: bool) -> Verdict:
        """The verdict on a command that is not refused outright."""
        reads = call.judged.level == "read-only" and not call.unclear
        wished = Verdict(
            "ask",
            "default",
            lines=call.lines,
            level="read-only" if reads else "workspace",
            network=not read_only and (self._network or call.judged.network),
        )
        guarded = tuple(dict.fromkeys(self._guarded(call)))
        asking = self._law.asking(lambda rule: self._is_about(rule, tool, call))
        if guarded or asking is not None:
            why = (*guarded, *((f"the rule `{asking}` says to ask",) if asking is not None else ()))
            return wished._replace(by="protected" if guarded else "rule", why=self._reasons(why, call))
        left = self._left_open(tool, call)
        if not (left.commands or left.writes or self._unclear(tool, call)):
            by: Source = next((by for by in ("grant", "rule", "mode") if by in left.by), "default")
            return wished._replace(decision="allow", by="mode" if read_only else by)
        why = (*self._unclear(tool, call), *self._why_open(left), *self._law.remarks)
        return wished._replace(why=self._reasons(why, call), pattern=self._offer(tool, call, left))

    def _reasons(self, why: tuple[str, ...], call: ShellCall) -> tuple[str, ...]:
        more = (f"and {len(why) - _MOST_REASONS} more reasons",) if len(why) > _MOST_REASONS else ()
        wants = ("it wants the network, which it gets if allowed",) if self._is_cut_off(call.judged.network) else ()
        return (*why[:_MOST_REASONS], *more, *wants)

    def _why_open(self, left: _Open) -> Iterator[str]:
        yield from _doings(left.commands)
        for path in left.writes:
            shown = None if path is None else path.removeprefix(f"{self._root}/")
            yield f"it writes {shown}" if shown else "it writes a file whose name is known only when it runs"

    def _is_cut_off(self, network: bool) -> bool:
        return network and not self._network

    # --- deny and ask ----------------------------------------------------------------------------------------------

    def _is_about(self, rule: Rule, tool: str, call: ShellCall) -> bool:
        """Whether a deny or ask rule holds for any part of the call."""
        return (
            rule.hits_tool(tool)
            or any(rule.hits_command(tool, words) for words in call.spellings)
            or any(rule.hits_read(self._paths.spots(path)) for path in call.reads)
            or any(rule.hits_write(self._paths.spots(path), whole_folder=whole) for path, whole in call.writes)
        )

    def _guarded(self, call: ShellCall) -> Iterator[str]:
        """Why files that the call names are asked each time."""
        for path, whole in call.writes:
            if reason := self._paths.writing(self._paths.spots(path), whole_folder=whole):
                yield f"it writes: {reason}"
        for path in call.reads:
            if reason := self._paths.reading(self._paths.spots(path)):
                yield f"it reads: {reason}"

    # --- allow ------------------------------------------------------------------------------------------------------

    def _left_open(self, tool: str, call: ShellCall) -> _Open:
        by: set[Source] = set()
        commands = tuple(each for each in call.judged.commands if not self._passes(tool, each, call, by))
        writes = tuple(path for path in call.redirected if not self._may_write(tool, path, by))
        return _Open(commands, writes, frozenset(by))

    def _passes(self, tool: str, command: JudgedCommand, call: ShellCall, by: set[Source]) -> bool:
        """Whether one simple command only reads or is allowed; notes in `by` what allowed it."""
        cut_off = self._is_cut_off(command.network)
        mixed = call.judged.level != "read-only" or bool(call.unclear)
        # A line that also changes something runs where all of it may write: what expands does not pass as reading then.
        if call.only_reads(command) and not cut_off and (command.plain or not mixed):
            return True
        allowed = self._law.allowing(
            lambda rule: (
                (not cut_off and rule.grants_tool(tool))
                or (command.plain and rule.grants_command(tool, command.words) and (rule.names_program or not cut_off))
            )
        )
        if allowed is not None:
            by.add(allowed.by)
        return allowed is not None

    def _may_write(self, tool: str, path: str | None, by: set[Source]) -> bool:
        """Whether a redirection may write `path`: as the tool that writes whole files might. `None` is not known."""
        spots = None if path is None else self._paths.spots(path)
        allowed = self._law.allowing(
            lambda rule: rule.grants_tool(tool) or (spots is not None and rule.grants_file(REDIRECTION_TOOL, spots))
        )
        if allowed is not None:
            by.add(allowed.by)
        elif spots is not None and self._mode == "accept-edits":
            by.add("mode")
        else:
            return False
        return True

    def _unclear(self, tool: str, call: ShellCall) -> tuple[str, ...]:
        """Why the parts do not say what the whole does. A rule about all commands covers even that."""
        parts = bool(call.redirected) or any(each.level != "read-only" for each in call.judged.commands)
        known = parts or call.judged.level == "read-only"
        why = call.unclear or (() if known else call.judged.why or ("it is not known what it does",))
        if self._is_cut_off(call.judged.network) and not any(each.network for each in call.judged.commands):
            return (*why, "some part of it wants the network")
        if why and not call.judged.network and self._law.allowing(lambda rule: rule.grants_tool(tool)) is not None:
            return () if not self._law.has_command_limits(tool) else why
        return why

    def _offer(self, tool: str, call: ShellCall, left: _Open) -> str:
        """The one rule that would let all of it pass the next time, empty where there is none."""
        if call.unclear or not call.offerable or (left.commands and left.writes):
            return ""
        if left.writes:
            spots = [self._paths.spots(path)[0].relative for path in left.writes if path is not None]
            inside = [path for path in spots if path is not None]
            return offer_for_files(REDIRECTION_TOOL, inside) if len(inside) == len(left.writes) else ""
        if not left.commands or not all(each.plain for each in left.commands):
            return ""
        offer = offer_for_command(left.commands[0].words)
        fits = offer and all(Rule.parse(offer).grants_command(tool, each.words) for each in left.commands)
        return offer if fits else ""


def _known_late(call: ShellCall) -> str:
    late = any(words and words[0] is None for words in call.spellings)
    return "; the program is only known when it runs, write it out" if late else ""


def _more_than_reading(call: ShellCall) -> Iterator[str]:
    """Why a command is refused where only reading is allowed."""
    yield "only reading is allowed here"
    if call.judged.network:
        yield "it wants the network"
    yield from call.unclear
    yield from _doings(tuple(each for each in call.judged.commands if each.level != "read-only"))
    if not call.judged.commands:
        yield from call.judged.why


def _doings(commands: tuple[JudgedCommand, ...]) -> Iterator[str]:
    for command in commands:
        reads = command.level == "read-only"
        told = "what it reads is known only when it runs" if reads else "it is not known what it does"
        yield f"`{command.text}`: {command.why or told}"
