"""From a tool call to its one result: parse, mode, run, truncate. Whatever happens, each call gets one result."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

from orchestrator.arguments import parse_arguments, validate_arguments
from orchestrator.citations import Evidence
from orchestrator.errors import ToolError
from orchestrator.events import Emit, Notice, ToolFinished, ToolStarted
from orchestrator.messages import Message, ToolCall, scrub, tool_result
from orchestrator.text_cut import cut_middle
from orchestrator.tool import Tool, ToolContext, ToolResult
from orchestrator.toolbox import Toolbox

ABORTED = "error: aborted: The run was stopped before this call ended."


class Outcome(NamedTuple):
    """What a call came to. `code` is the error's code, empty when it succeeded."""

    call: ToolCall
    message: Message
    report: Mapping[str, Any] | None = None
    code: str = ""


class ToolRunner:
    """Runs the tool calls of one agent, within its whitelist and under the mode's ceiling."""

    def __init__(
        self,
        toolbox: Toolbox,
        allowed: frozenset[str],
        context: ToolContext,
        *,
        read_only: bool,
        max_output: int,
        emit: Emit,
        clock: Callable[[], float],
    ) -> None:
        self.allowed = allowed
        self.evidence = Evidence()
        self.denied: list[str] = []
        self._toolbox = toolbox
        self._context = context
        self._read_only = read_only
        self._max_output = max_output
        self._emit = emit
        self._clock = clock

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
        result, code = await self._attempt(call, cut)
        spent = perf_counter() - began
        text = _one_line(result.display or result.output)
        self._emit(ToolFinished(agent, self._clock(), call.id, call.name, not code, text, round(spent, 4)))
        message = tool_result(call.id, result.output, is_error=bool(code))
        return Outcome(call, message, result.report, code)

    async def _attempt(self, call: ToolCall, cut: bool) -> tuple[ToolResult, str]:
        try:
            tool = self._permitted(call.name)
            args = validate_arguments(tool.args, parse_arguments(call.arguments, cut=cut))
            return self._truncated(tool, await self._within_time(tool, args)), ""
        except ToolError as error:
            text = cut_middle(scrub(render_error(error)), self._max_output)
            return ToolResult(text, display=f"{error.code}: {error.message}"), error.code
        except Exception as error:  # noqa: BLE001  # a bug in one tool must leave its call answered; it is shown in full
            self._show_bug(call.name, error)
            failure = ToolError("crashed", f"The tool {call.name} failed because of a bug in it. Use another tool.")
            return ToolResult(render_error(failure), display="crashed"), "crashed"

    def _permitted(self, name: str) -> Tool[Any]:
        tool = self._tool(name)
        if tool is None:
            raise self._refusal(name)
        if self._read_only and not tool.read_only:
            self.denied.append(f"{self._context.agent}: {name}: the mode is read-only")
            raise ToolError(
                "read_only", f"{name} changes things, and this run is read-only. Report what you would change."
            )
        return tool

    def _tool(self, name: str) -> Tool[Any] | None:
        return self._toolbox.get(name) if name in self.allowed else None

    def _refusal(self, name: str) -> ToolError:
        offered = ", ".join(sorted(self.allowed))
        if name == "delegate":
            return ToolError(
                "depth_limit", "A sub-agent cannot delegate. Do the work yourself, or report what is left."
            )
        if name in self._toolbox.names:
            return ToolError("not_allowed", f"Your role does not have the tool {name}.", tools=offered)
        return ToolError("unknown_tool", f"There is no tool called {scrub(name)[:80]!r}.", tools=offered)

    async def _within_time(self, tool: Tool[Any], args: Any) -> ToolResult:
        limit = asyncio.timeout(tool.timeout or None)
        try:
            async with limit:
                return await tool.run(args, self._context)
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
        trace = "".join(traceback.format_exception(error)[-6:])
        hint = "This is a bug in the tool; the run goes on without it.\n" + trace
        self._emit(Notice(self._context.agent, self._clock(), "error", f"the tool {name} crashed: {error!r}", hint))


def render_error(error: ToolError) -> str:
    """A tool error as the model reads it: a code, one sentence, the key facts."""
    facts = "".join(f"\n{key}: {value}" for key, value in error.context.items() if value is not None)
    return f"error: {error.code}: {error.message}{facts}"


def _one_line(text: str, width: int = 160) -> str:
    line = " ".join(text[: width * 4].split())
    return line if len(line) <= width else line[: width - 1] + "…"
