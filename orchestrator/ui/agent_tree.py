"""The state of a run as a tree of agents, kept up from events and drawn as lines; no terminal is touched here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.events import (
    AgentFinished,
    AgentStarted,
    Event,
    PermissionAsked,
    PermissionSettled,
    Progress,
    ReplyVoided,
    Retry,
    Text,
    Thinking,
    TodosChanged,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from orchestrator.safe_text import Stripper, cell_width, cut_cells, safe_line
from orchestrator.ui.phrases import call_line, count, duration, money, retry_line, tool_line
from orchestrator.ui.terminal import Glyphs

Style = Literal["", "bold", "dim", "green", "red", "yellow", "cyan"]
Span = tuple[str, Style]
Line = list[Span]

_TAIL = 300
"""Characters of the streaming reply that are kept for display."""
_MOST_TODOS = 6
"""Lines of the list of what is to do."""


@dataclass(slots=True)
class AgentState:
    """What is known of one agent; `cost` is `None` when a price is unknown, `finished` when it still runs."""

    name: str
    parent: str | None = None
    started: float = 0.0
    finished: float | None = None
    status: str = ""
    turns: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    task: str = ""
    activity: str = "starting"
    trouble: bool = False
    running: dict[str, str] = field(default_factory=dict)
    progress: str = ""
    asks: str = ""
    """The call that the user is asked about, until the question is settled."""
    todos: tuple[tuple[str, str], ...] = ()
    """What is to do: the text and the status of each."""
    reply: str = ""
    stripper: Stripper = field(default_factory=Stripper)

    def doing(self) -> str:
        """What the agent does, in one line."""
        if self.finished is not None:
            return self.activity
        if self.asks:
            return f"asks: {self.asks}"
        if self.running:
            others = len(self.running) - 1
            progress = f": {self.progress}" if self.progress else ""
            return next(reversed(self.running.values())) + (f" (+{others})" if others else "") + progress
        return safe_line(self.reply.rstrip().rpartition("\n")[2]) or self.activity


class AgentTree:
    """All agents of a run in the order in which they started."""

    def __init__(self) -> None:
        self._agents: dict[str, AgentState] = {}

    @property
    def agents(self) -> Sequence[AgentState]:
        return tuple(self._agents.values())

    def apply(self, event: Event) -> None:
        """Take in what happened; names and texts are made safe here, once."""
        agent = self._agents.get(event.agent)
        if agent is None:
            agent = AgentState(safe_line(event.agent), started=event.t)
            self._agents[event.agent] = agent
        if isinstance(event, Text):
            agent.reply, agent.trouble = (agent.reply + agent.stripper.feed(event.text))[-_TAIL:], False
            return
        if not isinstance(event, TurnFinished):
            agent.reply = ""
        match event:
            case AgentStarted(parent=parent, task=task):
                agent.parent = None if parent is None else safe_line(parent)
                agent.task = agent.activity = safe_line(task[:_TAIL])
            case AgentFinished():
                _finish(agent, event)
            case ToolStarted() | ToolFinished():
                _tool(agent, event)
            case ToolOutput() | PermissionAsked() | PermissionSettled() | TodosChanged():
                _acting(agent, event)
            case _:
                _model(agent, event)


def _finish(agent: AgentState, event: AgentFinished) -> None:
    agent.finished, agent.status = event.t, event.status
    agent.turns, agent.tool_calls = event.turns, event.tool_calls
    agent.tokens, agent.cost = event.tokens, event.cost_usd
    agent.running.clear()
    reason = "" if event.stop_reason in ("done", event.status) else f" ({safe_line(event.stop_reason)})"
    agent.activity = ("done" if event.status == "ok" else safe_line(event.status)) + reason
    agent.trouble = False


def _tool(agent: AgentState, event: ToolStarted | ToolFinished) -> None:
    agent.trouble, agent.progress, agent.asks = False, "", ""
    if isinstance(event, ToolStarted):
        agent.tool_calls += 1
        agent.running[event.call_id] = call_line(event.tool, event.summary)
    else:
        agent.running.pop(event.call_id, None)
        agent.activity = tool_line(event.tool, event.summary)


def _acting(agent: AgentState, event: ToolOutput | PermissionAsked | PermissionSettled | TodosChanged) -> None:
    match event:
        case ToolOutput(text=text):
            agent.progress = safe_line(text.rstrip().rpartition("\n")[2][-_TAIL:]) or agent.progress
        case PermissionAsked():
            agent.asks = tool_line(event.tool, event.summary)
        case PermissionSettled():
            agent.asks = ""
        case TodosChanged(items=items):
            agent.todos = tuple(
                (safe_line(active if status == "in_progress" else content), status) for content, active, status in items
            )


def _model(agent: AgentState, event: Event) -> None:
    agent.trouble = isinstance(event, Retry | ReplyVoided)
    match event:
        case TurnStarted(turn=turn):
            agent.turns, agent.activity = turn, agent.task or "waiting for the model"
        case TurnFinished():
            agent.tokens, agent.cost = event.input_tokens + event.output_tokens, event.cost_usd
        case Thinking():
            agent.activity = "thinking"
        case ReplyVoided(reason=reason):
            agent.activity = f"asking again: {safe_line(reason)}"
        case Retry():
            agent.activity = retry_line(event)
        case Progress(text=text):
            agent.activity = agent.progress = safe_line(text)


def draw(tree: AgentTree, now: float, width: int, height: int, glyphs: Glyphs, frame: int) -> list[Line]:
    """The tree in at most `height` lines of at most `width` cells; `now` in seconds of the session."""
    agents = tree.agents
    total = [_total_line(agents, now, width, glyphs)] if len(agents) > 1 and height > 2 else []
    todos = _todo_lines(agents[0].todos, width, height - len(total) - len(agents), glyphs) if agents else []
    shown, hidden = _choose(agents, max(1, height - len(total) - len(todos)))
    names = {agent.name for agent in shown}
    lines = []
    for index, agent in enumerate(shown):
        is_child = agent.parent in names
        last = is_child and not any(other.parent == agent.parent for other in shown[index + 1 :]) and not hidden
        branch = f" {glyphs.last_branch if last else glyphs.branch} " if is_child else ""
        lines.append(_agent_line(agent, branch, now, width, glyphs, frame))
    if hidden:
        lines.append(_hidden_line(hidden, width, glyphs))
    return lines + todos + total


def _todo_lines(todos: Sequence[tuple[str, str]], width: int, room: int, glyphs: Glyphs) -> list[Line]:
    """What is to do: the last thing done, and what comes next, in at most `room` lines."""
    room = min(room, _MOST_TODOS)
    if not todos or room < 1:
        return []
    done = sum(status == "completed" for _, status in todos)
    start = max(0, min(done - 1, len(todos) - room))
    lines = [_todo_line(text, status, glyphs) for text, status in todos[start : start + room]]
    if len(todos) > len(lines):
        lines[-1] = [(f"   {glyphs.ellipsis} {done} of {len(todos)} done", "dim")]
    return [fit(line, width) for line in lines]


def _todo_line(text: str, status: str, glyphs: Glyphs) -> Line:
    if status == "completed":
        return [(f"   {glyphs.done} ", "green"), (text, "dim")]
    return (
        [(f"   {glyphs.pointer} ", "cyan"), (text, "bold")]
        if status == "in_progress"
        else [(f"   {glyphs.dot} ", ""), (text, "")]
    )


def _choose(agents: Sequence[AgentState], room: int) -> tuple[list[AgentState], list[AgentState]]:
    """The agents that get a line (the first, then those that run), in their order, and the others."""
    if len(agents) <= room:
        return list(agents), []
    order = sorted(range(len(agents)), key=lambda i: (i != 0, agents[i].finished is not None, i))
    chosen = set(order[: max(1, room - 1)])
    shown = [agent for i, agent in enumerate(agents) if i in chosen]
    hidden = [agent for i, agent in enumerate(agents) if i not in chosen]
    return shown, hidden if room > 1 else []


def _agent_line(agent: AgentState, branch: str, now: float, width: int, glyphs: Glyphs, frame: int) -> Line:
    mark = _mark(agent, glyphs, frame)
    name = cut_cells(agent.name, max(10, width // 4), glyphs.ellipsis)
    fixed = cell_width(branch) + 2 + cell_width(name) + 1
    figures = _figures(_agent_figures(agent, now), glyphs, width - fixed - min(16, width // 3))
    room = width - fixed - (cell_width(figures) + 1 if figures else 0)
    doing = cut_cells(agent.doing(), max(0, room), glyphs.ellipsis)
    gap = " " * max(0, room - cell_width(doing) + 1)
    style: Style = "yellow" if agent.trouble else "dim" if agent.finished is not None else ""
    spans: Line = [(branch, "dim"), mark, (" ", ""), (name, "bold"), (" ", ""), (doing, style)]
    return fit([*spans, (gap, ""), (figures, "dim")] if figures else spans, width)


def _mark(agent: AgentState, glyphs: Glyphs, frame: int) -> Span:
    if agent.finished is not None:
        return (glyphs.done, "green") if agent.status == "ok" else (glyphs.failed, "red")
    if agent.trouble or agent.asks:
        return glyphs.waiting, "yellow"
    return glyphs.spinner[frame % len(glyphs.spinner)], "cyan"


def _agent_figures(agent: AgentState, now: float) -> list[str]:
    """Figures of one agent, the most important last."""
    end = now if agent.finished is None else agent.finished
    figures = [money(agent.cost)] if agent.cost != 0 else []
    if agent.turns:
        figures.append(f"turn {agent.turns}" if agent.finished is None else f"{agent.turns} turns")
    if agent.tokens:
        figures.append(f"{count(agent.tokens)} tokens")
    return [*figures, duration(end - agent.started)]


def _total_line(agents: Sequence[AgentState], now: float, width: int, glyphs: Glyphs) -> Line:
    costs = [agent.cost for agent in agents]
    known = sum(cost for cost in costs if cost is not None)
    cost = None if None in costs else known
    running = sum(agent.finished is None for agent in agents)
    figures = [f"{running} of {len(agents)} agents running"]
    figures += [f"{count(sum(agent.tokens for agent in agents))} tokens"] if any(a.tokens for a in agents) else []
    figures += [money(cost)] if cost != 0 else []
    figures.append(duration(now - min(agent.started for agent in agents)))
    return fit([(_figures(figures, glyphs, width), "dim")], width)


def _hidden_line(hidden: Sequence[AgentState], width: int, glyphs: Glyphs) -> Line:
    running = sum(agent.finished is None for agent in hidden)
    text = f" {glyphs.last_branch} {len(hidden)} more: {running} running, {len(hidden) - running} finished"
    return fit([(text, "dim")], width)


def _figures(figures: Sequence[str], glyphs: Glyphs, room: int) -> str:
    """As many figures as fit, dropping from the front."""
    for start in range(len(figures)):
        text = f" {glyphs.dot} ".join(figures[start:])
        if cell_width(text) <= room:
            return text
    return ""


def fit(spans: Line, width: int) -> Line:
    """`spans` cut to `width` cells."""
    kept: Line = []
    for text, style in spans:
        piece = cut_cells(text, width)
        width -= cell_width(piece)
        if piece:
            kept.append((piece, style))
        if piece != text:
            break
    return kept
