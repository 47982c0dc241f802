"""`symbols`: what a file or folder defines, as an outline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from orchestrator.tool import Args, Occurrence, Shown, Symbol, Tool, ToolContext, ToolResult

_Calls = Mapping[int, Sequence[Occurrence]]
"""The calls that belong to a symbol, by its index."""


class SymbolsArgs(Args):
    path: str = Field(".", description="file or folder")
    name: str | None = Field(None, description="Session.send, send or *auth*")
    calls: bool = Field(False, description="add what each calls")
    limit: int = Field(300, ge=1, le=5000)
    offset: int = Field(0, ge=0)


class SymbolsTool(Tool[SymbolsArgs]):
    name = "symbols"
    description = (
        "What code defines: lines, kind, qualified name | signature | docstring's first line. Of a Markdown file its "
        "headings."
    )
    args = SymbolsArgs
    max_output = 600_000

    async def run(self, args: SymbolsArgs, context: ToolContext) -> ToolResult:
        found = await context.code.symbols((args.path,), args.name or "", args.offset + args.limit, context.progress)
        page = found.rows[args.offset : args.offset + args.limit]
        if not page:
            return ToolResult(_nothing(args, len(found.rows)), "no symbols")
        calls = await _calls(page, context) if args.calls else {}
        output = "\n".join([*_lines(page, calls), *_paging(args, len(page), len(found.rows), found.unread)])
        files = len({symbol.path for symbol in page})
        return ToolResult(output, f"{len(page)} symbols in {files} files", tuple(_shown(page, calls)))


async def _calls(page: Sequence[Symbol], context: ToolContext) -> _Calls:
    """The calls made inside each symbol of the page; one inside several belongs to the innermost."""
    calls: dict[int, list[Occurrence]] = {}
    for path in dict.fromkeys(symbol.path for symbol in page):
        here = [(at, symbol) for at, symbol in enumerate(page) if symbol.path == path]
        first, last = min(s.line for _, s in here), max(s.end_line for _, s in here)
        for call in await context.code.calls(path, first, last):
            around = [(s.end_line - s.line, at) for at, s in here if s.line <= call.line <= s.end_line]
            if around:
                calls.setdefault(min(around)[1], []).append(call)
    return calls


def _lines(page: Sequence[Symbol], calls: _Calls) -> list[str]:
    out: list[str] = []
    path = ""
    for at, symbol in enumerate(page):
        if symbol.path != path:
            path = symbol.path
            out.append(f"./{path}" if path.startswith((" ", "[")) else path)
        signature = symbol.signature.replace(" | ", "|")
        doc = f" | {symbol.doc}" if symbol.doc else ""
        out.append(f"  {symbol.line}-{symbol.end_line} {symbol.kind} {symbol.qualified} | {signature}{doc}")
        out += [f"    {c.line} calls {c.name} | {c.preview or c.text.strip()}" for c in calls.get(at, ())]
    return out


def _paging(args: SymbolsArgs, shown: int, total: int, unread: int) -> list[str]:
    last = args.offset + shown
    if last >= total and not unread:
        return []
    more = [f"note: {unread} more files were not read to count further"] if unread else []
    return [f"[rows {args.offset + 1}-{last} of {total}; next: offset={last}]", *more]


def _nothing(args: SymbolsArgs, total: int) -> str:
    if total:
        return f"[{total} rows; offset={args.offset} is behind the last]"
    named = f" called {args.name}" if args.name else ""
    return f"no symbols{named} in {args.path}; find_references finds names that are used, grep finds text"


def _shown(page: Sequence[Symbol], calls: _Calls) -> Iterator[Shown]:
    for at, symbol in enumerate(page):
        yield from (Shown(symbol.path, number, (text,)) for number, text in symbol.lines)
        yield from (Shown(call.path, call.line, (call.text,)) for call in calls.get(at, ()))


TOOL = SymbolsTool()
