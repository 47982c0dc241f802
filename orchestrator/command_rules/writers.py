"""Programs that change files, and which of their operands those are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from orchestrator.command_rules.options import Table, read_options
from orchestrator.command_rules.ruling import Case, Ruling, unknown, writing
from orchestrator.shell_syntax import Word

Changes = Literal["all", "rest", "last", "none"]
"""`rest`: all operands but the first, which is a mode or an owner; `last`: the target, the others are read."""

_NAMES: tuple[tuple[Changes, str], ...] = (
    (
        "all",
        """rm rmdir touch mkdir mkfifo mknod truncate unlink shred mv tee mktemp gunzip bunzip2 unxz xz bzip2 zstd
        sponge wipefs chattr setfacl rename compress""",
    ),
    ("rest", "chmod chown chgrp chcon"),
    ("last", "cp ln install link rsync scp split csplit"),
    (
        "none",
        """patch dd useradd userdel usermod groupadd passwd crontab at mount umount swapon swapoff kill pkill killall
        apt apt-get dpkg yum dnf brew snap systemctl service sync fallocate mkswap losetup insmod rmmod modprobe
        iptables nft setcap zip cpio ar ranlib strip ldconfig update-alternatives visudo chsh chfn adduser deluser
        logrotate renice ed ex vi vim nvim nano emacs notify-send logger wall write mail sendmail lpr""",
    ),
)
_CHANGES: Mapping[str, Changes] = {name: changes for changes, names in _NAMES for name in names.split()}
_TABLES: Mapping[str, str] = {
    "touch": "-d: -r< -t: --date: --reference<",
    "mkdir": "-m: --mode:",
    "truncate": "-s: -r< --size: --reference<",
    "cp": "-t> -S: --target-directory> --suffix:",
    "mv": "-t> -S: --target-directory> --suffix:",
    "ln": "-t> -S: --target-directory> --suffix:",
    "install": "-t> -S: -m: -o: -g: --target-directory> --mode: --owner: --group:",
    "split": "-a: -b: -C: -l: -n:",
    "shred": "-n: -s:",
    "mktemp": "-p: --tmpdir? --suffix:",
    "chmod": "--reference<",
    "chown": "--reference< --from:",
}
_ONLINE = frozenset(("rsync", "scp", "apt", "apt-get", "yum", "dnf", "brew", "snap", "mail", "sendmail"))


def is_writer(name: str) -> bool:
    return name in _CHANGES or name.startswith("mkfs")


def judge_writer(case: Case) -> Ruling:
    """A program of the table."""
    changes = _CHANGES.get(case.name, "all")
    options = read_options(case.words, Table.of(_TABLES.get(case.name, "")), loose=True)
    changed, read = _parts(case, changes, options.operands)
    named = options.files(">")
    if named:
        changed, read = named, options.operands
    why = f"`{case.name}` changes files" if changes != "none" else f"`{case.name}` changes things"
    if case.name == "dd":
        return _dd(case)
    return writing(why, changed, (*read, *options.files("<")), network=case.name in _ONLINE)


def _parts(case: Case, changes: Changes, operands: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The operands that are changed, and those that are read."""
    if changes == "all":
        return operands, ()
    if changes == "rest":
        return operands[1:], ()
    if changes == "last" and len(operands) > 1:
        return operands[-1:], operands[:-1]
    return (operands, ()) if changes == "last" else ((), ())


def _dd(case: Case) -> Ruling:
    reads: list[Word] = []
    writes: list[Word] = []
    for word in case.words:
        for start, found in (("if=", reads), ("of=", writes)):
            if word.prefix.startswith(start):
                value = None if word.value is None else word.value[3:]
                found.append(word._replace(source=word.source[3:], value=value, prefix=word.prefix[3:]))
    if not writes and all(word.value is not None for word in case.words):
        return unknown("`dd` is not judged further", tuple(reads))
    return writing("`dd` writes", tuple(writes), tuple(reads))
