"""Linux system calls that confined commands may not make, or not with all arguments, with their numbers."""

from __future__ import annotations

import platform
from functools import cache
from typing import NamedTuple

_NUMBERS = """
ptrace 101 117 | process_vm_readv 310 270 | process_vm_writev 311 271 | process_madvise 440 440 | pidfd_getfd 438 438
kcmp 312 272 | process_mrelease 448 448 | migrate_pages 256 238 | move_pages 279 239
pidfd_send_signal 424 424 | fcntl 72 25
kill 62 129 | tkill 200 130 | tgkill 234 131 | rt_sigqueueinfo 129 138 | rt_tgsigqueueinfo 297 240
pidfd_open 434 434 | sched_setaffinity 203 122 | sched_setscheduler 144 119 | sched_setparam 142 118
sched_setattr 314 274 | setpriority 141 140 | ioprio_set 251 30 | prlimit64 302 261
io_uring_setup 425 425 | io_uring_enter 426 426 | io_uring_register 427 427
mount 165 40 | umount2 166 39 | pivot_root 155 41 | chroot 161 51 | move_mount 429 429 | open_tree 428 428
open_tree_attr 467 467 | fsopen 430 430 | fsconfig 431 431 | fsmount 432 432 | fspick 433 433 | mount_setattr 442 442
unshare 272 97 | setns 308 268 | clone 56 220 | clone3 435 435
bpf 321 280 | perf_event_open 298 241 | userfaultfd 323 282 | keyctl 250 219 | add_key 248 217 | request_key 249 218
kexec_load 246 104 | kexec_file_load 320 294 | init_module 175 105 | finit_module 313 273 | delete_module 176 106
reboot 169 142 | swapon 167 224 | swapoff 168 225 | acct 163 89 | quotactl 179 60 | quotactl_fd 443 443
settimeofday 164 170 | clock_settime 227 112 | adjtimex 159 171 | clock_adjtime 305 266 | sethostname 170 161
setdomainname 171 162 | iopl 172 - | ioperm 173 - | modify_ldt 154 - | syslog 103 116 | vhangup 153 58
open_by_handle_at 304 265 | fanotify_init 300 262 | nfsservctl 180 42
shmget 29 194 | shmat 30 196 | shmctl 31 195 | semget 64 190 | semop 65 193 | semctl 66 191 | semtimedop 220 192
msgget 68 186 | msgsnd 69 189 | msgrcv 70 188 | msgctl 71 187 | mq_open 240 180 | mq_unlink 241 181
open 2 - | openat 257 56 | openat2 437 437 | creat 85 - | mknod 133 - | mknodat 259 33
socket 41 198 | socketpair 53 199 | ioctl 16 29 | truncate 76 45
chmod 90 - | fchmod 91 52 | fchmodat 268 53 | fchmodat2 452 452 | chown 92 - | lchown 94 - | fchown 93 55
fchownat 260 54 | utime 132 - | utimes 235 - | futimesat 261 - | utimensat 280 88
setxattr 188 5 | lsetxattr 189 6 | fsetxattr 190 7 | removexattr 197 14 | lremovexattr 198 15 | fremovexattr 199 16
setxattrat 463 463 | removexattrat 466 466 | file_setattr 469 469
"""
"""Name, number on x86_64, number on aarch64; `-` where there is none."""

OTHER_PROCESSES = "process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp process_mrelease migrate_pages"
NAMESPACES = """mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick
    mount_setattr setns"""
KERNEL = """bpf perf_event_open userfaultfd keyctl add_key request_key kexec_load kexec_file_load init_module
    finit_module delete_module reboot swapon swapoff acct quotactl quotactl_fd settimeofday clock_settime adjtimex
    clock_adjtime sethostname setdomainname iopl ioperm modify_ldt syslog vhangup open_by_handle_at fanotify_init
    nfsservctl"""
SHARED_MEMORY = "shmget shmat shmctl semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink"
"""System V and POSIX message queues: reached by number or name, past the file system, also those of other programs."""
FORBIDDEN = " ".join((OTHER_PROCESSES, NAMESPACES, KERNEL, SHARED_MEMORY))

NOT_THERE = "io_uring_setup io_uring_enter io_uring_register clone3 openat2"
"""Answered as by a kernel without them: programs then use calls whose arguments can be looked at."""

MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
"""Calls that can set the set-user-ID bit of a file, and which argument holds the bits."""

OPEN_ARGUMENTS = {"open": (1, 2), "openat": (2, 3)}
"""The same when they make the file: which argument says so, and which holds the bits."""

EXTENDED_ATTRIBUTES = """setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat
    file_setattr"""
METADATA = "chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat utimensat"
"""Changes of files that Landlock does not handle."""

AIMED = """kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open sched_setaffinity sched_setscheduler
    sched_setparam sched_setattr"""
"""Calls aimed at a process or thread by its number, their first argument."""


class Architecture(NamedTuple):
    """`audit` is the kernel's word for it; `column` that of the table above."""

    audit: int
    column: int


def architecture() -> Architecture | None:
    """The one that this process runs on, or `None` when it has no table here."""
    known = {"x86_64": Architecture(0xC000003E, 0), "aarch64": Architecture(0xC00000B7, 1)}
    return known.get(platform.machine())


@cache
def numbers(column: int) -> dict[str, int]:
    """The calls of the table by name."""
    rows = (entry.split() for line in _NUMBERS.split("\n") for entry in line.split("|") if entry.strip())
    return {name: int(each[column]) for name, *each in rows if each[column] != "-"}
