"""Usual work goes on in a sandbox, whichever it is."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

from orchestrator.sandbox import Sandbox, open_sandbox
from tests.support.confined import Place, make_place


@cache
def opened(name: str) -> Sandbox:
    return open_sandbox(True, os.environ, prefer=name)


@pytest.fixture(params=["landlock", "bubblewrap"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    sandbox = opened(request.param)
    if sandbox.name != request.param:
        pytest.skip(f"no {request.param} here")
    return make_place(tmp_path, sandbox)


WORK = {
    "commit": ("echo b > b.txt && git add b.txt && git commit -qm second && git log --format=%s | head -1", "second"),
    "branch": ("git checkout -qb topic && git branch --show-current && git stash list", "topic"),
    "build": (
        "printf 'int main(){return 0;}' > m.c && printf 'all:\\n\\tcc -pthread -o m m.c\\n' > Makefile"
        " && make -s && ./m && echo built",
        "built",
    ),
    "big-sort": ("seq 200000 | sort -rn -S 200K | head -1", "200000"),
    "temporary": (
        'f=$(mktemp) && echo x > "$f" && cat "$f" && case "$f" in "$TMPDIR"/*) echo private;; esac',
        "x\nprivate",
    ),
    "pipes": (
        "printf 'b\\na\\n' | sort | tee s | head -1 && cat <(echo sub) && mkfifo f && (echo fifo > f &) && cat f",
        "a\nsub\nfifo",
    ),
    "jobs": (
        "sleep 30 & kill %1; wait %1; sleep 30 & kill -STOP $!; kill -CONT $!; kill $!; wait $!; echo $?",
        "143",
    ),
    "signals": ("trap 'echo caught; exit 0' TERM; kill $$; sleep 5", "caught"),
    "copies": (
        "cp -a a.txt c && mv c d && ln a.txt hard && ln -s a.txt soft && chmod 700 d && touch -d 2000-01-01 d"
        " && cat soft",
        "a",
    ),
    "archive": ("mkdir in && tar cf t.tar a.txt && tar xf t.tar -C in && cat in/a.txt", "a"),
    "devices": (
        "echo x > /dev/null && head -c 3 /dev/zero | wc -c && echo e > /dev/stderr && head -c1 /dev/urandom | wc -c",
        "3\ne\n1",
    ),
    "here-document": ("cat <<X\nhere\nX", "here"),
    "limits": ("ulimit -n 64 && ulimit -n", "64"),
    "niceness": ("nice -n 5 true && timeout 5 true && nohup true && echo ok", "ok"),
    "proc": (
        "cat /proc/self/comm && grep -c . /proc/meminfo > /dev/null && nproc > /dev/null"
        " && ps -o pid= -p $$ | tr -d ' ' | grep -c .",
        "cat\n1",
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_in_the_workspace(place: Place, name: str) -> None:
    command, said = WORK[name]
    done = place.bash(command)
    assert done.code == 0, done.output
    assert done.output.strip() == said


def test_python_works_with_processes_threads_and_pools(place: Place) -> None:
    program = """
import concurrent.futures as f, multiprocessing as m, subprocess, tempfile, threading
if __name__ == "__main__":
    m.set_start_method("fork")
    with m.Pool(2) as pool:
        print(pool.map(abs, [-1, -2]))
    queue = m.Queue(); queue.put("queued"); print(queue.get())
    with f.ThreadPoolExecutor(2) as threads:
        print(sum(threads.map(abs, range(5))))
    print(subprocess.run(["echo", "sub"], capture_output=True, text=True).stdout.strip())
    with tempfile.TemporaryDirectory() as folder:
        open(folder + "/x", "w").close()
"""
    (place.policy.workspace / "work.py").write_text(program)
    done = place.bash("python3 work.py")
    assert (done.code, done.output.split("\n")[:4]) == (0, ["[1, 2]", "queued", "10", "sub"]), done.output


def test_tests_run(place: Place) -> None:
    (place.policy.workspace / "test_one.py").write_text(
        "def test_one(tmp_path):\n    (tmp_path / 'x').write_text('x')\n"
    )
    done = place.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "test_one.py")
    assert done.code == 0 and "1 passed" in done.output, done.output


@pytest.mark.parametrize("program", ["pip", "npm", "node", "cc"])
def test_a_usual_program_says_its_version(place: Place, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    done = place.bash(f"{program} --version")
    assert done.code == 0 and done.output, done.output


def test_a_package_is_installed_into_an_environment_in_the_workspace(place: Place) -> None:
    wheel = place.policy.workspace / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("tiny.py", "print('tiny')\n")
        packed.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        packed.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr("tiny-1.dist-info/RECORD", "")
    pip = f"{sys.executable} -m pip -q --disable-pip-version-check --python .v/bin/python"
    done = place.bash(
        f"{sys.executable} -m venv --without-pip .v && {pip} install --no-index --no-deps {wheel.name}"
        " && .v/bin/python -m tiny"
    )
    assert done.code == 0 and done.output.endswith("tiny\n"), done.output


LOOPBACK = """
import asyncio
async def main():
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    print(await reader.read())
    writer.close()
    server.close()
asyncio.run(main())
"""


def test_servers_on_loopback_work_with_the_network_on_only(place: Place) -> None:
    assert place.but(network=True).python(LOOPBACK).output == "b''\n"
    if place.sandbox.name == "landlock":  # bubblewrap has a loopback of its own
        done = place.python("import socket; socket.create_server(('127.0.0.1', 0))")
        assert "Operation not permitted" in done.output and "using the network" in done.explained


def test_children_of_an_event_loop_and_pairs_of_sockets_need_no_network(place: Place) -> None:
    program = """
import asyncio, socket
a, b = socket.socketpair()
a.send(b"paired")
print(b.recv(9).decode())
async def main():
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=-1)
    print((await child.communicate())[0].decode(), end="")
asyncio.run(main())
"""
    assert place.at("read-only").python(program).output == "paired\nchild\n"


def test_node_reads_the_addresses_of_the_machine(place: Place) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    done = place.bash("node -e 'console.log(typeof require(\"os\").networkInterfaces())'")
    assert (done.code, done.output) == (0, "object\n")


READING = {
    "log": ("git log --format=%s", "first"),
    "status": ("git status --short && git diff --stat && git show --format=%s --stat | head -1", "first"),
    "search": ("grep -r a . --include=*.txt && find . -name a.txt", "./a.txt:a\n./a.txt"),
    "python": ("python3 -c 'print(1)'", "1"),
    "big-sort": ("seq 200000 | sort -rn -S 200K | head -1", "200000"),
    "here-document": ("cat <<X\nhere\nX", "here"),
    "temporary": ('f=$(mktemp) && echo x > "$f" && cat "$f" && mkdir "$TMPDIR/d" && mv "$f" "$TMPDIR/d/"', "x"),
    "output": ("echo out > /dev/null; echo err > /dev/stderr", "err"),
}


@pytest.mark.parametrize("name", READING)
def test_when_only_reading(place: Place, name: str) -> None:
    command, said = READING[name]
    done = place.at("read-only").bash(command)
    assert done.code == 0, done.output
    assert done.output.strip() == said
    assert done.explained == ""
