"""The few lines of shell round a command, and what they tell at its end: the folder and the exported variables.

The command comes through standard input, not as an argument: it may be of any length, and `pkill -f` in it does not
find the shell itself. What is told goes to a file that only the shell itself holds open.
"""

from __future__ import annotations

import re
from typing import NamedTuple

END = b"\x1e"
"""Stands after each of the two parts that are told."""

STATE_LIMIT = 1 << 20
"""Bytes; what does not fit is not kept."""

_BASH = (
    "IFS= read -rd '' __orch; exec </dev/null;"
    r" __orch_end() {{ {{ builtin pwd -P; builtin printf '\036'; builtin export -p; builtin printf '\036'; }}"
    " 2>/dev/null >&{fd}; }};"
    " trap '{{ __orch_end; }} 2>/dev/null' EXIT;"
    ' eval "$__orch" {fd}>&-;'
    ' {{ __orch=$?; {plain} {wait} __orch_end; builtin set +x; }} 2>/dev/null; builtin exit "$__orch"'
)
_PLAIN = "POSIXLY_CORRECT=1; unset -f builtin wait; unset POSIXLY_CORRECT;"
"""Undoes functions of a command that hide builtins; in this mode they do not hide `unset` itself."""

# Plain shells know descriptors of one digit only.
_SH = (
    "__orch=$(cat); exec </dev/null;"
    r" __orch_end() {{ {{ pwd -P; printf '\036'; export -p; printf '\036'; }} 2>/dev/null 1<>/dev/fd/{fd}; }};"
    " trap '{{ __orch_end; }} 2>/dev/null' EXIT;"
    ' eval "$__orch";'
    ' {{ __orch=$?; {wait} __orch_end; set +x; }} 2>/dev/null; exit "$__orch"'
)

_ENTRY = re.compile(
    rb"""(?:declare\ -\S+|export)\ ([A-Za-z_]\w*)
        (?:=((?:"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*'|'[^']*'|\\.|[^\s"'\\$])*))?\n""",
    re.VERBOSE | re.DOTALL,
)
_PIECE = re.compile(
    rb""""((?:[^"\\]|\\.)*)"|\$'((?:[^'\\]|\\.)*)'|'([^']*)'|\\(.)|([^"'\\$]+)""",
    re.DOTALL,
)
_IN_DOUBLE = re.compile(rb'\\([$`"\\])')
_IN_ANSI = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r"}
_LETTERS |= {b"t": b"\t", b"v": b"\v"}
_OWN = re.compile(r"__orch.*|_|PWD|OLDPWD|SHLVL|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|ORCH_SHELL_ID|POSIXLY_CORRECT")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Told(NamedTuple):
    """Where a command ended, and the variables that it had exported then."""

    folder: str
    exported: dict[str, str]


def shell_arguments(program: str, state: int, *, background: bool) -> list[str]:
    """The program with its arguments; `state` is the descriptor for what is told. A job waits for its own children."""
    is_bash = program.rpartition("/")[2] == "bash"
    script = (_BASH if is_bash else _SH).format(fd=state, plain=_PLAIN, wait="wait;" if background else "")
    return [program, *(["--norc", "--noprofile"] if is_bash else []), "-c", script, "bash" if is_bash else "sh"]


def read_told(data: bytes) -> Told | None:
    """What the shell told at its end; `None` when it told nothing, or not all, or nothing that can be understood."""
    parts = data.partition(b"\0")[0].split(END)
    if len(parts) < 3:
        return None
    folder = parts[0].removesuffix(b"\n").decode("utf-8", "surrogateescape")
    exported = _read_exports(parts[1])
    return None if exported is None or not folder.startswith("/") else Told(folder, exported)


def is_kept(name: str) -> bool:
    """Whether a variable is one that lasts from one command to the next."""
    return _NAME.fullmatch(name) is not None and _OWN.fullmatch(name) is None


def _read_exports(text: bytes) -> dict[str, str] | None:
    """The output of `export -p`, by name; what is exported without a value is left out."""
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        entry = _ENTRY.match(text, position)
        if entry is None:
            return None
        position = entry.end()
        name, value = entry[1].decode(), entry[2]
        if value is not None:
            found[name] = _unquoted(value).decode("utf-8", "surrogateescape")
    return found


def _unquoted(value: bytes) -> bytes:
    out: list[bytes] = []
    for piece in _PIECE.finditer(value):
        double, ansi, single, escaped, plain = piece.groups()
        if double is not None:
            out.append(_IN_DOUBLE.sub(rb"\1", double))
        elif ansi is not None:
            out.append(_IN_ANSI.sub(_ansi, ansi))
        else:
            out.append(next(part for part in (single, escaped, plain) if part is not None))
    return b"".join(out)


def _ansi(found: re.Match[bytes]) -> bytes:
    octal, hexadecimal, code, letter = found.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 255])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    if code is not None:
        return chr(int(code, 16)).encode("utf-8", "surrogatepass")
    return _LETTERS.get(letter, letter)
