"""How a sandbox is chosen and starts commands, whichever it is; what it stops is in tests/safety."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from orchestrator.landlock import landlock_abi
from orchestrator.sandbox import NoSandbox, Policy, Sandbox, open_sandbox, private_env, sandbox_rows
from tests.support.confined import Place, make_place

NOWHERE = subprocess.DEVNULL


@cache
def opened(name: str) -> Sandbox:
    return open_sandbox(True, os.environ, prefer=name)


@pytest.fixture(params=["landlock", "bubblewrap"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    sandbox = opened(request.param)
    if sandbox.name != request.param:
        pytest.skip(f"no {request.param} here")
    return make_place(tmp_path, sandbox)


# --- the choice ------------------------------------------------------------------------------------------------------


def test_switched_off_there_is_none() -> None:
    assert open_sandbox(False, os.environ).name == "none"
    assert open_sandbox(True, os.environ, prefer="none").name == "none"


def test_the_kernels_own_comes_first() -> None:
    if landlock_abi() >= 3:
        assert open_sandbox(True, os.environ).name == "landlock"


def test_one_that_is_not_there_is_not_replaced_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert open_sandbox(True, os.environ, prefer="bubblewrap").name == "none"


def test_bubblewrap_that_may_not_make_namespaces_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert open_sandbox(True, os.environ, prefer="bubblewrap").name == "none"


def test_the_rows_say_what_is_in_force_and_what_to_install() -> None:
    rows = sandbox_rows(NoSandbox())
    assert rows[0][0] == "none" and "NOT CONFINED" in rows[0][1]
    if sys.platform == "linux":
        assert "apt install bubblewrap" in dict(rows)["to have one"]
    for name in ("landlock", "bubblewrap"):
        if (sandbox := opened(name)).name == name:
            assert sandbox_rows(sandbox)[0][0] == name
            assert [text for title, text in sandbox_rows(sandbox) if title == "limit"] == list(sandbox.limits)


# --- starting --------------------------------------------------------------------------------------------------------


def test_a_command_has_a_session_of_its_own_and_no_terminal(place: Place) -> None:
    done = place.python("import os; print(os.getsid(0) == os.getpgid(0)); open('/dev/tty')")
    assert "True\n" in done.output and "No such device or address" in done.output, done.output


def test_variables_are_those_given_and_the_private_folder(place: Place) -> None:
    done = place.bash(
        'echo "$MINE ${PYTEST_CURRENT_TEST-none} $TMPDIR $npm_config_cache"', env={"MINE": "x", "TMPDIR": "/tmp"}
    )
    temp = place.policy.temp
    assert done.output == f"x none {temp} {temp}/npm\n"


def test_a_cache_that_the_user_set_stays_and_off_means_untouched(tmp_path: Path) -> None:
    policy = Policy("workspace", False, tmp_path, tmp_path / "temp")
    assert private_env(policy, {"GOCACHE": "/mine"})["GOCACHE"] == "/mine"
    assert private_env(Policy("off", True, tmp_path, tmp_path), {"TMPDIR": "/tmp"}) == {"TMPDIR": "/tmp"}


def test_only_descriptors_given_are_handed_on(place: Place) -> None:
    given, kept = os.pipe()
    try:
        os.set_inheritable(kept, True)
        program = f"import os\nos.fstat({given})\ntry: os.fstat({kept})\nexcept OSError: print('closed')"
        started = place.sandbox.popen(
            [sys.executable, "-c", program],
            place.policy,
            cwd=place.policy.workspace,
            env=place.env,
            stdin=NOWHERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[given],
        )
        assert started.communicate(timeout=60)[0] == b"closed\n"
    finally:
        os.close(given)
        os.close(kept)


def test_output_goes_to_a_file_that_the_command_may_not_open(place: Place, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        started = place.at("read-only").sandbox.popen(
            ["bash", "-c", "echo said; echo more > /dev/stderr; ls > /dev/stdout"],
            place.at("read-only").policy,
            cwd=place.policy.workspace,
            env=place.env,
            stdin=NOWHERE,
            stdout=log.fileno(),
            stderr=log.fileno(),
        )
        assert started.wait(60) == 0
    assert (tmp_path / "log").read_text()


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    if opened("landlock").name != "landlock":
        pytest.skip("no landlock here")
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        make_place(tmp_path, opened("landlock")).run("no-such-program")


def test_who_starts_commands_is_not_confined_itself(place: Place, tmp_path: Path) -> None:
    """Also not when many are started at once, at different levels."""

    def run(number: int) -> str:
        level = place.at("read-only" if number % 2 else "workspace")
        return level.bash(f"echo x > w{number} && echo wrote").output

    with ThreadPoolExecutor(4) as threads:
        said = list(threads.map(run, range(12)))
    assert [("wrote" in each) for each in said] == [number % 2 == 0 for number in range(12)]
    (tmp_path / "mine").write_text("x")


def test_off_is_not_confined(place: Place, tmp_path: Path) -> None:
    assert place.at("off").bash(f"echo x > {tmp_path}/free").code == 0
    assert (tmp_path / "free").read_text() == "x\n"


# --- what the policy names -------------------------------------------------------------------------------------------


def test_more_folders_can_be_writable_but_not_when_only_reading(place: Place, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    wider = place.but(writable=(tmp_path / "more", tmp_path / "not-there"))
    assert wider.bash(f"echo x > {tmp_path}/more/a && mv {tmp_path}/more/a b && cat b").output == "x\n"
    assert wider.at("read-only").bash(f"echo x > {tmp_path}/more/c").code != 0
    assert not (tmp_path / "more" / "c").exists()


def test_a_closed_folder_of_secrets_is_not_opened_by_a_change_of_its_permissions(place: Place) -> None:
    keys = place.home / ".ssh"
    with closed(keys):
        assert "private" not in place.bash(f"chmod 700 {keys}; cat {keys}/id_ed25519").output


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    folder.chmod(0)
    try:
        yield
    finally:
        folder.chmod(stat.S_IRWXU)


def test_secrets_inside_what_may_be_written_stay_hidden(place: Place) -> None:
    """The workspace is the home folder: all may be changed but what runs by itself, and keys."""
    (place.home / ".bashrc").write_text("quiet\n")
    (place.home / "project").mkdir()
    home = Place(open_sandbox_for(place), place.but(workspace=place.home).policy, place.home)
    assert home.bash("echo x > project/new && cat project/new").output == "x\n"
    assert home.bash("echo evil >> .bashrc").code != 0
    assert home.bash("cat .ssh/id_ed25519; echo key >> .ssh/authorized_keys").code != 0
    assert (place.home / ".bashrc").read_text() == "quiet\n"
    assert not (place.home / ".ssh" / "authorized_keys").exists()


def open_sandbox_for(place: Place) -> Sandbox:
    return open_sandbox(True, {**os.environ, "HOME": str(place.home)}, prefer=place.sandbox.name)


def test_the_workspace_is_found_through_a_link(place: Place, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place.policy.workspace)
    linked = place.but(workspace=tmp_path / "link")
    assert linked.run("bash", "-c", "cat a.txt && echo x > made", cwd=tmp_path / "link").output == "a\n"


def test_what_is_refused_says_so(place: Place, tmp_path: Path) -> None:
    assert str(tmp_path / "out") in place.bash(f"echo x > {tmp_path}/out").explained
    assert "place of secrets" in place.bash("cat ~/.ssh/id_ed25519").explained or place.sandbox.name == "bubblewrap"
    assert "network" in place.python("import socket; socket.create_connection(('192.0.2.1', 9), 5)").explained
    assert place.bash("cat not-there; exit 3").explained == ""


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_can_use_its_cache(place: Place) -> None:
    (place.policy.workspace / "package.json").write_text(
        '{"name": "x", "version": "1.0.0", "scripts": {"t": "echo ran"}}'
    )
    done = place.bash("npm install --offline --no-audit --no-fund && npm run -s t")
    assert done.code == 0 and done.output.endswith("ran\n"), done.output
