"""What must never run, whoever allows it: a backstop, not the fence."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from orchestrator.command_rules.judged import Surroundings
from orchestrator.command_rules.names import names_in
from orchestrator.command_rules.places import named
from orchestrator.shell_syntax import Redirect, Word

_FUNCTION = re.compile(r"\([ \t]*\)\s*\{([^}]{0,400})")
_BEFORE = 64
_MOST_CHARS = 16 * 1024
_MOST_WORDS = 200
_DEVICE = re.compile(
    r"/dev/(?:[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d|loop\d|dm-\d|md\d|mapper/|disk/|block/|k?mem\Z|port\Z|sr\d|nbd\d)"
    r"|/proc/sysrq-trigger"
)
_SYSTEM = names_in(
    """/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /usr/bin
    /usr/lib /usr/local /usr/sbin /usr/share /var /var/lib /Applications /Library /System /Users /Volumes /private
    /private/etc /private/var"""
)
_DISKS = names_in(
    "wipefs fdisk sfdisk cfdisk gdisk sgdisk parted mkswap blkdiscard lvremove vgremove pvremove killall5 badblocks"
)
_LOOKS = frozenset(("-l", "--list", "-v", "-V", "--version", "-h", "--help", "print", "-n", "--no-act"))
_POWER = frozenset(("shutdown", "reboot", "poweroff", "halt"))
_POWER_TARGETS = ("poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "suspend", "hibernate")
_SIGNS = re.compile(r"[;&|\n(){}`]")


def forbidden_text(text: str) -> str:
    """What is forbidden in a text that need not be understood; empty when nothing is."""
    for found in _FUNCTION.finditer(text):
        before = text[max(0, found.start() - _BEFORE) : found.start()].rstrip()
        name = re.split(r"[\s(){}|&;]", before)[-1]
        if name and re.search(rf"(?<![\w.-]){re.escape(name)}\s*\|&?\s*{re.escape(name)}\s*&", found.group(1)):
            return "a fork bomb"
    return ""


def forbidden_unread(text: str, around: Surroundings) -> str:
    """The same for the commands in a text that could not be parsed, taken apart roughly."""
    for part in _SIGNS.split(text[:_MOST_CHARS])[:_MOST_WORDS]:
        try:
            words = shlex.split(part, comments=False)
        except ValueError:
            words = part.replace('"', " ").replace("'", " ").split()
        words = words[:_MOST_WORDS]
        for at in range(min(len(words), 8)):
            line = tuple(Word.literal(str(around.home) + each[1:] if each[:1] == "~" else each) for each in words[at:])
            if found := forbidden_command(os.path.basename(words[at]), line[1:], (), around):  # noqa: PTH119
                return found
    return ""


def forbidden_command(name: str, words: Sequence[Word], redirects: Sequence[Redirect], around: Surroundings) -> str:
    """What is forbidden about a simple command; empty when nothing is."""
    name = name.lower()  # some file systems ignore case
    texts = [named(word, around.home) for word in words]
    plain = [text for text in texts if text is not None]
    for redirect in redirects:
        target = redirect.target.value or ""
        if ">" in redirect.operator and _DEVICE.match(target):
            return f"writing to the device {target}"
    return (
        _on_disks(name, plain)
        or _on_machine(name, plain)
        or _on_folders(name, words, around)
        or ("--no-preserve-root" if "--no-preserve-root" in plain else "")
    )


def _on_disks(name: str, texts: Sequence[str]) -> str:
    if name.startswith("mkfs") or name in ("newfs", "mke2fs"):
        return f"making a file system (`{name}`)"
    if name in _DISKS and not _LOOKS & set(texts):
        return f"changing disks (`{name}`)"
    if name == "diskutil" and any(text.lower().startswith(("erase", "partition", "zero", "secure")) for text in texts):
        return "changing disks (`diskutil`)"
    if name == "cryptsetup" and any(text.lower() in ("luksformat", "erase", "lukserase") for text in texts):
        return "changing disks (`cryptsetup`)"
    targets = [text.removeprefix("of=") for text in texts if text.startswith("of=")] if name == "dd" else texts
    if name in ("dd", "cp", "tee", "shred", "mv", "install", "truncate", "sponge"):
        written = targets[-1:] if name in ("cp", "install") else targets
        if device := next((text for text in written if _DEVICE.match(os.path.normpath(text))), ""):
            return f"writing to the device {device}"
    return ""


def _on_machine(name: str, texts: Sequence[str]) -> str:
    if name in _POWER and not {"--help", "--version"} & set(texts):
        return f"ending the machine (`{name}`)"
    if name in ("init", "telinit") and any(text in ("0", "6", "1", "s", "S") for text in texts):
        return f"ending the machine (`{name}`)"
    if name == "systemctl" and any(text in _POWER_TARGETS for text in texts):
        return "ending the machine (`systemctl`)"
    if name == "kill" and len(texts) > 1 and texts[-1] == "-1":
        return "ending every process (`kill … -1`)"
    return ""


def _on_folders(name: str, words: Sequence[Word], around: Surroundings) -> str:
    texts = [word.value or "" for word in words]
    short = "".join(text[1:] for text in texts if text.startswith("-") and not text.startswith("--"))
    operands = [word for word in words if not (word.value or "").startswith("-")]
    if name == "rm":
        harms = "r" in short or "R" in short or any(_is_long(text, "--recursive") for text in texts)
        what = "deleting"
    elif name in ("chmod", "chown", "chgrp"):
        harms, what = "R" in short or any(_is_long(text, "--recursive") for text in texts), "changing the rights of"
    elif name == "mv":
        harms, what, operands = len(operands) > 1, "moving", operands[:-1]
    elif name == "find":
        ends = (at for at, word in enumerate(words) if (word.value or "").startswith(("-", "!", "(")))
        deletes = "-delete" in texts or {"rm", "shred", "unlink"} & set(texts)
        narrowed = any(text in ("-name", "-path", "-iname", "-newer", "-mtime", "-user", "-regex") for text in texts)
        harms, what, operands = bool(deletes) and not narrowed, "deleting", list(words[: next(ends, len(words))])
    else:
        return ""
    found = next((word for word in operands if _is_vital(word, around)), None) if harms else None
    return f"{what} {found.source}" if found else ""


def _is_long(text: str, option: str) -> bool:
    """Whether it is a long option or the beginning of one, as programs accept it."""
    return len(text) > 2 and text.startswith("--") and option.startswith(text)


def _is_vital(word: Word, around: Surroundings) -> bool:
    """Whether a word names the root, a folder of the system, a home, a folder above the workspace, or all in it."""
    text = named(word, around.home)
    if text is None:
        if word.splits or not word.many:
            return False
        text = word.source.replace('"', "").replace("'", "")
        text = f"{around.home}{text[1:]}" if word.tilde and text[:2] in ("~", "~/") else text
        text = re.sub(r"^\$(?:HOME|\{HOME\})", str(around.home), text)
    text = re.sub(r"/(?:\.?\*|\{[.*,]+\}|\.\[!?\.\]\*|\.\?\?\*)+\Z", "", text) or "/"
    if not text.startswith(("/", ".")):
        return False
    path = os.path.normpath(os.path.join(around.cwd, text))  # noqa: PTH118
    path = "/" + path.lstrip("/")
    above = {str(each) for folder in (around.workspace, around.cwd) for each in folder.parents}
    homes = {str(around.home), *(str(each) for each in around.home.parents)}
    return path in _SYSTEM | above | homes or Path(path).parent in (Path("/home"), Path("/Users"))
