"""How a sub-agent ends: its summary and the places that it rests on."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import Args, Tool, ToolContext, ToolResult


class Finding(Args):
    path: str
    line: int = Field(ge=1)
    end_line: int | None = Field(default=None, ge=1)
    quote: str = Field(default="", description="The line as the tool showed it")
    note: str = ""
    kind: str = Field(default="other", description="definition|import|call|reference|comment|string|doc|other")


class ReportArgs(Args):
    summary: str = Field(description="The whole answer: only this and the findings reach the parent")
    findings: list[Finding] = Field([])
    open_questions: list[str] = Field([])


class Report(Tool[ReportArgs]):
    name: ClassVar[str] = "report"
    description: ClassVar[str] = "End your work and hand in the answer. Every finding is checked against the files."
    args = ReportArgs
    eager: ClassVar[bool] = False

    async def run(self, args: ReportArgs, context: ToolContext) -> ToolResult:
        if not args.summary.strip() and not args.findings:
            raise ToolError(
                "empty_report", "The report says nothing. Give a summary of what you found, or did not find."
            )
        return ToolResult("Report handed in.", display="reported", report=args.model_dump())


TOOL = Report()
