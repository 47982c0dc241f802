"""Capabilities and the visibility of a process: what a process started by the superuser gives up, thread by thread."""

from __future__ import annotations

import ctypes
import os

_VERSION_3 = 0x20080522
_SET_DUMPABLE, _BOUNDING_SET_READ, _BOUNDING_SET_DROP = 4, 23, 24

_CHOWN, _DAC_OVERRIDE, _FOWNER, _FSETID, _KILL, _SETGID, _SETUID, _NET_BIND_SERVICE = 0, 1, 3, 4, 5, 6, 7, 10
USUAL = (_CHOWN, _DAC_OVERRIDE, _FOWNER, _FSETID, _KILL, _SETGID, _SETUID, _NET_BIND_SERVICE)
"""What programs run by the superuser expect to have; all of it is held within bounds by Landlock and the filter."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def hide_memory() -> None:
    """Keep other processes of the same user from reading this one's memory, environment and open files.

    For the whole process, until it runs another program. It also writes no core dump.
    """
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, ctypes.c_ulong(0), *[ctypes.c_ulong(0)] * 3)


def drop_capabilities(keep: tuple[int, ...] = USUAL) -> None:
    """The calling thread, and what it starts, loses for good all capabilities but `keep`; most users have none."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = _Header(_VERSION_3, 0), (_Data * 2)()
    _check(libc.capget(ctypes.byref(header), data), "capget")
    if not any(half.permitted for half in data):
        return
    for capability in range(64):
        if capability not in keep and libc.prctl(_BOUNDING_SET_READ, ctypes.c_ulong(capability), 0, 0, 0) == 1:
            libc.prctl(_BOUNDING_SET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    kept = sum(1 << capability for capability in keep)
    for index, half in enumerate(data):
        mask = kept >> 32 * index & 0xFFFFFFFF
        half.effective &= mask
        half.permitted &= mask
        half.inheritable &= mask
    _check(libc.capset(ctypes.byref(header), data), "capset")


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what} failed: {os.strerror(code)}")
