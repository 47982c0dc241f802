"""Git's configuration, read without running git: every value that could count, whatever would win in the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from orchestrator.errors import ConfigError
from orchestrator.small_file import read_small_file

Scope = Literal["system", "user", "repository", "environment"]

_LIMIT = 1024 * 1024
_MAX_INCLUDES = 20
SIGNATURE = re.compile(r"%[-+ ]?G")
"""Of a format: what makes git check signatures."""
_SECTION = re.compile(r'\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*")
_SKIP = re.compile(r"(?:\s+|[#;][^\n]*)+")
_PIECE = re.compile(r'(?:([^"\\\n#;]+)|\\(.|\n)|"((?:[^"\\\n]|\\\n|\\.)*)")')
_LETTERS = {"n": "\n", "t": "\t", "b": "\b", "\n": ""}
_IN_QUOTES = re.compile(r"\\(.|\n)")
_ESCAPED = re.compile(r"\\(?=.)")
_SYSTEM = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")


class Unclear(Exception):
    """A configuration that cannot be read or parsed; the message says which and why."""


class Entry(NamedTuple):
    """One value. `key` has its section and name in lower case; a key without `=` has the value `true`."""

    key: str
    value: str
    scope: Scope


def parse_config(text: str) -> list[tuple[str, str]]:
    """The keys and values of a configuration file in their order. Raises `Unclear`."""
    found: list[tuple[str, str]] = []
    section, at = "", 0
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    while True:
        if skipped := _SKIP.match(text, at):
            at = skipped.end()
        if at >= len(text):
            return found
        if head := _SECTION.match(text, at):
            section, at = _section(head), head.end()
        elif (key := _KEY.match(text, at)) and section:
            value, at = _value(text, key.end())
            found.append((f"{section}.{key.group(1).lower()}", value))
        else:
            raise Unclear(f"line {text.count(chr(10), 0, at) + 1} cannot be parsed")


def _section(head: re.Match[str]) -> str:
    name, sub = head.groups()
    return name.lower() if sub is None else f"{name.lower()}.{_ESCAPED.sub('', sub)}"


def _value(text: str, at: int) -> tuple[str, int]:
    if not text.startswith("=", at):
        if at < len(text) and text[at] not in "\n#;":
            raise Unclear(f"line {text.count(chr(10), 0, at) + 1} cannot be parsed")
        return "true", at
    at += 1
    value, kept = "", 0
    while piece := _PIECE.match(text, at):
        plain, escaped, quoted = piece.groups()
        if plain:
            value += plain if value else plain.lstrip()
        else:
            value += _LETTERS.get(escaped, escaped) if escaped else _IN_QUOTES.sub(_unescaped, quoted)
            kept = len(value)
        at = piece.end()
    if at < len(text) and text[at] not in "\n#;":
        raise Unclear(f"line {text.count(chr(10), 0, at) + 1} cannot be parsed")
    return value[:kept] + value[kept:].rstrip(), at


def _unescaped(found: re.Match[str]) -> str:
    return _LETTERS.get(found.group(1), found.group(1))


def read_config(path: Path, scope: Scope, home: Path) -> Iterator[Entry]:
    """The values of a file and of all that it includes, whether or not its conditions hold. A missing file has none."""
    left = _MAX_INCLUDES
    todo = [path]
    while todo:
        at = todo.pop()
        left -= 1
        if left < 0:
            raise Unclear(f"{path} includes too many files")
        for key, value in _parsed(at):
            yield Entry(key, value, scope)
            if key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
                todo.append(_included(at, value, home))


def _included(source: Path, value: str, home: Path) -> Path:
    if value.startswith("~/"):
        return home / value[2:]
    if value.startswith(("~", "%(")):
        raise Unclear(f"{source} includes {value}")
    return source.parent / value


def _parsed(path: Path) -> list[tuple[str, str]]:
    try:
        data = read_small_file(path, _LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, ConfigError) as error:
        raise Unclear(f"{path} cannot be read ({error})") from None
    try:
        return parse_config(data.decode("utf-8", "surrogateescape"))
    except Unclear as error:
        raise Unclear(f"{path}: {error}") from None


def outer_config(env: Mapping[str, str], home: Path) -> list[Entry]:
    """What counts in every repository: the system's, the user's, and what the environment sets."""
    found: list[Entry] = []
    if not _is_true(env.get("GIT_CONFIG_NOSYSTEM", "")):
        for name in (env["GIT_CONFIG_SYSTEM"],) if "GIT_CONFIG_SYSTEM" in env else _SYSTEM:
            found.extend(read_config(Path(name), "system", home))
    for path in _user_files(env, home):
        found.extend(read_config(path, "user", home))
    return [*found, *_environment(env)]


def _user_files(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    if "GIT_CONFIG_GLOBAL" in env:
        return (Path(env["GIT_CONFIG_GLOBAL"]),) if env["GIT_CONFIG_GLOBAL"] else ()
    own = env.get("XDG_CONFIG_HOME")
    return (Path(own) if own else home / ".config") / "git" / "config", home / ".gitconfig"


def _environment(env: Mapping[str, str]) -> Iterator[Entry]:
    count = env.get("GIT_CONFIG_COUNT", "") or "0"
    if env.get("GIT_CONFIG_PARAMETERS") or not count.isdecimal() or int(count) > 100:
        raise Unclear("the environment sets git's configuration")
    for number in range(int(count)):
        section, _, rest = env.get(f"GIT_CONFIG_KEY_{number}", "").partition(".")
        sub, _, name = rest.rpartition(".")
        key = ".".join(part for part in (section.lower(), sub, name.lower()) if part)
        yield Entry(key, env.get(f"GIT_CONFIG_VALUE_{number}", ""), "environment")


def _is_true(value: str) -> bool:
    return value.lower() in ("1", "true", "yes", "on")


def is_false(value: str) -> bool:
    """Whether git takes a value for `false`."""
    return value.lower() in ("", "0", "false", "no", "off")
