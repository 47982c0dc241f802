"""A failure is put down to the sandbox when it is one, and not when it is plainly something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.sandbox import Level, Policy
from orchestrator.sandbox_failures import explain_failure

NETWORK, SERVICE = "using the network", "UNIX socket"

KEPT: list[tuple[Level, int, str, str]] = [
    ("workspace", 1, "bash: line 1: /outside/x: Permission denied", "changing {root}/outside/x outside the workspace"),
    ("workspace", 1, "touch: cannot touch '/outside/x': Permission denied", "changing {root}/outside/x outside"),
    ("workspace", 1, "PermissionError: [Errno 13] Permission denied: '/outside/x'", "changing {root}/outside/x"),
    ("workspace", 1, "touch: «/outside/x» kann nicht berührt werden: Keine Berechtigung", "changing {root}/outside/x"),
    ("workspace", 1, "Error: EACCES: permission denied, mkdir '/outside/y'", "changing {root}/outside/y"),
    (
        "workspace",
        1,
        "error: could not create /outside/x: Permission denied (os error 13)",
        "changing {root}/outside/x",
    ),
    ("workspace", 1, "cat: /home/.ssh/key: Permission denied", "reading {root}/home/.ssh/key, a place of secrets"),
    ("read-only", 1, "bash: line 1: src/a.txt: Permission denied", "changing {root}/workspace/src/a.txt"),
    ("read-only", 1, "error: could not lock config file .git/config: Permission denied", "changing"),
    ("read-only", 1, "mkdir: cannot create directory 'made': Read-only file system", "changing {root}/workspace/made"),
    ("workspace", 1, "strace: attach: ptrace(PTRACE_SEIZE, 12): Operation not permitted", "another process"),
    ("workspace", 1, "bash: line 1: kill: (4242) - Operation not permitted", "another process"),
    ("workspace", 6, "curl: (6) Could not resolve host: example.org", NETWORK),
    ("workspace", 7, "curl: (7) Couldn't connect to server", NETWORK),
    ("workspace", 128, "fatal: unable to access 'https://x/y/': Could not resolve host: x", NETWORK),
    ("workspace", 1, "socket.gaierror: [Errno -3] Temporary failure in name resolution", NETWORK),
    ("workspace", 1, "npm error code EAI_AGAIN\nnpm error syscall getaddrinfo", NETWORK),
    ("workspace", 1, "dial tcp: lookup proxy.golang.org: socket: operation not permitted", NETWORK),
    ("workspace", 1, "OSError: [Errno 101] Network is unreachable", NETWORK),
    ("workspace", 1, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?", SERVICE),
    ("workspace", 1, "error connecting to /tmp/tmux-0/default (Operation not permitted)", SERVICE),
    ("workspace", 2, "Could not open a connection to your authentication agent.", SERVICE),
    ("workspace", 1, "OSError: out of pty devices: [Errno 13] Permission denied", "pseudo-terminal"),
    ("workspace", 159, "", "another architecture"),
]
INNOCENT: list[tuple[Level, int, str]] = [
    ("workspace", 0, "bash: /outside/x: Permission denied"),
    ("off", 1, "bash: /outside/x: Permission denied"),
    ("workspace", 1, "cat: nothing.txt: No such file or directory"),
    ("workspace", 127, "bash: line 1: gofmt: command not found"),
    ("workspace", 126, "bash: line 1: ./run.sh: Permission denied"),
    ("read-only", 126, "bash: line 1: ./run.sh: Permission denied"),
    ("workspace", 1, "cp: cannot open './closed' for reading: Permission denied"),
    ("workspace", 1, "FAILED tests/test_socket.py::test_one - AssertionError"),
    ("workspace", 1, "E   AssertionError: assert 'Permission denied to user 3' in page"),
    ("workspace", 1, "E       AssertionError: assert 'ok' == 'Permission denied'"),
    ("workspace", 1, "PermissionError: the user is no administrator"),
    ("workspace", 1, "tests/unix socket/test_af_unix.py:3: AssertionError"),
    ("workspace", 2, "a.c:3: error: 'getaddrinfo' undeclared"),
    ("workspace", 1, "rm: cannot remove '/closed/x': Permission denied"),
    ("workspace", 124, ""),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("workspace/src", "temp", "outside", "home/.ssh"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("run.sh", "closed", "src/a.txt"):
        (tmp_path / "workspace" / name).touch()
    return tmp_path


def explained(root: Path, level: Level, code: int, said: str, *, network: bool = False) -> str:
    policy = Policy(level, network, root / "workspace", root / "temp", unreadable=(root / "home" / ".ssh",))
    for name in ("/outside", "/home"):
        said = said.replace(f"{name}/", f"{root}{name}/")
    return explain_failure(policy, code, said.replace("/closed/x", "/proc-not-there/closed/x"))


@pytest.mark.parametrize(("level", "code", "said", "kept"), KEPT)
def test_the_sandbox_is_named(root: Path, level: Level, code: int, said: str, kept: str) -> None:
    line = explained(root, level, code, said)
    assert kept.format(root=root) in line
    assert line.count("\n") == 0 and "once outside" in line


@pytest.mark.parametrize(("level", "code", "said"), INNOCENT)
def test_something_else_is_not_put_down_to_it(root: Path, level: Level, code: int, said: str) -> None:
    assert explained(root, level, code, said) == ""


@pytest.mark.parametrize("said", [said for _, _, said, kept in KEPT if kept == NETWORK and "permitted" not in said])
def test_with_the_network_a_failure_of_it_is_not_the_sandboxs(root: Path, said: str) -> None:
    assert explained(root, "workspace", 1, said, network=True) == ""


def test_only_the_end_of_a_long_output_is_read(root: Path) -> None:
    said = "bash: /outside/x: Permission denied\n" + "ok\n" * 20_000
    assert explained(root, "workspace", 1, said) == ""
