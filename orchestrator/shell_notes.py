"""What to tell besides output and exit code: programs that wait for a person, withheld variables, leftovers."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Iterator, Sequence

from orchestrator.shell_members import Member

_START = r"(?:^|[;&|(]\s*|\b(?:sudo|env|exec|command|time)\s+)(?:\w+=\S*\s+)*"
_REST = r"\s*(?:$|[;&|)\n])"
_WORDS = r"(?:[ \t]+[^\s;&|]+){0,20}?"
_FULL_SCREEN = re.compile(
    rf"{_START}(vim?|nvim|view|nano|pico|emacs|micro|joe|mcedit|top|htop|btop|atop|watch|tmux|screen|mc|tig|lazygit|"
    r"k9s|less|more|most)\b",
    re.MULTILINE,
)
_NEVER_ENDING = re.compile(
    r"(?:r?vim?|nvim|view|vimdiff|nano|pico|emacs|micro|joe|mcedit|mc|[hba]top|watch|tig|lazygit|k9s)(?:\.|\Z)"
)
_TOLD_WHAT = re.compile(r"-[csSbnE]|-es\b|--headless|--batch|--cmd|\+")
_PROMPT = re.compile(
    rf"{_START}(python[\d.]*|ipython|node|deno|bun|irb|ghci|php -a|lua|R|julia|scala|jshell|sqlite3|mysql|psql|"
    rf"redis-cli|mongosh|bash|sh|zsh|fish|gdb|bc|ftp|sftp|telnet|cat)(?:\s+-i)?{_REST}",
    re.MULTILINE,
)
_LOGIN = re.compile(rf"{_START}(ssh)(?:\s+-\w+(?:\s+[^-\s]\S*)?)*\s+[^-\s]\S*{_REST}", re.MULTILINE)
_STEPS = re.compile(
    rf"\bgit{_WORDS}[ \t]+((?:rebase|add|clean){_WORDS}[ \t]+(?:-i|--interactive)"
    rf"|(?:add|checkout|reset|stash|restore|commit){_WORDS}[ \t]+(?:-p|--patch))\b"
)
_QUESTION = re.compile(
    rf"{_START}(read|select|passwd|npm init|yarn init|pnpm init|npm login|gh auth login)\b", re.MULTILINE
)
_FED = re.compile(r"<|\|")
_LOOKED_AT = 10_000
_SERVER = "a server or a watcher is started with background: true and looked at with shell_output"


def interactive_note(command: str, exit_code: int | None, output: str) -> str:
    """Why a command that waits for a person came to nothing; empty where it seems to have worked."""
    command = command[:_LOOKED_AT]
    if exit_code == 0 and output.strip() and not _QUESTION.search(command):
        return ""
    nobody = "there is no terminal and nobody types: standard input is at its end"
    if found := _FULL_SCREEN.search(command):
        return f"{found[1]} needs a terminal, and {nobody}; use commands that print (cat, sed, ps, git --no-pager …)"
    if found := _STEPS.search(command):
        return f"git {found[1]} asks step by step, and {nobody}; name what you want (git add PATH, git rebase --onto …)"
    if found := _LOGIN.search(command):
        return f"{found[1]} without a command opens a session, and {nobody}; give it a command and -o BatchMode=yes"
    if _FED.search(command):
        return ""
    if found := _PROMPT.search(command):
        return f"{found[1]} reads standard input, and {nobody}; give it a file, a script or a here-document"
    if found := _QUESTION.search(command):
        return f"{found[1]} asks for input, and {nobody}; give the answers by options, or by a here-document"
    return ""


def may_wait_for_a_person(command: str) -> bool:
    """Whether a command names a program that draws on the whole screen and does not end when there is none."""
    return _FULL_SCREEN.search(command[:_LOOKED_AT]) is not None


def is_waiting_for_a_person(member: Member) -> bool:
    """Whether a process is such a program, and was not told on its command line what to do."""
    words = member.name.split()
    program = words[0].rpartition("/")[2] if words else ""
    return _NEVER_ENDING.match(program) is not None and not any(map(_TOLD_WHAT.match, words[1:]))


def withheld_note(command: str, withheld: Collection[str]) -> str:
    """Which of the variables that commands do not see a command names."""
    named = sorted({name for name in re.findall(r"[A-Za-z_]\w*", command) if name in withheld})
    if not named:
        return ""
    verb = "is" if len(named) == 1 else "are"
    return f"{', '.join(named)} {verb} withheld from commands as a secret; the user may list it in sandbox.keep_env"


def leftover_note(left: Sequence[Member]) -> str:
    """That processes were ended which the command had left running."""
    if not left:
        return ""
    own = [member for member in left if not member.name.rpartition("/")[2].startswith("bwrap")] or left
    names = ", ".join(f"{_plain(member.name)} ({member.pid})" for member in own[:3])
    more = f" and {len(own) - 3} more" if len(own) > 3 else ""
    return f"still running when the command ended, and ended with it: {names}{more}; {_SERVER}"


def _plain(name: str) -> str:
    """A part of the command that the shell runs in a copy of itself has the name of the whole."""
    return "a part of the command" if "__orch" in name else name


def timeout_note(seconds: float) -> str:
    return f"it was still running after {seconds:g} s and was ended; {_SERVER}"


def signal_name(code: int | None) -> str:
    """The signal that ended a process, by its exit code as `subprocess` or a shell gives it; empty if none did."""
    if code is None or 0 <= code <= 128:
        return ""
    number = -code if code < 0 else code - 128
    return next(_names(number), "" if code > 0 else f"signal {number}")


def _names(number: int) -> Iterator[str]:
    return (each.name for each in signal.Signals if each == number)
