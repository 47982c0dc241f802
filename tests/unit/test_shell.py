"""Commands of agents: what lasts, what ends, what they see, and what is left of them. Real shells, real kernels."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.errors import ToolError
from orchestrator.providers import load_providers
from orchestrator.sandbox import Sandbox, open_sandbox
from orchestrator.shell_env import is_secret_variable, without_secrets
from orchestrator.shell_jobs import MOST_JOBS
from orchestrator.shell_notes import interactive_note
from orchestrator.shell_output import HEAD, TAIL, KeptOutput, shown_text
from orchestrator.shell_script import Told, read_told, shell_arguments
from tests.support.shells import TEST_LOG_LIMIT, Shop, number_in, run_in, runs, shop, until

ROOT = Path(__file__).resolve().parents[2]
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="finds daemons by /proc")


@cache
def opened(name: str) -> Sandbox:
    return open_sandbox(True, os.environ, prefer=name)


@pytest.fixture(params=["none", "landlock"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shop]:
    sandbox = opened(request.param)
    if sandbox.name != request.param:
        pytest.skip(f"no {request.param} here")
    async with shop(tmp_path, sandbox) as made:
        yield made


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncIterator[Shop]:
    async with shop(tmp_path) as made:
        yield made


# --- a command -------------------------------------------------------------------------------------------------------


async def test_output_and_exit_code(place: Shop) -> None:
    run = await place.run("echo out; echo err >&2; echo again; exit 3")
    assert (run.exit_code, run.output, run.signal, run.log) == (3, "out\nerr\nagain\n", "", "")
    assert run.notes == () and run.confined == "" and not run.timed_out


async def test_pieces_come_while_it_runs(place: Shop) -> None:
    pieces: list[str] = []
    flag = place.workspace / "flag"
    task = asyncio.create_task(
        place.run("echo first; until [ -e flag ]; do sleep 0.01; done; echo last", 60, pieces.append)
    )
    await until(lambda: "first" in "".join(pieces))
    flag.touch()
    assert (await task).output == "".join(pieces) == "first\nlast\n"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("echo 'abc", 2, "unexpected EOF"),
        ("if then", 2, "syntax error"),
        ("nosuch-program", 127, "line 1: nosuch-program: command not found"),
        ("\n\nnosuch-program", 127, "line 3: nosuch-program"),
        ("set -e; false; echo no", 1, ""),
        ("set -u; echo $nope", 127, "unbound variable"),
        ("exec false", 1, ""),
        ("trap - EXIT; exit 4", 4, ""),
        ("trap 'echo mine' EXIT; exit 5", 5, "mine\n"),
        ("(exit 6)", 6, ""),
        ("set -x; true", 0, "++ true\n"),
        ("exec >&-; echo x 2>&-; true", 0, ""),
        ("cat <<X\nhere\nX", 0, "here\n"),
        ("builtin() { echo no; }; exit() { echo no; }; false", 1, ""),
    ],
)
async def test_the_lines_round_a_command_do_not_show(bare: Shop, command: str, code: int, said: str) -> None:
    run = await bare.run(command)
    assert run.exit_code == code
    assert said in run.output and "__orch" not in run.output and "descriptor" not in run.output
    assert said or not run.output


async def test_a_command_may_be_longer_than_an_argument(place: Shop) -> None:
    run = await place.run(f"x='{'y' * 300_000}'; echo ${{#x}}")
    assert run.output == "300000\n"


async def test_a_command_does_not_find_itself(bare: Shop) -> None:
    run = await bare.run("pkill -f unlikely-name-of-a-server; echo $?")
    assert run.output == "1\n"


@pytest.mark.parametrize("command", ["", " \n", "a\0b", "\ud800"])
async def test_what_no_shell_can_read_is_refused(bare: Shop, command: str) -> None:
    with pytest.raises(ToolError) as caught:
        await bare.run(command)
    assert caught.value.code == "invalid_command"


@pytest.mark.parametrize(
    ("command", "code", "name"),
    [("kill -9 $$", 137, "SIGKILL"), ("sh -c 'kill -SEGV $$'", 139, "SIGSEGV"), ("kill $$", 143, "SIGTERM")],
)
async def test_the_signal_that_ended_it_is_named(place: Shop, command: str, code: int, name: str) -> None:
    run = await place.run(command)
    assert (run.exit_code, run.signal, run.timed_out) == (code, name, False)


async def test_what_the_sandbox_stops_is_said(tmp_path: Path) -> None:
    if opened("landlock").name == "none":
        pytest.skip("no Landlock here")
    async with shop(tmp_path, opened("landlock")) as made:
        run = await made.run(f"echo x > '{tmp_path}/outside'")
        assert run.exit_code == 1 and "outside" in run.confined
        assert not (tmp_path / "outside").exists()
        assert (await made.run("f=$(mktemp) && echo x > $f && cat $f")).output == "x\n"


# --- what lasts ------------------------------------------------------------------------------------------------------


async def test_folder_and_variables_last(place: Shop) -> None:
    (place.workspace / "sub").mkdir()
    value = "x y\n'q' \"d\" $v `b` \\ é \t\x01"
    (place.workspace / "value").write_text(value)
    run = await place.run("IFS= read -rd '' V < value; export V; export E=; unset LC_ALL; cd sub; f() { :; }; L=local")
    assert (run.exit_code, run.cwd, run.notes) == (0, "sub", ("the next command starts in sub",))
    assert place.shell.cwd == "sub"
    after = await place.run('pwd; printf "%s" "$V" > out; echo "[$L][${E-none}][${LC_ALL-none}]"; f')
    assert after.output.startswith(f"{place.workspace}/sub\n[][][none]\n")
    assert (place.workspace / "sub" / "out").read_text() == value
    assert after.exit_code == 127


@pytest.mark.parametrize("ending", ["false", "exit 3", "kill -9 $$", "kill $$", "set -e; false", "'"])
async def test_a_failed_command_changes_neither(bare: Shop, ending: str) -> None:
    await bare.run("export A=before")
    await bare.run(f"export A=after; cd /; {ending}")
    assert bare.shell.cwd == "."
    assert (await bare.run("echo $A")).output == "before\n"


async def test_a_failed_command_says_that_it_did_not_move(bare: Shop) -> None:
    assert (await bare.run("cd /; false")).notes == ("it did not succeed, so the next command starts in . again",)


@pytest.mark.parametrize("ending", ["exit 0", "trap - EXIT", "trap 'echo bye' EXIT", "set -e", "exec 9>&1", "set -a"])
async def test_a_command_may_end_as_it_likes(bare: Shop, ending: str) -> None:
    await bare.run(f"export A=new; cd /; {ending}")
    assert (await bare.run("pwd; echo $A")).output == "/\nnew\n"


@pytest.mark.parametrize("ending", ["exec true", "trap - EXIT; exit 0", "set -n"])
async def test_what_could_not_be_kept_is_said(bare: Shop, ending: str) -> None:
    run = await bare.run(f"export A=new; cd /; {ending}")
    assert "were not kept" in run.notes[0] and run.cwd == "."


async def test_nothing_but_the_shell_can_tell_what_lasts(bare: Shop) -> None:
    """No program that a command starts has the file open that the folder and the variables are told in."""
    run = await bare.run(
        "ls -l /proc/self/fd | grep -c told; python3 -c 'import os; print(os.listdir(\"/proc/self/fd\"))'"
    )
    assert run.output.splitlines()[0] == "0"
    assert len(run.output.splitlines()[1].split(",")) == 4  # three, and the one that lists them


async def test_outside_the_workspace_is_said(bare: Shop) -> None:
    run = await bare.run("cd /usr")
    assert (run.cwd, run.notes) == ("/usr", ("the next command starts in /usr, outside the workspace",))
    assert bare.shell.cwd == "/usr"


async def test_a_folder_that_is_gone(bare: Shop) -> None:
    await bare.run("mkdir sub; cd sub")
    (bare.workspace / "sub").rmdir()
    run = await bare.run("pwd")
    assert (run.output, run.notes) == (
        f"{bare.workspace}\n",
        ("the folder sub is gone; the command ran in the workspace",),
    )
    assert bare.shell.cwd == "."


async def test_agents_do_not_share_and_policies_do(bare: Shop) -> None:
    other = bare.service.for_agent("child", bare.policy)
    same = bare.shell.under(bare.policy)
    await bare.run("cd /; export A=1")
    assert (other.cwd, same.cwd) == (".", "/")
    assert (await run_in(same, "echo $A")).output == "1\n"
    assert (await run_in(other, "echo $A")).output == "\n"


async def test_a_confined_command_cannot_steer_an_unconfined_one(tmp_path: Path) -> None:
    if opened("landlock").name == "none":
        pytest.skip("no Landlock here")
    async with shop(tmp_path, opened("landlock")) as made:
        await made.run("export PATH=$PWD/evil:$PATH LD_PRELOAD= A=1; mkdir sub; cd sub")
        free = made.shell.under(type(made.policy)("off", True, made.policy.workspace, made.policy.temp))
        run = await run_in(free, "echo $A; echo $PATH; pwd")
        assert run.output == f"\n{os.environ['PATH']}\n{made.workspace}/sub\n"
        assert "without the variables exported before: " in run.notes[0] and "PATH" in run.notes[0]
        assert (await made.run("echo $A")).output == "1\n"


PROGRAMS = ["/bin/bash", "/bin/sh"]
VALUES = st.text(st.characters(blacklist_characters="\0\x1e", blacklist_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize("program", PROGRAMS)
@settings(max_examples=12)
@given(values=st.lists(VALUES, min_size=1, max_size=40))
def test_every_value_comes_back_as_it_was(program: str, values: list[str]) -> None:
    variables = {f"V{index}": value for index, value in enumerate(values)}
    told = tell(program, "cd /usr", variables)
    assert told is not None and told.folder == "/usr"
    assert {name: value for name, value in told.exported.items() if name in variables} == variables


def tell(program: str, command: str, env: dict[str, str]) -> Told | None:
    with tempfile.TemporaryFile() as file:
        argv = shell_arguments(program, file.fileno(), background=False)
        variables = {"PATH": os.environ["PATH"], **env}
        subprocess.run(argv, input=command.encode(), env=variables, pass_fds=(file.fileno(),), check=True)
        return read_told(os.pread(file.fileno(), 1 << 20, 0))


@pytest.mark.parametrize(
    "data", [b"", b"/usr\n", b"/usr\n\x1e", b"x\n\x1e\x1e", b"/usr\n\x1enonsense\n\x1e", b"\0" * 9]
)
def test_what_is_not_told_in_full_is_not_believed(data: bytes) -> None:
    assert read_told(data) is None


# --- the environment -------------------------------------------------------------------------------------------------

SECRET = {
    "MY_TOKEN": "x",
    "npm_config__authToken": "x",
    "DB_PASSWORD": "x",
    "PGPASSWORD": "x",
    "AWS_PROFILE": "x",
    "GOOGLE_APPLICATION_CREDENTIALS": "/x",
    "HARMLESS": "sk-ant-" + 10 * "a1B2",
    "OTHER": "header: ghp_" + 9 * "a1B2",
    "PEM": "-----BEGIN RSA PRIVATE KEY-----\nx",
    "DATABASE_URL": "postgres://u:p@db.example.org/x",
    "JSON_WEB": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
}
PLAIN = {
    "PATH": "/bin",
    "PWD": "/",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "TOKENIZERS_PARALLELISM": "false",
    "KEYBOARD": "de",
    "MONKEY": "x",
    "AWS_REGION": "eu-central-1",
    "DATABASE_URL": "postgres://postgres:postgres@localhost:5432/test",
    "HTTPS_PROXY": "http://user:word@proxy.example.org:3128",
    "GIT_AUTHOR_NAME": "sk",
    "EMPTY_KEY": "",
}


def test_what_looks_like_a_secret_is_withheld() -> None:
    assert without_secrets(SECRET) == ({}, frozenset(SECRET))
    assert without_secrets(PLAIN) == (PLAIN, frozenset())
    assert without_secrets(SECRET, ["MY_*", "PEM"]).variables == {name: SECRET[name] for name in ("MY_TOKEN", "PEM")}


def test_the_keys_of_all_providers_are_withheld() -> None:
    names = {name for provider in load_providers().values() for name in (*provider.key_env, *provider.bearer_env)}
    assert len(names) > 10
    assert [name for name in names if not is_secret_variable(name, "x")] == []


async def test_what_commands_see(tmp_path: Path) -> None:
    env = {
        "ORCH_HOME": "/secret",
        "BASH_ENV": str(tmp_path / "startup"),
        "BASH_FUNC_builtin%%": "() { echo function; }",
        "GIT_ASKPASS": "/bin/ask",
        "KEEP_KEY": "kept",
        "OTHER_KEY": "other",
        "LINES": "9",
        "odd-name": "odd",
    }
    (tmp_path / "startup").write_text("echo startup\n")
    async with shop(tmp_path, env=env, keep_env=("KEEP_KEY",)) as made:
        listing = f"{sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
        seen, again = [json.loads((await made.run(listing)).output) for _ in range(2)]
    assert seen["KEEP_KEY"] == "kept" and seen["odd-name"] == "odd" == again["odd-name"]
    assert not {"OTHER_KEY", "ORCH_HOME", "BASH_ENV", "GIT_ASKPASS", "LINES", "BASH_FUNC_builtin%%"} & set(seen)
    assert [name for name in seen if name.startswith("ORCH_")] == ["ORCH_SHELL_ID"]
    assert (seen["GIT_PAGER"], seen["TERM"], seen["GIT_TERMINAL_PROMPT"]) == ("cat", "dumb", "0")
    assert seen["TMPDIR"] == str(made.policy.temp)
    assert seen["ORCH_SHELL_ID"] != again["ORCH_SHELL_ID"]


async def test_a_withheld_variable_that_is_used_is_named(tmp_path: Path) -> None:
    async with shop(tmp_path, env={"MY_API_KEY": "x"}) as made:
        assert "MY_API_KEY is withheld" in (await made.run('curl -H "$MY_API_KEY" -V >/dev/null; true')).notes[0]
        assert (await made.run("true")).notes == ()


# --- programs that wait for a person ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "note"),
    [
        ("vim notes.txt", "vim needs a terminal"),
        ("cd . && EDITOR=x nano a", "nano needs a terminal"),
        ("top", "top needs a terminal"),
        ("python3", "python3 reads standard input"),
        ("node", "node reads standard input"),
        ("ssh -p 22 host.example", "ssh without a command"),
        ("git rebase -i HEAD~3", "git rebase -i asks step by step"),
        ("git -C x add -p", "git add -p asks step by step"),
        ("read answer", "read asks for input"),
    ],
)
def test_why_an_interactive_program_came_to_nothing(command: str, note: str) -> None:
    assert interactive_note(command, 1, "").startswith(note)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("python3 -m pytest", ""),
        ("python3 script.py", ""),
        ("node -e 1", ""),
        ("ssh host uptime", ""),
        ("git rebase main; sed -i s/a/b/ f", ""),
        ("echo x | python3", ""),
        ("while read x; do echo $x; done < f", ""),
        ("less f", "text"),
        ("cat file", ""),
        ("git commit -m vim", ""),
        ("./top", ""),
    ],
)
def test_no_note_where_nothing_waited(command: str, output: str) -> None:
    assert interactive_note(command, 0, output) == ""


@pytest.mark.parametrize("program", ["vim", "watch"])
async def test_a_program_for_the_whole_screen_ends_at_once(bare: Shop, program: str) -> None:
    """Both would run until the time limit."""
    if not any(Path(folder, program).exists() for folder in os.environ["PATH"].split(":")):
        pytest.skip(f"{program} is not installed")
    run = await bare.run(f"{program} file; echo after", 60)
    assert not run.timed_out and run.duration_s < 20
    assert run.output.endswith("after\n")


async def test_git_says_that_there_is_no_editor(bare: Shop) -> None:
    run = await bare.run(
        "git init -q . && git config user.name n && git config user.email e && git commit --allow-empty"
    )
    assert run.exit_code == 1 and "There is no editor here" in run.output
    assert (await bare.run("GIT_EDITOR=true git commit -q --allow-empty --allow-empty-message")).exit_code == 0


async def test_there_is_no_terminal(place: Shop) -> None:
    run = await place.run("cat; tty; echo x > /dev/tty")
    assert "not a tty" in run.output and run.exit_code == 1


# --- long output -----------------------------------------------------------------------------------------------------


async def test_a_long_output_keeps_head_and_tail_and_all_of_it_in_a_file(place: Shop) -> None:
    run = await place.run("seq 1 20000")
    whole = "".join(f"{number}\n" for number in range(1, 20001))
    head, _, rest = run.output.partition("\n[… ")
    mark, _, tail = rest.partition(" …]\n")
    assert whole.startswith(head) and whole.endswith(tail) and len(run.output) < HEAD + TAIL + 500
    missing = whole[len(head) : len(whole) - len(tail)]
    assert (
        mark.startswith(f"{missing.count(chr(10)):,} lines, {len(missing):,} bytes left out here") and run.log in mark
    )
    assert Path(run.log).read_text() == whole
    assert stat.S_IMODE(Path(run.log).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(run.log).parent.stat().st_mode) == 0o700


async def test_no_file_for_a_short_output(bare: Shop) -> None:
    run = await bare.run(f"head -c {HEAD + TAIL} /dev/zero | tr '\\0' x")
    assert (len(run.output), run.log, bare.logs.exists()) == (HEAD + TAIL, "", False)


async def test_the_file_does_not_grow_without_end(bare: Shop) -> None:
    run = await bare.run(f"head -c {3 * TEST_LOG_LIMIT} /dev/zero | tr '\\0' x; echo end")
    assert Path(run.log).stat().st_size == TEST_LOG_LIMIT
    assert run.output.endswith("xend\n") and any("grew too large" in note for note in run.notes)


async def test_a_file_that_cannot_be_written_stops_nothing(bare: Shop) -> None:
    bare.logs.write_text("in the way")
    run = await bare.run("seq 1 20000")
    assert run.output.endswith("\n20000\n") and run.log == ""
    assert any("could not be kept" in note for note in run.notes)


@settings(max_examples=40)
@given(pieces=st.lists(st.binary(max_size=9000) | st.text(max_size=3000).map(str.encode), max_size=12))
def test_whatever_comes_little_memory_is_used(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    kept = KeptOutput(tmp_path_factory.mktemp("logs") / "x.log", 50_000)
    for piece in pieces:
        kept.add(piece)
    data = b"".join(pieces)
    text = kept.take()
    kept.close()
    if len(data) <= HEAD + TAIL:
        assert text == shown_text(data) and not kept.log
    else:
        assert len(text.encode()) < 3 * (HEAD + TAIL) and "left out here" in text
        assert Path(kept.log).read_bytes() == data[:50_000]
    assert not kept.pending


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[31mred\x1b[0m\r\nx\n", "red\nx\n"),
        (b"ok\xf0\xff\n", "ok\ufffd\ufffd\n"),
        (b"1%\r2%\rx", "1%\n2%\nx"),
        (
            b"".join(b"%d%%\r" % n for n in range(101)) + b"\ndone\n",
            "0%\n[… 99 overwritten states of this line left out …]\n100%\ndone\n",
        ),
        (b"a\0b\x07\n", "ab\n"),
    ],
)
def test_how_output_is_shown(data: bytes, text: str) -> None:
    assert shown_text(data) == text


# --- how it ends -----------------------------------------------------------------------------------------------------


async def test_a_time_limit_ends_the_group_and_gives_what_there_was(place: Shop) -> None:
    run = await place.run("echo before; sleep 1000 & echo $! > pid; sleep 1000", 0.3)
    assert (run.exit_code, run.timed_out, run.signal, run.output) == (None, True, "SIGTERM", "before\n")
    assert "still running after 0.3 s" in run.notes[0]
    assert not runs(int((place.workspace / "pid").read_text()))


async def test_one_that_does_not_listen_is_killed(place: Shop) -> None:
    run = await place.run("trap 'echo asked' TERM; echo $$ > pid; while :; do sleep 0.05; done", 0.1)
    assert (run.exit_code, run.signal) == (None, "SIGKILL")
    assert "asked\n" in run.output
    assert not runs(int((place.workspace / "pid").read_text()))


@needs_proc
@pytest.mark.parametrize(
    "start",
    [
        "sleep 1000 & echo $! > pid",
        "sleep 1000 > /dev/null 2>&1 & echo $! > pid",
        "nohup setsid sh -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 & until [ -s pid ]; do sleep 0.01; done",
        "(setsid sh -c 'echo $$ > pid; exec sleep 1000' &); until [ -s pid ]; do sleep 0.01; done",
        "set -m; sleep 1000 & echo $! > pid; disown",
        "env -i sleep 1000 & echo $! > pid",
    ],
)
async def test_what_is_left_running_is_ended_and_said(place: Shop, start: str) -> None:
    run = await place.run(f"{start}\necho hi", 60)
    assert (run.exit_code, run.output.replace("nohup: ignoring input\n", "")) == (0, "hi\n")
    assert run.duration_s < 20
    assert "still running when the command ended" in run.notes[0] and "background: true" in run.notes[0]
    assert not runs(int((place.workspace / "pid").read_text()))


async def test_the_last_words_of_what_ends_with_the_shell(place: Shop) -> None:
    run = await place.run("echo hi > >(sleep 0.05; sed s/h/H/)")
    assert (run.output, run.notes) == ("Hi\n", ())


async def test_a_cancelled_call_leaves_nothing(place: Shop) -> None:
    task = asyncio.create_task(place.run("sleep 1000 & echo $! > pid; sleep 1000"))
    pid = await number_in(place.workspace / "pid")
    assert runs(pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not runs(pid)


async def test_a_call_cancelled_twice_leaves_nothing(place: Shop) -> None:
    task = asyncio.create_task(place.run("trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done"))
    pid = await number_in(place.workspace / "pid")
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not runs(pid)


async def test_without_process_descriptors_and_memory_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on systems other than Linux."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.delattr(os, "memfd_create", raising=False)
    async with shop(tmp_path) as made:
        assert (await made.run("export A=1; echo x; cd /")).output == "x\n"
        assert (await made.run("pwd; echo $A; exit 3"))[:2] == (3, "/\n1\n")
        assert (await made.run("sleep 1000", 0.1)).timed_out


async def test_nothing_is_left_open(bare: Shop) -> None:
    await bare.run("true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for command in ("true", "seq 1 20000", "sleep 1000 & true", "nosuch"):
        await bare.run(command)
    await bare.run("sleep 1000", 0.05)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


async def test_a_program_that_cannot_be_started_is_an_error(bare: Shop) -> None:
    await bare.run("for i in 1 2 3 4 5 6 7 8 9; do export A$i=$(head -c 100000 /dev/zero | tr '\\0' x); done")
    await bare.run("export B=$(head -c 140000 /dev/zero | tr '\\0' x)")
    with pytest.raises(ToolError) as caught:
        await bare.run("true")
    assert caught.value.code == "cannot_start" and "too long" in caught.value.message


async def test_commands_end_when_orch_is_killed(tmp_path: Path) -> None:
    program = f"""
import asyncio
from pathlib import Path
from tests.support.shells import shop
async def main():
    async with shop(Path({str(tmp_path)!r})) as made:
        await made.shell.start("echo $$ > job; sleep 1000")
        await made.run("setsid sh -c 'echo $$ > daemon; exec sleep 1000' > /dev/null & echo $$ > run; sleep 1000", 500)
asyncio.run(main())
"""
    orch = await asyncio.create_subprocess_exec(sys.executable, "-c", program, cwd=ROOT, start_new_session=True)
    pids = [await number_in(tmp_path / "workspace" / name) for name in ("job", "run", "daemon")]
    assert all(map(runs, pids))
    orch.send_signal(signal.SIGKILL)
    await orch.wait()
    await until(lambda: not any(map(runs, pids)))


# --- in the background -----------------------------------------------------------------------------------------------


async def test_a_job_is_followed_and_stopped(place: Shop) -> None:
    job = await place.shell.start(
        "echo ready; echo $$ > pid; until [ -e flag ]; do sleep 0.01; done; echo more; sleep 1000"
    )
    assert (job.running, job.command[:10], job.exit_code) == (True, "echo ready", None)
    said = job.output
    while not said:
        said += (await place.shell.output(job.id, wait=30)).output
    assert said == "ready\n"
    assert (await place.shell.output(job.id)).output == ""
    (place.workspace / "flag").touch()
    assert (await place.shell.output(job.id, wait=30)).output == "more\n"
    ended = await place.shell.stop(job.id)
    assert (ended.running, ended.exit_code, ended.signal) == (False, None, "SIGTERM")
    assert not runs(int((place.workspace / "pid").read_text()))
    assert not (await place.shell.stop(job.id)).running


async def test_a_job_that_cannot_start_says_so_at_once(place: Shop) -> None:
    job = await place.shell.start("nosuch-program")
    if job.running:
        job = await place.shell.output(job.id, wait=30)
    assert (job.running, job.exit_code) == (False, 127) and "command not found" in job.output


async def test_waiting_for_a_job_ends_with_the_job(bare: Shop) -> None:
    job = await bare.shell.start("until [ -e flag ]; do sleep 0.01; done; exit 3")
    waiting = asyncio.create_task(bare.shell.output(job.id, wait=60))
    (bare.workspace / "flag").touch()
    ended = await waiting
    assert (ended.running, ended.exit_code, ended.output) == (False, 3, "")


async def test_a_job_waits_for_what_it_started(bare: Shop) -> None:
    job = await bare.shell.start("(until [ -e flag ]; do sleep 0.01; done; echo late) &")
    assert job.running
    (bare.workspace / "flag").touch()
    assert (await bare.shell.output(job.id, wait=30)).output == "late\n"


async def test_a_job_keeps_all_its_output_in_a_file(bare: Shop) -> None:
    job = await bare.shell.start("seq 1 20000; echo end")
    output = job.output
    while job.running:
        job = await bare.shell.output(job.id, wait=30)
        output += job.output
    assert output.endswith("20000\nend\n")
    assert Path(job.log).read_text() == "".join(f"{number}\n" for number in range(1, 20001)) + "end\n"


async def test_unknown_jobs_and_too_many(bare: Shop) -> None:
    with pytest.raises(ToolError) as caught:
        await bare.shell.output("job-7")
    assert caught.value.code == "no_job"
    await asyncio.gather(*(bare.shell.start("sleep 1000") for _ in range(MOST_JOBS)))
    with pytest.raises(ToolError) as caught:
        await bare.shell.start("sleep 1000")
    assert caught.value.code == "too_many_jobs"
    with pytest.raises(ToolError):
        await bare.service.for_agent("child", bare.policy).output("job-1")


async def test_jobs_end_with_the_session(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        await made.shell.start("echo $$ > one; sleep 1000")
        await made.shell.start("trap '' TERM; echo $$ > two; while :; do sleep 0.05; done")
        pids = [await number_in(made.workspace / name) for name in ("one", "two")]
        assert all(map(runs, pids))
    assert not any(map(runs, pids))
    with pytest.raises(ToolError) as caught:
        await made.run("true")
    assert caught.value.code == "closed"


async def test_a_session_that_is_cancelled_while_it_ends_leaves_nothing(tmp_path: Path) -> None:
    pids: list[int] = []

    async def session() -> None:
        async with shop(tmp_path) as made:
            await made.shell.start("trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done")
            pids.append(await number_in(made.workspace / "pid"))

    task = asyncio.create_task(session())
    await until(lambda: bool(pids))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not runs(pids[0]))
