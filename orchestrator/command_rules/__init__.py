"""What a shell command would do: read only, write, or not known, told without running it.

Everything that is not understood is `unknown`. Only a command whose meaning is fully known is `read-only`.
"""

from __future__ import annotations

from orchestrator.command_rules.judge import judge_command
from orchestrator.command_rules.judged import CommandLevel, Judged, JudgedCommand, Surroundings

__all__ = ["CommandLevel", "Judged", "JudgedCommand", "Surroundings", "judge_command"]
