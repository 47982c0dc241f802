"""Which variables a command may set and still only read."""

from __future__ import annotations

import re

from orchestrator.command_rules.judged import Surroundings
from orchestrator.command_rules.names import names_in
from orchestrator.shell_syntax import Assignment

_HARMLESS = names_in(
    """LANG LANGUAGE TZ NO_COLOR CLICOLOR CLICOLOR_FORCE FORCE_COLOR COLUMNS LINES TERM GREP_COLOR GREP_COLORS
    PYTHONDONTWRITEBYTECODE CI GIT_TERMINAL_PROMPT"""
)
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.:@=;,+-]*\Z")
_FIXED = {
    "GIT_OPTIONAL_LOCKS": ("0",),
    "GIT_PAGER": ("cat", ""),
    "PAGER": ("cat", ""),
    "MANPAGER": ("cat", ""),
    "GIT_NO_LAZY_FETCH": ("1",),
}
"""Variables that name programs, or change what is written; with these values they do neither."""
_OF_THE_SHELL = re.compile(
    r"""PATH|IFS|CDPATH|HOME|ENV|PS[0-4]|PROMPT_COMMAND|GLOBIGNORE|GLOBSORT|POSIXLY_CORRECT|FIGNORE|EXECIGNORE|FUNCNEST
    |HIST.*|TIMEFORMAT|TMPDIR|INPUTRC|MAIL.*|OPT(IND|ERR|ARG)|OLDPWD|PWD|SHELL.*|TMOUT|HOSTFILE|BASH.*|COMP_.*|CHILD_MAX
    |READLINE_.*|DIRSTACK|MAPFILE|REPLY|COPROC|RANDOM|SECONDS|SRANDOM|EPOCH.*|LINENO|UID|EUID|PPID|GROUPS|IGNOREEOF
    |(?:LD|DYLD|GIT|SSH|GPG|PYTHON|PERL|RUBY|NODE|NPM|LESS|MALLOC|GCONV|GLIBC|XDG|LC|JAVA|DEBUGINFOD|RIPGREP|FZF)_?.*
    |[A-Z_]*(?:PAGER|EDITOR|OPTIONS|OPTS|FLAGS|CONFIG|PRELOAD|PROXY)|.*_(?:proxy|PROXY)|histchars|auto_resume""",
    re.VERBOSE,
)


def judge_assignment(assignment: Assignment, around: Surroundings, *, for_command: bool) -> str:
    """Why an assignment may do more than it seems; empty when it does not.

    `for_command`: it goes into the environment of a program. Otherwise it is only seen by the shell, unless a variable
    of that name is in the environment already.
    """
    name, value = assignment.name, None if assignment.value is None else assignment.value.value
    if name in _FIXED:
        return "" if value in _FIXED[name] else f"{name} can name a program or make one write"
    if name in _HARMLESS or name.startswith("LC_"):
        return "" if value is not None and _PLAIN_VALUE.match(value) else f"{name} has an unusual value"
    if for_command:
        return f"setting {name} may change what the command does"
    if _OF_THE_SHELL.fullmatch(name):
        return f"setting {name} changes what commands do"
    if name in around.env and name != "_":
        return f"{name} is in the environment of the commands"
    return ""
