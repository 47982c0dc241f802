"""The texts of a run as they are kept and compared: without secrets, and without what differs from run to run.

What is replaced, and by what:

- the folder of the workspace, the temporary folder of the session, the folder of the session in the user's state and
  that state itself, by `<<orch:workspace>>`, `<<orch:temp>>`, `<<orch:session>>` and `<<orch:state>>`. In a reply they
  are put back as they are in the run that replays it, so that a recording works in a copy of the workspace;
- in the system prompt, the lines of the environment block about platform, git and date, by `<<orch:environment>>`;
- in results of tools, times that something took (`in 0.12s`, `took 3 s`), by `<<orch:duration>>`;
- secrets, by `[key]`: values that are known, and what has the form of a provider's key.

Nothing else: what an agent is told is compared to the letter. A text that holds `<<orch:` already is kept apart.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from orchestrator.providers import Provider

MASK = "[key]"
_ESCAPED = "<<orch:<<"
_MARK = re.compile(r"<<orch:(?:(workspace|temp|session|state)>>|<<)")
_SESSION = r"\d{8}-\d{6}-[0-9a-f]{6}"
_TEMP = r"orch-[a-z0-9_]{8}"
_ENVIRONMENT = re.compile(r"^(Platform|Git|Date): .*$", re.MULTILINE)
_ENVIRONMENT_HEAD = "\n# Environment\n"
_DURATION = re.compile(
    r"\b(took|in|after|elapsed:?|for|duration:?)(\s+)\d+(?:\.\d+)?(\s?)(?:µs|us|ms|s|sec|seconds?|min|minutes?)\b"
)
_KEY = re.compile(
    r"""(?<![\w-])(?:
        sk-(?:proj|svcacct|admin|ant|or|live|test)-[\w-]{20,}
      | (?:sk|rk|pk)[-_](?:[A-Za-z0-9]{1,20}[-_]){0,4}(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}
      | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[\w-]{35} | ya29\.[\w-]{20,} | hf_[A-Za-z]{30,} | r8_[A-Za-z0-9]{30,}
      | (?:gsk|xai|pplx|nvapi|fw|csk|npm)[-_](?=[A-Za-z]*[0-9])[\w-]{20,} | pypi-[\w-]{50,}
      | gh[opsur]_[A-Za-z0-9]{30,} | github_pat_\w{30,} | glpat-[\w-]{20,} | xox[abeprs]-[\w-]{10,}
      | eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}
      | (?<=[Bb]earer\ )[\w.~+/-]{24,}=*
      | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----(?:.{0,12}?[A-Za-z0-9+/]{40,}={0,2})+
        (?:.{0,12}?[A-Za-z0-9+/]{1,39}={0,2}(?=.{0,4}?-----END))?
    )""",
    re.VERBOSE | re.DOTALL,
)
"""Stricter than what is masked in messages to the user: a recording with an ordinary name masked is of no use."""
_LEAST_KEY, _LEAST_OTHER, _NO_WORD = 8, 12, 16
"""Characters of a value that is masked wherever it stands: a shorter one (`ollama`, `none`) is a word of the text."""
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)\Z", re.IGNORECASE)


def secret_values(env: Mapping[str, str], providers: Iterable[Provider]) -> frozenset[str]:
    """The values in `env` that must not be kept: the providers' keys, and what is called a key or a password."""
    keys = {name for provider in providers for name in (*provider.key_env, *provider.bearer_env)}
    found = {env[name].strip() for name in keys if name in env}
    secrets = {value for value in found if len(value) >= _LEAST_KEY}
    return frozenset(secrets | {value.strip() for name, value in env.items() if _is_other_secret(name, value)})


def _is_other_secret(name: str, value: str) -> bool:
    """A short password of letters alone, or the path of a file with the key, would be masked in ordinary text."""
    value = value.strip()
    long_enough = len(value) >= (_LEAST_OTHER if re.search(r"\d", value) else _NO_WORD)
    is_path = re.match(r"(?:~|\.{0,2})/[\w.-]+/", value) is not None
    return _SECRET_NAME.search(name) is not None and long_enough and not is_path


class RunText:
    """The texts of one run. Where its session and its temporary folder are, it learns from what the agents are told."""

    def __init__(self, *, workspace: Path, state: Path, secrets: Collection[str] = ()) -> None:
        """`secrets` are values that are masked (`secret_values`); `workspace` is the folder, links resolved."""
        self._live = {"workspace": str(workspace), "state": str(state)}
        self._places = _places(workspace, state)
        known = sorted((re.escape(value) for value in secrets if value), key=len, reverse=True)
        self._known = re.compile("|".join(known)) if known else None

    def system(self, text: str) -> str:
        """A system prompt."""
        head, mark, environment = text.rpartition(_ENVIRONMENT_HEAD)
        if mark:
            text = head + mark + _ENVIRONMENT.sub(r"\1: <<orch:environment>>", self._kept(environment))
            return self._kept(head) + text[len(head) :]
        return self._kept(text)

    def message(self, text: str) -> str:
        """Anything else that a model is sent, and what it says."""
        return self._kept(text)

    def result(self, text: str) -> str:
        """The result of a tool."""
        return _DURATION.sub(r"\1\2<<orch:duration>>", self._kept(text))

    def restored(self, text: str) -> str:
        """A recorded reply as it reads in this run: the inverse of `message`, but for secrets."""
        if "<<orch:" not in text:
            return text
        return _MARK.sub(lambda found: self._live.get(found[1], found[0]) if found[1] else "<<orch:", text)

    def has_secret(self, text: str) -> bool:
        return self._masked(text) != text

    def _kept(self, text: str) -> str:
        text = self._masked(text.replace("<<orch:", _ESCAPED))
        return self._places.sub(self._placed, text)

    def _placed(self, found: re.Match[str]) -> str:
        name = found.lastgroup or ""
        if name in ("session", "temp"):
            self._live[name] = found[0]
        return f"<<orch:{name}>>"

    def _masked(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return _KEY.sub(MASK, text)


def _places(workspace: Path, state: Path) -> re.Pattern[str]:
    """The folders of the run, as whole parts of paths, the inner ones first."""
    temporary = re.escape(str(Path(tempfile.gettempdir()).resolve()))
    named = [
        (len(str(state)) + 1, f"(?P<session>{re.escape(str(state))}/sessions/{_SESSION})"),
        (len(str(state)), f"(?P<state>{re.escape(str(state))})"),
        (len(temporary) + 1, f"(?P<temp>{temporary}/{_TEMP})"),
    ]
    if workspace != Path(workspace.anchor):  # nothing in a text would tell the root folder from any other
        named.append((len(str(workspace)), f"(?P<workspace>{re.escape(str(workspace))})"))
    ordered = [pattern for _, pattern in sorted(named, reverse=True)]
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(ordered)})(?![\w-]|\.\w)")
