"""From a tool call to its one result: parse, loop guard, mode, hook, permission, run, hook, truncate.

Whatever happens, each call gets exactly one result.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.arguments import parse_arguments, validate_arguments
from orchestrator.citations import Evidence
from orchestrator.errors import ToolError
from orchestrator.events import Emit, Notice, ToolFinished, ToolOutput, ToolStarted
from orchestrator.gate import Gate, Rights, Who, with_notes
from orchestrator.loop_guard import LoopGuard
from orchestrator.messages import Message, ToolCall, scrub, tool_result
from orchestrator.result import StopReason
from orchestrator.text_cut import cut_middle
from orchestrator.tool import Shown, Todo, Tool, ToolContext, ToolResult
from orchestrator.toolbox import Toolbox

if TYPE_CHECKING:
    from orchestrator.todos import TodoList

ABORTED = "error: aborted: The run was stopped before this call ended."


class Outcome(NamedTuple):
    """What a call came to. `code` is the error's code, empty when it succeeded; `stop` ends the agent."""

    call: ToolCall
    message: Message
    report: Mapping[str, Any] | None = None
    code: str = ""
    stop: StopReason | None = None


class ToolRunner:
    """Runs the tool calls of one agent, within its whitelist and through its gate."""

    def __init__(
        self,
        toolbox: Toolbox,
        allowed: frozenset[str],
        context: ToolContext,
        gate: Gate,
        todos: TodoList,
        *,
        max_output: int,
        emit: Emit,
        clock: Callable[[], float],
    ) -> None:
        self.allowed = allowed
        self.evidence = Evidence()
        self.gate = gate
        self.guard = LoopGuard()
        self._todos = todos
        self._toolbox = toolbox
        self._context = context
        self._max_output = max_output
        self._emit = emit
        self._clock = clock

    def saw(self, shown: Sequence[Shown]) -> None:
        """The agent was shown these lines with its task: it may cite them, and change the files."""
        self.evidence.add(shown)
        for path in dict.fromkeys(part.path for part in shown):
            with suppress(ToolError):
                self._context.files.read_text(path)

    @property
    def todos(self) -> Sequence[Todo]:
        return self._todos.items

    def forgotten(self) -> None:
        """Results were taken out of the conversation: to ask for them again is no repetition."""
        self.guard = LoopGuard()

    def begin(self, who: Who) -> None:
        """A new task: what was repeated for the one before does not count."""
        self.gate.who = who
        self.guard = LoopGuard()

    def is_eager(self, call: ToolCall) -> bool:
        """Whether the call may start while the reply still streams."""
        tool = self._tool(call.name)
        return tool is None or (tool.read_only and tool.eager)

    def is_parallel(self, call: ToolCall) -> bool:
        tool = self._tool(call.name)
        return tool is None or tool.read_only

    async def run(self, call: ToolCall, *, cut: bool = False) -> Outcome:
        """The outcome of `call`; `cut`: the reply that holds it ended at the output limit."""
        agent = self._context.agent
        began = perf_counter()
        self._emit(ToolStarted(agent, self._clock(), call.id, call.name, _one_line(call.arguments)))
        result, code, stop = await self._guarded(call, cut)
        spent = perf_counter() - began
        text = _one_line(result.display or result.output)
        self._emit(ToolFinished(agent, self._clock(), call.id, call.name, not code, text, round(spent, 4)))
        message = tool_result(call.id, result.output, is_error=bool(code))
        return Outcome(call, message, result.report, code, stop)

    def round_note(self, calls: Sequence[ToolCall]) -> str:
        """What the model is reminded of after the results of one reply, often nothing."""
        return self._todos.round_ended([call.name for call in calls])

    async def _guarded(self, call: ToolCall, cut: bool) -> tuple[ToolResult, str, StopReason | None]:
        """Run a call unless it only repeats what came to nothing before."""
        verdict = self.guard.before(call)
        if verdict.action == "warn":
            return ToolResult(verdict.text, display="a repetition, not run"), "repeated", None
        if verdict.action == "stop" and not await self.gate.ask_to_go_on(call, verdict.text):
            return ToolResult(verdict.text, display="a repetition, not run"), "repeated", "loop_guard"
        result, code = await self._attempt(call, cut)
        self.guard.after(call, result.output, is_error=bool(code))
        return result, code, "denied" if self.gate.ended else None

    async def _attempt(self, call: ToolCall, cut: bool) -> tuple[ToolResult, str]:
        try:
            tool = self._offered(call.name)
            args = validate_arguments(tool.args, parse_arguments(call.arguments, cut=cut))
            rights = await self.gate.admit(call, tool, args, self._context_of(call))
            result, code = await self._admitted(call, tool, rights)
            result = await self.gate.finished(call, rights, result, code)
            return self._truncated(tool, replace(result, output=with_notes(result.output, rights.notes))), code
        except ToolError as error:
            return self._failed(error), error.code
        except Exception as error:  # noqa: BLE001  # a bug in one tool must leave its call answered; it is shown in full
            self._show_bug(call.name, error)
            failure = ToolError("crashed", f"The tool {call.name} failed because of a bug in it. Use another tool.")
            return ToolResult(render_error(failure), display="crashed"), "crashed"

    async def _admitted(self, call: ToolCall, tool: Tool[Any], rights: Rights) -> tuple[ToolResult, str]:
        try:
            result = await self.gate.run(call, rights, lambda context: self._within_time(tool, rights.args, context))
        except ToolError as error:
            return self._failed(error), error.code
        self._todos.note_call(call.name, rights.effects.command, wrote=_wrote(rights))
        return result, ""

    def _failed(self, error: ToolError) -> ToolResult:
        text = cut_middle(scrub(render_error(error)), self._max_output)
        return ToolResult(text, display=f"{error.code}: {error.message}")

    def _context_of(self, call: ToolCall) -> ToolContext:
        def tell(text: str) -> None:
            self._emit(ToolOutput(self._context.agent, self._clock(), call.id, text))

        return replace(self._context, on_output=tell)

    def _offered(self, name: str) -> Tool[Any]:
        tool = self._tool(name)
        if tool is None:
            raise self._refusal(name)
        return tool

    def _tool(self, name: str) -> Tool[Any] | None:
        return self._toolbox.get(name) if name in self.allowed else None

    def _refusal(self, name: str) -> ToolError:
        offered = ", ".join(sorted(self._toolbox.usable(self.allowed, read_only=self.gate.read_only)))
        if name == "delegate":
            return ToolError(
                "depth_limit", "A sub-agent cannot delegate. Do the work yourself, or report what is left."
            )
        if name in self._toolbox.names:
            return ToolError("not_allowed", f"Your role does not have the tool {name}.", tools=offered)
        return ToolError("unknown_tool", f"There is no tool called {scrub(name)[:80]!r}.", tools=offered)

    async def _within_time(self, tool: Tool[Any], args: Any, context: ToolContext) -> ToolResult:
        limit = asyncio.timeout(tool.timeout or None)
        try:
            async with limit:
                return await tool.run(args, context)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ToolError("timeout", f"{tool.name} was stopped after {tool.timeout:g} s. Narrow it down.") from None

    def _truncated(self, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """The result with its text within the tool's limit, and only those lines as evidence that the model sees."""
        output = scrub(result.output)
        own = tool.max_output != Tool.max_output
        kept = cut_middle(output, tool.max_output if own else self._max_output)
        if kept == output:
            self.evidence.add(result.shown)
        else:
            for part in result.shown:
                visible = tuple(line for line in part.lines if line.strip() in kept)
                self.evidence.add([type(part)(part.path, part.first, visible)])
        return ToolResult(kept, result.display, (), result.report)

    def _show_bug(self, name: str, error: Exception) -> None:
        lines = traceback.format_exception(error)
        trace = "".join([*lines[:1], *lines[1:][-6:]])
        hint = "This is a bug in the tool; the run goes on without it.\n" + trace
        self._emit(Notice(self._context.agent, self._clock(), "error", f"the tool {name} crashed: {error!r}", hint))


def render_error(error: ToolError) -> str:
    """A tool error as the model reads it: a code, one sentence, the key facts."""
    facts = "".join(f"\n{key}: {value}" for key, value in error.context.items() if value is not None)
    return f"error: {error.code}: {error.message}{facts}"


def _wrote(rights: Rights) -> bool:
    """Whether the call may have changed something in the workspace."""
    if rights.effects.command:
        return rights.verdict is not None and rights.verdict.level != "read-only"
    return bool(rights.effects.writes)


def _one_line(text: str, width: int = 160) -> str:
    line = " ".join(text[: width * 4].split())
    return line if len(line) <= width else line[: width - 1] + "…"
