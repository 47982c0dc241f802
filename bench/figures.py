"""Medians with their spread, and the tables made of them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """The median of some runs, with the lowest and the highest."""

    median: float
    low: float
    high: float
    runs: int
    unit: str

    def __str__(self) -> str:
        spread = "" if self.runs == 1 else f" [{_short(self.low)}–{_short(self.high)}]"
        return f"{_short(self.median)} {self.unit}{spread}".replace(" ×", "×")


@dataclass(frozen=True, slots=True)
class Row:
    """One measure: ours, the floor's in the same run, what others need, and what we aim at."""

    what: str
    ours: Figure
    floor: Figure | None = None
    peers: str = ""
    aim: str = ""


def figure(values: Sequence[float], unit: str) -> Figure:
    """The figure of at least one value."""
    return Figure(statistics.median(values), min(values), max(values), len(values), unit)


def table(rows: Sequence[Row], *, floor: str) -> str:
    """The rows as a Markdown table; `floor` heads the column of what ours is compared with."""
    lines = [f"| measure | orch | aim | {floor} | best peers | runs |", "|---|---|---|---|---|---|"]
    for row in rows:
        cells = (row.what, f"**{row.ours}**", row.aim or "–", row.floor or "–", row.peers or "–", row.ours.runs)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def read_results(path: Path) -> dict[str, list[Row]]:
    """The rows of every measure that was kept, by its name; none when there is no file."""
    if not path.exists():
        return {}
    return {name: [_row(row) for row in rows] for name, rows in json.loads(path.read_text()).items()}


def write_results(path: Path, results: Mapping[str, Sequence[Row]]) -> None:
    plain = {name: [asdict(row) for row in rows] for name, rows in results.items()}
    path.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def _row(data: Mapping[str, Any]) -> Row:
    floor = data["floor"] and Figure(**data["floor"])
    return Row(data["what"], Figure(**data["ours"]), floor, data["peers"], data["aim"])


def _short(value: float) -> str:
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"
