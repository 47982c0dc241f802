"""`repo_map`: the files that matter for a question, with their signatures, in few tokens."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from orchestrator.tool import Args, MappedFile, RepoMap, Shown, Symbol, Tool, ToolContext, ToolResult

_TOKENS_FOR_NOTE = 40
_MOST, _FEWEST = 14, 3
"""Symbols of the first file; each following one gets two fewer, down to the second number."""
_LONGEST = 120
"""Characters of a signature."""


class RepoMapArgs(Args):
    query: str = Field(description="names or words")
    path: str = "."
    budget: int = Field(1500, ge=100, le=8000, description="tokens")


class RepoMapTool(Tool[RepoMapArgs]):
    name = "repo_map"
    description = "Start here in an unknown repository: the files most relevant to a question, with line and signature."
    args = RepoMapArgs
    timeout = 180.0

    async def run(self, args: RepoMapArgs, context: ToolContext) -> ToolResult:
        found = await context.code.repo_map(args.query, (args.path,), args.budget // 20, context.progress)
        if not found.files:
            return ToolResult(f"no code that can be parsed in {args.path}; list_files shows what is there", "no code")
        chosen = _chosen(found, args.budget - _TOKENS_FOR_NOTE)
        lines = [line for file in chosen for line in _lines(file)]
        output = "\n".join([*lines, _note(found, len(chosen))])
        shown = (Shown(file.path, *_only(row)) for file in chosen for symbol in file.symbols for row in symbol.lines)
        return ToolResult(output, f"{len(chosen)} of {found.total} files", tuple(shown))


def _chosen(found: RepoMap, budget: int) -> list[MappedFile]:
    """As much as fits: the first files with more of their symbols, which come in order of lines."""
    chosen: list[MappedFile] = []
    for at, file in enumerate(found.files):
        budget -= _tokens(_path_line(file.path))
        symbols: list[Symbol] = []
        for symbol in file.symbols[: max(_FEWEST, _MOST - 2 * at)]:
            cost = _tokens(_symbol_line(symbol))
            if cost > budget:
                break
            budget -= cost
            symbols.append(symbol)
        if not symbols:
            break
        chosen.append(MappedFile(file.path, tuple(sorted(symbols, key=lambda symbol: symbol.line))))
    return chosen


def _lines(file: MappedFile) -> Iterator[str]:
    yield _path_line(file.path)
    yield from map(_symbol_line, file.symbols)


def _path_line(path: str) -> str:
    return f"./{path}" if path.startswith((" ", "[")) else path


def _symbol_line(symbol: Symbol) -> str:
    inside = symbol.qualified.rpartition(".")[0]
    scope = f" in {inside}" if inside else ""
    signature = symbol.signature or f"{symbol.kind} {symbol.name}"
    cut = signature if len(signature) <= _LONGEST else f"{signature[: _LONGEST - 1]}…"
    return f"  {symbol.line}{scope} {cut}"


def _tokens(line: str) -> int:
    """About a token for four characters of ASCII and one for each other, and one for the line's end."""
    other = sum(not char.isascii() for char in line)
    return (len(line) - other + 3) // 4 + other + 1


def _only(row: tuple[int, str]) -> tuple[int, tuple[str]]:
    number, text = row
    return number, (text,)


def _note(found: RepoMap, shown: int) -> str:
    unseen = f"; only {found.seen} with words of the query were looked at" if found.seen < found.total else ""
    return f"[{shown} of {found.total} files of code{unseen}]"


TOOL = RepoMapTool()
