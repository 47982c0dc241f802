"""Landlock, the Linux kernel's own sandbox, through its system calls: rights, rulesets, and the thread they bind.

A ruleset lists what stays allowed of the kinds of access that it handles. Once bound, it holds for the calling thread
and all that this thread starts, for good; other threads of the process are not touched.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from enum import IntFlag
from functools import cache
from pathlib import Path
from types import TracebackType

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, the same on every architecture."""
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS = 38
_NEWEST_KNOWN = 7


class Fs(IntFlag):
    """Rights on files and folders, as the kernel numbers them."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


READ = Fs.EXECUTE | Fs.READ_FILE | Fs.READ_DIR
CHANGE = (
    Fs.WRITE_FILE
    | Fs.TRUNCATE
    | Fs.REFER
    | Fs.REMOVE_DIR
    | Fs.REMOVE_FILE
    | Fs.MAKE_DIR
    | Fs.MAKE_REG
    | Fs.MAKE_SOCK
    | Fs.MAKE_FIFO
    | Fs.MAKE_SYM
)
"""All that changes a tree of files; device nodes are never made."""
DEVICE_NODES = Fs.MAKE_CHAR | Fs.MAKE_BLOCK
OF_FILES = Fs.EXECUTE | Fs.WRITE_FILE | Fs.READ_FILE | Fs.TRUNCATE | Fs.IOCTL_DEV
"""What can be granted on something that is no folder."""

TCP = 0b11
"""Binding and connecting TCP sockets."""
SCOPE = 0b11
"""Abstract UNIX sockets and signals reach only what the same command started."""

TRUNCATE_SINCE, TCP_SINCE, SCOPE_SINCE = 3, 4, 6
_SINCE = ((2, Fs.REFER), (TRUNCATE_SINCE, Fs.TRUNCATE), (5, Fs.IOCTL_DEV))


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def landlock_abi() -> int:
    """The version that the kernel speaks, at most the newest known here; 0 when it has none or it is switched off."""
    try:
        return min(_syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)), _NEWEST_KNOWN)
    except OSError:
        return 0


def known_rights(abi: int) -> Fs:
    """The rights on files that version `abi` can handle."""
    later = Fs(0)
    for version, right in _SINCE:
        if abi < version:
            later |= right
    return (READ | CHANGE | DEVICE_NODES | Fs.IOCTL_DEV) & ~later


def forbid_new_privileges() -> None:
    """The calling thread, and what it starts, gains nothing from set-user-ID programs any more."""
    if _libc().prctl(_SET_NO_NEW_PRIVS, *(ctypes.c_ulong(each) for each in (1, 0, 0, 0))) != 0:
        raise _failure("prctl(PR_SET_NO_NEW_PRIVS)")


class Ruleset:
    """Rules in the making. `handled` rights that version `abi` does not know are left out."""

    def __init__(self, abi: int, handled: Fs, *, tcp: bool = False, scope: bool = False) -> None:
        self._handled = handled & known_rights(abi)
        self._of_folders, self._of_files = int(self._handled), int(self._handled & OF_FILES)
        attributes = _RulesetAttributes(
            self._handled, TCP if tcp and abi >= TCP_SINCE else 0, SCOPE if scope and abi >= SCOPE_SINCE else 0
        )
        size = ctypes.c_size_t(8 if abi < TCP_SINCE else 16 if abi < SCOPE_SINCE else 24)
        self._fd = _syscall(_CREATE_RULESET, ctypes.byref(attributes), size, ctypes.c_uint32(0))

    def __enter__(self) -> Ruleset:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._fd)

    def allow(self, path: str | Path, rights: int) -> None:
        """Allow `rights` on `path` and all below it. What is not there, or cannot be opened, is left out."""
        try:
            fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        try:
            self.allow_open(fd, rights)
        finally:
            os.close(fd)

    def allow_all(self, paths: Iterable[str | Path], rights: int) -> None:
        for path in paths:
            self.allow(path, int(rights))  # flags are slow to combine, and there can be hundreds of paths

    def allow_open(self, fd: int, rights: int) -> None:
        """Allow `rights` on what `fd` has open. Links stand for nothing and are left out."""
        mode = os.fstat(fd).st_mode
        rights &= self._of_folders if stat.S_ISDIR(mode) else self._of_files
        if not rights or stat.S_ISLNK(mode):
            return
        rule = _PathBeneath(rights, fd)
        _syscall(_ADD_RULE, ctypes.c_int(self._fd), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))

    def bind(self) -> None:
        """Bind the calling thread. It must have forbidden new privileges."""
        _syscall(_RESTRICT_SELF, ctypes.c_int(self._fd), ctypes.c_uint32(0))


def _syscall(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise _failure(f"landlock system call {number}")
    return result


def _failure(what: str) -> OSError:
    code = ctypes.get_errno()
    return OSError(code, f"{what} failed: {os.strerror(code)}")


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc
