"""The environment that commands are given: no secrets, and nothing that waits for a person."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

SHELL_ID = "ORCH_SHELL_ID"
"""The variable by which everything that a command started is found again."""

_SECRET_NAME = re.compile(
    r"""SECRET | PASSWORD | PASSWD | PASSPHRASE | CREDENTIAL | API_?KEY | ACCESS_?KEY | PRIVATE_?KEY
      | CONNECTION_?STRING
      | (?:^|_)(?:KEYS?|TOKENS?|BEARER)(?:_|\Z)
      | (?:TOKENS?|_KEY|_PAT|_PASS|SSHPASS|_PWD|_PW|_AUTH|_COOKIE|_DSN|_JWT|_WEBHOOK(?:_URL)?|_AUTH_CONFIG)\Z
      | \AAWS_(?!(?:DEFAULT_)?REGION\Z)""",
    re.VERBOSE,
)
_SECRET_VALUE = re.compile(
    r"""(?:\A|[\s=:"',])(?:
        (?:sk|pk|rk)[-_](?:[\w]+[-_])*\w{16,} | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[\w-]{30,} | gsk_\w{20,} | hf_\w{20,}
      | r8_\w{20,} | (?:xai|pplx|nvapi|fw|csk|tgp_v1|dop_v1|shpat|npm|pypi)[-_][\w-]{20,}
      | gh[opsur]_\w{20,} | github_pat_\w{20,} | glpat-[\w-]{16,} | xox[abeprs]-[\w-]{10,} | ya29\.[\w-]{20,}
      | eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.
      ) | -----BEGIN[ A-Z]*PRIVATE\ KEY""",
    re.VERBOSE,
)
_LOGIN_IN_ADDRESS = re.compile(
    r"\A[a-z][a-z0-9+.-]*://[^/@\s:]*:[^/@\s]+@(?P<host>\[[^\]]*\]|[^:/?#\s]*)", re.IGNORECASE
)
_THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")

_STEERS_THE_SHELL = ("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE")
_ASKS_A_PERSON = ("SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS", "GPG_TTY", "COLUMNS", "LINES", "GIT_SEQUENCE_EDITOR")
_NOT_PASSED = ("ORCH_*", "BASH_FUNC_*", *_STEERS_THE_SHELL, *_ASKS_A_PERSON)

_NO_EDITOR = (
    "echo 'There is no editor here. Give the text with an option (git commit -m TEXT), or set"
    " GIT_EDITOR=true to take the text as it is.' >&2; false"
)
_ALONE: Mapping[str, str] = {
    **dict.fromkeys(("PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "BAT_PAGER"), "cat"),
    **dict.fromkeys(("EDITOR", "VISUAL", "GIT_EDITOR"), _NO_EDITOR),
    "TERM": "dumb",
    "NO_COLOR": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_OPTIONAL_LOCKS": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "npm_config_update_notifier": "false",
}
_NO_HOUSEKEEPING: Mapping[str, str] = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "gc.auto",
    "GIT_CONFIG_VALUE_0": "0",
}
"""Else git leaves a process behind now and then, which would be ended in the middle of its work."""


class CommandEnvironment(NamedTuple):
    """`variables` for commands; `withheld` are the names of those that look like secrets."""

    variables: dict[str, str]
    withheld: frozenset[str]


def command_environment(env: Mapping[str, str], keep: Collection[str], temp: Path) -> CommandEnvironment:
    """What commands see of `env`: no secrets but those that `keep` names (`*` stands for anything), no orch settings.

    Temporary files go to `temp`, which confined commands may write.
    """
    kept, withheld = without_secrets(env, keep)
    folders = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(temp))
    variables = {"PYTHONUNBUFFERED": "1", **kept, **_ALONE, **folders}
    if "GIT_CONFIG_COUNT" not in kept:
        variables |= _NO_HOUSEKEEPING
    if not any(env.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
        variables["LANG"] = "C.UTF-8"
    return CommandEnvironment(variables, withheld)


def without_secrets(env: Mapping[str, str], keep: Collection[str] = ()) -> CommandEnvironment:
    """`env` without what looks like a secret, by its name or its value, and without what is orch's own."""
    kept: dict[str, str] = {}
    withheld: set[str] = set()
    for name, value in env.items():
        if _named(name, keep):
            kept[name] = value
        elif _named(name, _NOT_PASSED):
            continue
        elif is_secret_variable(name, value):
            withheld.add(name)
        else:
            kept[name] = value
    return CommandEnvironment(kept, frozenset(withheld))


def is_secret_variable(name: str, value: str) -> bool:
    """Whether a variable seems to hold a key, a token, a password, or an address with a password in it."""
    if not value:
        return False
    if _SECRET_NAME.search(name.upper()) or _SECRET_VALUE.search(value):
        return True
    login = _LOGIN_IN_ADDRESS.match(value)
    proxy = name.upper().endswith("_PROXY")
    return login is not None and not proxy and login["host"].lower() not in _THIS_MACHINE


def _named(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
