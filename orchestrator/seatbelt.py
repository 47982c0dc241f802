"""The sandbox of macOS (Seatbelt): a profile for `sandbox-exec`, which is part of the system."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from orchestrator.sandbox import NoSandbox, Policy, private_env
from orchestrator.secret_places import startup_files
from orchestrator.unreadable import hidden_paths

_PROGRAM = "/usr/bin/sandbox-exec"
_TRIAL_SECONDS = 10
_GUARDED = (".git/hooks", ".git/config", ".orch", ".envrc", ".vscode", ".idea", ".claude")
"""In the workspace, what runs by itself or widens rights: not to be written by commands, whether it exists or not."""

_ALWAYS = """\
(version 1)
(allow default)
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper")
  (regex #"^/dev/fd/[0-9]+$"))
(deny file-write-setugid)
(deny signal)
(allow signal (target same-sandbox))
(deny process-info*)
(allow process-info* (target same-sandbox))
(allow process-info-pidinfo process-info-setcontrol (target self))
(deny mach-priv-task-port)
(deny mach-task-name)
(allow mach-task-name (target same-sandbox))
(deny appleevent-send)
(deny lsopen)
(deny job-creation)
(deny nvram*)
(deny user-preference-write)
(deny network* (remote unix-socket))
"""
_NO_NETWORK = '(deny network*)\n(deny mach-lookup (global-name-prefix "com.apple.dnssd"))\n'

_LIMITS = (
    "system services of macOS other than Apple events and the opening of programs can still be asked to act",
    "macOS calls this way to confine a command deprecated, though its own programs use it",
)


class SeatbeltSandbox:
    """Commands run under a profile that allows reading and running, and denies what the policy does not grant."""

    name = "seatbelt"
    limits = _LIMITS

    def __init__(self, home: Path) -> None:
        self._home = home

    def popen(
        self,
        argv: Sequence[str],
        policy: Policy,
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int,
        stdout: int,
        stderr: int,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        confined = (
            list(argv) if policy.level == "off" else [_PROGRAM, "-p", seatbelt_profile(policy, self._home), *argv]
        )
        given = private_env(policy, env)
        return NoSandbox().popen(
            confined, policy, cwd=cwd, env=given, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=pass_fds
        )

    def explain(self, policy: Policy, exit_code: int | None, output: str) -> str:
        from orchestrator.sandbox_failures import explain_failure

        return explain_failure(policy, exit_code, output)


def seatbelt_profile(policy: Policy, home: Path) -> str:
    """The profile of a policy; of several rules that fit, the last counts. `home`: whose startup files are guarded."""
    temp, workspace = os.path.realpath(policy.temp), os.path.realpath(policy.workspace)
    writable = [temp]
    if policy.level == "workspace":
        writable += [workspace, *(os.path.realpath(path) for path in policy.writable)]
    hidden = sorted(hidden_paths(policy))
    guarded = [f"{workspace}/{name}" for name in _GUARDED] if policy.level == "workspace" else []
    guarded += [*hidden, *(os.path.realpath(path) for path in startup_files(home))]
    return "".join(
        (
            _ALWAYS,
            "" if policy.network else _NO_NETWORK,
            _rule("deny", "file-read*", hidden),
            _rule("allow", "file-read*", [workspace]),
            _rule("deny", "file-read*", [path for path in hidden if path.startswith(f"{workspace}/")]),
            _rule("allow", "file-write*", writable),
            _rule("deny", "file-write*", guarded),
            _rule("allow", "file-read* file-write*", [temp]),
        )
    )


def open_seatbelt(home: Path) -> SeatbeltSandbox | None:
    """The sandbox, when a trial shows that it works."""
    trial = [_PROGRAM, "-p", _ALWAYS, "/usr/bin/true"]
    try:
        done = subprocess.run(trial, check=False, capture_output=True, timeout=_TRIAL_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return SeatbeltSandbox(home) if done.returncode == 0 else None


def _rule(verb: str, operations: str, paths: Iterable[str]) -> str:
    places = "".join(f"\n  (subpath {_quoted(path)})" for path in paths)
    return f"({verb} {operations}{places})\n" if places else ""


def _quoted(path: str) -> str:
    """A path as a string of the profile's language. What cannot be written in one is refused, never left open."""
    if any(ord(character) < 32 for character in path):
        raise OSError(
            f"the path {path!r} cannot be named in a sandbox profile; use a folder without control characters"
        )
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
