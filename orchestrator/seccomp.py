"""A filter of system calls (seccomp) for confined commands, as a program for the kernel's packet filter machine.

It closes what Landlock does not handle: sockets, other processes, namespaces, kernel interfaces, and changes of
permissions, owners and times.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable, Sequence
from errno import EFAULT, ENOSYS, EOPNOTSUPP, EPERM
from functools import cache
from typing import NamedTuple

from orchestrator.seccomp_calls import (
    AIMED,
    EXTENDED_ATTRIBUTES,
    FORBIDDEN,
    METADATA,
    MODE_ARGUMENT,
    NOT_THERE,
    OPEN_ARGUMENTS,
    Architecture,
    architecture,
    numbers,
)

Program = bytes
"""Instructions of eight bytes each."""

_LOAD, _AND = 0x20, 0x54
_IF_EQUAL, _IF_ANY_BIT = 0x15, 0x45
_RETURN = 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

_NAMESPACE_FLAGS = 0x7E020000
_NEW_TIME_NAMESPACE = 0x80
"""Only a flag of `unshare`; for `clone` it is part of a signal's number."""
_UNIX, _IPV4, _IPV6, _NETLINK = 1, 2, 10, 16
_PRIORITY_OF_USER, _IO_PRIORITY_OF_USER = 2, 3
_SET_USER_ID = 0o4000
_MAKES_FILE = 0x400040
"""`O_CREAT` and the part of `O_TMPFILE` that is its own; without them the mode counts for nothing."""
_SET_OWNER, _SET_OWNER_EX = 8, 15
_STREAM, _DATAGRAM, _SEQUENCED, _TYPE_MASK = 1, 2, 5, 0xF

_FORBIDDEN_IOCTLS = (
    0x5412,  # TIOCSTI: types into a terminal
    0x541C,  # TIOCLINUX: the same by way of the selection
    0x541D,  # TIOCCONS
    0x5423,  # TIOCSETD
    0x40086602,  # FS_IOC_SETFLAGS: needs no right to write
    0x40046602,  # FS_IOC32_SETFLAGS
    0x40087602,  # FS_IOC_SETVERSION
    0x401C5820,  # FS_IOC_FSSETXATTR
    0x40806685,  # FS_IOC_ENABLE_VERITY
    0x800C6613,  # FS_IOC_SET_ENCRYPTION_POLICY
    0xC0045877,  # FIFREEZE
    0xC0045878,  # FITHAW
    0xC0185879,  # FITRIM
)
_BTRFS = 0x9400
"""The family of ioctls that make and delete subvolumes and snapshots on a folder opened for reading."""
_COPY_ON_WRITE_IOCTLS = (0x40049409, 0x4020940D, 0xC0189436)
"""FICLONE, FICLONERANGE, FIDEDUPERANGE: of the same family, and every file system's."""


class Filter(NamedTuple):
    """What the filter is to do beside what it always does.

    `network`: internet sockets may be opened. `metadata`: permissions and times of files may be changed (extended
    attributes and the set-user-ID bit never). `debugging`: the command may trace what it started. `truncate`: by name,
    where the kernel's Landlock is too early to handle it. `signals`: by ways that do not name a process in an
    argument, where the kernel keeps them from leaving the command.
    """

    network: bool
    metadata: bool
    debugging: bool
    truncate: bool = True
    signals: bool = True


def seccomp_works() -> bool:
    """Whether this kernel filters system calls, and there is a table for this machine."""
    libc = ctypes.CDLL(None, use_errno=True)
    # A null program is refused as a bad address by a kernel that filters.
    libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), None, ctypes.c_ulong(0), ctypes.c_ulong(0))
    return architecture() is not None and ctypes.get_errno() == EFAULT


def bind_filter(wanted: Filter, untouchable: Sequence[int]) -> None:
    """Bind the calling thread, which must have forbidden new privileges, and all that it starts.

    `untouchable` are processes and threads at which no signal and no change of scheduling may be aimed.
    """
    bind_program(filter_program(wanted, untouchable))


def bind_program(program: Program) -> None:
    """Bind the calling thread to a finished program."""

    class Header(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    header = Header(len(program) // 8, program)
    mode = ctypes.c_ulong(_MODE_FILTER)
    if libc.prctl(_PR_SET_SECCOMP, mode, ctypes.byref(header), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"the filter of system calls was refused: {os.strerror(code)}")


def filter_program(wanted: Filter, untouchable: Sequence[int] = ()) -> Program:
    """The whole program. Raises `OSError` on a machine whose system calls have no table here."""
    machine = architecture()
    if machine is None:
        raise OSError(ENOSYS, "no table of system calls for this machine")
    known = numbers(machine.column)
    return b"".join((_head(machine), _aimed(known, untouchable), _body(machine.column, wanted), _return(_ALLOW)))


# --- the parts of the program ----------------------------------------------------------------------------------------


def _head(machine: Architecture) -> Program:
    """Programs of another architecture number their calls otherwise: they are ended. So are x32 calls refused."""
    return b"".join(
        (
            _load(_ARCHITECTURE_AT),
            _unless_equal(machine.audit, _return(_KILL_PROCESS)),
            _load(_NUMBER_AT),
            _if_any_bit(_X32_BIT, _refuse(ENOSYS)) if machine.column == 0 else b"",
        )
    )


def _aimed(known: dict[str, int], untouchable: Sequence[int]) -> Program:
    if not untouchable:
        return b""
    check = _load_argument(0) + _if_among(untouchable, _refuse(EPERM)) + _return(_ALLOW)
    return b"".join(_on(known[name], check) for name in AIMED.split())


@cache
def _body(column: int, wanted: Filter) -> Program:
    known = numbers(column)
    refused = FORBIDDEN.split()
    refused += [] if wanted.metadata else METADATA.split()
    refused += [] if wanted.debugging else ["ptrace"]
    refused += [] if wanted.truncate else ["truncate"]
    refused += [] if wanted.signals else ["pidfd_send_signal"]
    plain = {name: _refuse(EPERM) for name in refused}
    plain |= {name: _refuse(EOPNOTSUPP) for name in EXTENDED_ATTRIBUTES.split()}  # as on a file system without them
    plain |= {name: _refuse(ENOSYS) for name in NOT_THERE.split()}
    checked = {name: _no_set_user_id(at) for name, at in MODE_ARGUMENT.items() if name not in plain}
    checked |= {
        name: _load_argument(flags) + _if_any_bit(_MAKES_FILE, _no_set_user_id(at)) + _return(_ALLOW)
        for name, (flags, at) in OPEN_ARGUMENTS.items()
    }
    checked |= {} if wanted.signals else {"fcntl": _no_owner()}
    checked |= {
        "clone": _load_argument(0) + _if_any_bit(_NAMESPACE_FLAGS, _refuse(EPERM)) + _return(_ALLOW),
        "unshare": _load_argument(0)
        + _if_any_bit(_NAMESPACE_FLAGS | _NEW_TIME_NAMESPACE, _refuse(EPERM))
        + _return(_ALLOW),
        "prlimit64": _only_own_limits(),
        "setpriority": _only_own_priority(user=_PRIORITY_OF_USER),
        "ioprio_set": _only_own_priority(user=_IO_PRIORITY_OF_USER),
        "move_pages": _load_argument(0) + _if_among((0,), _return(_ALLOW)) + _refuse(EPERM),
        "ioctl": _ioctls(),
        "socket": _sockets(wanted.network),
        "socketpair": _load_argument(0) + _if_equal(_UNIX, _kind_among((_STREAM, _SEQUENCED))) + _refuse(EPERM),
    }
    return b"".join(_on(known[name], part) for name, part in (plain | checked).items() if name in known)


def _no_set_user_id(at: int) -> Program:
    """Others could run such a program as the user, outside of any sandbox."""
    return _load_argument(at) + _if_any_bit(_SET_USER_ID, _refuse(EPERM)) + _return(_ALLOW)


def _no_owner() -> Program:
    """The owner of a file is sent a signal by the kernel when something can be read from it."""
    return _load_argument(1) + _if_among((_SET_OWNER, _SET_OWNER_EX), _refuse(EPERM)) + _return(_ALLOW)


def _only_own_limits() -> Program:
    """Setting the limits of a process by its number is refused, also its own; asking is not."""
    return b"".join(
        (
            _load_argument(0),
            _if_among((0,), _return(_ALLOW)),
            _load_argument(2),
            _unless_equal(0, _refuse(EPERM)),
            _load_argument(2, high=True),
            _unless_equal(0, _refuse(EPERM)),
            _return(_ALLOW),
        )
    )


def _only_own_priority(user: int) -> Program:
    """Not that of a process by its number, nor of all that the user runs."""
    return b"".join(
        (
            _load_argument(0),
            _if_equal(user, _refuse(EPERM)),
            _load_argument(1),
            _unless_equal(0, _refuse(EPERM)),
            _return(_ALLOW),
        )
    )


def _ioctls() -> Program:
    return b"".join(
        (
            _load_argument(1),
            _if_among(_FORBIDDEN_IOCTLS, _refuse(EPERM)),
            _if_among(_COPY_ON_WRITE_IOCTLS, _return(_ALLOW)),
            _instruction(_AND, 0xFF00),
            _if_among((_BTRFS,), _refuse(EPERM)),
            _return(_ALLOW),
        )
    )


def _sockets(network: bool) -> Program:
    """With the network: TCP and UDP. Always: asking the kernel for the machine's addresses. UNIX sockets never.

    A UNIX socket's path leads to any daemon, and the filter sees numbers only: family, kind and protocol.
    """
    routes_only = _load_argument(2) + _if_among((0,), _return(_ALLOW)) + _refuse(EPERM)
    return b"".join(
        (
            _load_argument(0),
            _if_among((_IPV4, _IPV6), _kind_among((_STREAM, _DATAGRAM))) if network else b"",
            _if_equal(_NETLINK, routes_only),
            _refuse(EPERM),
        )
    )


def _kind_among(kinds: Iterable[int]) -> Program:
    """A connected pair of datagram sockets, for one, could send to any path; the other kinds stay with their peer."""
    return _load_argument(1) + _instruction(_AND, _TYPE_MASK) + _if_among(kinds, _return(_ALLOW)) + _refuse(EPERM)


# --- instructions ----------------------------------------------------------------------------------------------------


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> Program:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _load(offset: int) -> Program:
    return _instruction(_LOAD, offset)


def _load_argument(index: int, *, high: bool = False) -> Program:
    """The low half of an argument (little endian); the kernel itself reads no more of what is an `int`."""
    return _load(_ARGUMENTS_AT + 8 * index + (4 if high else 0))


def _return(action: int) -> Program:
    return _instruction(_RETURN, action)


def _refuse(code: int) -> Program:
    return _return(_ERRNO | code)


def _if_equal(value: int, then: Program) -> Program:
    return _instruction(_IF_EQUAL, value, 0, len(then) // 8) + then


def _unless_equal(value: int, then: Program) -> Program:
    return _instruction(_IF_EQUAL, value, len(then) // 8, 0) + then


def _if_any_bit(mask: int, then: Program) -> Program:
    return _instruction(_IF_ANY_BIT, mask, 0, len(then) // 8) + then


def _if_among(values: Iterable[int], then: Program) -> Program:
    return b"".join(_if_equal(value, then) for value in values)


_on = _if_equal
"""`_on(call, part)`: the part for one system call. It must end in a return, since it loads over the call's number."""
