"""The filter's tables and programs, for machines that the tests do not run on too."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from orchestrator import seccomp_calls
from orchestrator.seccomp import Filter, filter_program
from orchestrator.seccomp_calls import Architecture, architecture, numbers

HEADERS = {
    0: ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    1: ("/usr/include/asm-generic/unistd.h",),
}
ON_X86_ONLY = "open creat mknod chmod chown lchown utime utimes futimesat iopl ioperm modify_ldt"


def test_every_call_that_is_named_has_a_number() -> None:
    lists = (
        *("OTHER_PROCESSES", "NAMESPACES", "KERNEL", "SHARED_MEMORY", "NOT_THERE", "EXTENDED_ATTRIBUTES"),
        *("METADATA", "AIMED"),
    )
    named = {name for each in lists for name in getattr(seccomp_calls, each).split()}
    named |= {*seccomp_calls.MODE_ARGUMENT, *seccomp_calls.OPEN_ARGUMENTS}
    assert named <= set(numbers(0))
    assert named - set(numbers(1)) <= set(ON_X86_ONLY.split())


@pytest.mark.parametrize("column", [0, 1])
def test_no_two_calls_share_a_number(column: int) -> None:
    assert len(set(numbers(column).values())) == len(numbers(column))


@pytest.mark.parametrize("column", [0, 1])
def test_the_numbers_are_those_of_the_kernels_headers(column: int) -> None:
    header = next((path for path in map(Path, HEADERS[column]) if path.exists()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed")
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    known = {name: number for name, number in numbers(column).items() if name in found}
    assert len(known) > 60
    assert known == {name: int(found[name]) for name in known}


@pytest.mark.parametrize(
    "wanted", [Filter(network=n, metadata=m, debugging=m, signals=n) for n in (True, False) for m in (True, False)]
)
@pytest.mark.parametrize("machine", [Architecture(0xC000003E, 0), Architecture(0xC00000B7, 1)])
def test_every_jump_stays_in_the_program(
    wanted: Filter, machine: Architecture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.seccomp.architecture", lambda: machine)
    program = filter_program(wanted, untouchable=(1, 2))
    steps = list(struct.iter_unpack("=HBBI", program))
    assert len(steps) < 4096  # what the kernel takes
    for at, (code, if_true, if_false, _) in enumerate(steps):
        if code & 0x7 == 0x5:
            assert at + 1 + max(if_true, if_false) < len(steps)
    assert steps[-1][:1] == (0x06,)


def test_a_machine_without_a_table_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert architecture() is None
    with pytest.raises(OSError, match="no table of system calls"):
        filter_program(Filter(network=False, metadata=False, debugging=False))
