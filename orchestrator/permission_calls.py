"""What a command line comes to for permissions: its commands in every spelling, its files, and what cannot be seen."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from orchestrator.command_rules import Judged, JudgedCommand, Surroundings, judge_command
from orchestrator.permission_patterns import Word
from orchestrator.shell_syntax import Parsed, Simple, parse_command


def words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RUNNERS = words_in(
    """sudo doas su runuser pkexec env xargs timeout nohup nice ionice time watch parallel find fd script strace ltrace
    setsid stdbuf chroot chrt taskset unshare nsenter flock ssh busybox toybox command builtin exec coproc systemd-run
    entr caffeinate npx dumb-init tini proot fakeroot sh bash dash zsh ksh fish ash eval trap git"""
)
"""Programs that run what stands in their arguments, as words or as text."""
_SHELLS = words_in("sh bash dash zsh ksh ash fish")
_INTERPRETERS = _SHELLS | words_in("python python2 python3 node nodejs deno bun perl ruby php lua Rscript awk")
_STATEFUL = words_in(
    """cd pushd popd export declare typeset readonly local set shopt source . eval exec alias unalias unset hash enable
    builtin command trap read mapfile readarray printf getopts let umask ulimit"""
)
"""What changes how later commands of the same line run."""
_WHOLE = words_in("rm mv rmdir shred chmod chown chgrp chattr rsync ln find unlink trash")
"""Programs that take a folder with all that it holds."""
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", "<>", ">&"))
_EXPANDS = re.compile(r"[$`*?\[\]{}~<>()]")
_QUOTED_FOLDER = re.compile(r'"[^"`]*/([\w.+-]+)"')
_GLOB = re.compile(r"[*?\[]")
_MOST_FILES = 2000


class ShellCall(NamedTuple):
    """`spellings` are the words of every command that may run, also inside of others; an unknown word is `None`.

    `unclear` says why the commands may not be all that runs. `reads` and `writes` are the paths that are named,
    absolute, those to be written with whether a whole folder may be meant. `redirected` are the files that redirections
    write, `None` where the name is not known. `readers` are the words of commands that only read, but for these.
    `offerable`: the words say all, nothing else is fed to a program.
    """

    command: str
    judged: Judged
    spellings: tuple[tuple[Word, ...], ...]
    unclear: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[tuple[str, bool], ...]
    redirected: tuple[str | None, ...]
    readers: frozenset[tuple[str, ...]]
    offerable: bool

    @property
    def lines(self) -> tuple[str, ...]:
        """The commands, one a line, and the text itself unless it is just the one command."""
        texts = tuple(dict.fromkeys(command.text for command in self.judged.commands))
        written = self.command.strip()
        if texts == (written,):
            return texts
        raw = tuple(written.split("\n"))
        return (*texts, f"as written: {raw[0]}", *raw[1:]) if texts else raw

    def only_reads(self, command: JudgedCommand) -> bool:
        """Whether it changes nothing itself; a redirection is judged on its own."""
        if not command.words and command.level == "writes":  # a redirection of several commands, or of none
            return bool(self.redirected) and set(command.writes) <= set(self.redirected)
        return command.level == "read-only" or (command.plain and command.words in self.readers)


def open_call(command: str, judged: Judged, around: Surroundings) -> ShellCall:
    """Take a command apart for permissions."""
    parsed = parse_command(command)
    unclear = (*parsed.unknown, *(why for each in judged.commands for why in _hidden(each)))
    redirected = tuple(dict.fromkeys(_redirected(parsed, around)))
    return ShellCall(
        command,
        judged,
        tuple(dict.fromkeys(_spellings(command, parsed, judged, bool(unclear)))),
        tuple(dict.fromkeys(unclear)),
        tuple(dict.fromkeys((*judged.reads, *_globbed(parsed, around)))),
        tuple(dict.fromkeys(_writes(judged, redirected))),
        redirected,
        frozenset(_readers(parsed, judged, around)) if redirected and not unclear else frozenset(),
        "<<" not in command and not any(_says_little(each) for each in judged.commands),
    )


# --- commands --------------------------------------------------------------------------------------------------------


def _spellings(command: str, parsed: Parsed, judged: Judged, unclear: bool) -> Iterator[tuple[Word, ...]]:
    for words in (*(_words_of(each) for each in parsed.commands), *(_words(each) for each in judged.commands)):
        if words:
            yield words
            yield from _inner(words)
    if unclear:
        yield from _guessed(command)


def _words_of(simple: Simple) -> tuple[Word, ...]:
    return tuple(
        word.value if word.value is not None else _known_name(word.source) if index == 0 else None
        for index, word in enumerate(simple.words)
    )


def _words(command: JudgedCommand) -> tuple[Word, ...]:
    if command.plain:
        return command.words
    return tuple(
        word if not _EXPANDS.search(word) else _known_name(word) if index == 0 else None
        for index, word in enumerate(command.words)
    )


def _known_name(source: str) -> Word:
    """The name of a program whose folder alone is unknown: `"$VENV/bin/python"`."""
    found = _QUOTED_FOLDER.fullmatch(source)
    return found.group(1) if found else None


def _inner(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """What a program that runs others may run: any of its last words, and what its arguments hold as text."""
    if words[0] is None or words[0].rpartition("/")[2].casefold() not in _RUNNERS:
        return
    is_git = words[0].rpartition("/")[2].casefold() == "git"
    for at, word in enumerate(words[1:], 1):
        if word is not None and re.search(r"\s", word):
            yield from _guessed(word.removeprefix("!") if is_git else word)
        if word is not None and not is_git and not word.startswith("-"):
            yield tuple(words[at:])


def _guessed(text: str) -> Iterator[tuple[Word, ...]]:
    """Everything that may be a command in a text that is not understood, with quotes and backslashes taken away."""
    bare = re.sub(r"\\\n|[\\'\"]", "", text)
    for part in re.split(r"[;&|()`\n{}<>=!]", bare):
        words: list[Word] = [None if "$" in word else word for word in part.split()]
        yield from (tuple(words[at:]) for at in range(len(words)))


def _hidden(command: JudgedCommand) -> Iterator[str]:
    """Why the text that a shell is given does not show what runs."""
    words = command.words
    name = words[0].rpartition("/")[2] if words else ""
    if name in _SHELLS:
        options = [at for at, word in enumerate(words) if re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", word)]
        texts = [word for at in options for word in words[at + 1 : at + 2]]
    else:
        texts = [" ".join(words[1:])] if name == "eval" else []
    for text in texts:
        yield from (f"in `{name}`: {why}" for why in parse_command(text).unknown)


def _says_little(command: JudgedCommand) -> bool:
    """Whether its words do not say what it comes to: it runs what it reads, or changes how later commands run."""
    if command.level == "read-only" or not command.words:
        return False
    name = command.words[0].rpartition("/")[2]
    if name in _INTERPRETERS:
        return all(word.startswith("-") for word in command.words[1:])
    return name in _STATEFUL or name in ("xargs", "parallel")


def _readers(parsed: Parsed, judged: Judged, around: Surroundings) -> Iterator[tuple[str, ...]]:
    """The words of commands that only read once their redirections are taken away.

    Only where no part of the line changes how another one runs: then each can be judged on its own.
    """
    first = [simple.words[0].value if simple.words else "" for simple in parsed.commands]
    if any(name is None or name in _STATEFUL for name in first) or any(each.assignments for each in parsed.commands):
        return
    if any(redirect.target.value is None for simple in parsed.commands for redirect in simple.redirects):
        return
    import shlex

    for command in judged.commands:
        if command.plain and command.level != "read-only" and command.words:
            alone = judge_command(shlex.join(command.words), around)
            if alone.level == "read-only" and not alone.writes:
                yield command.words


# --- files -----------------------------------------------------------------------------------------------------------


def _redirected(parsed: Parsed, around: Surroundings) -> Iterator[str | None]:
    """The files that redirections write, absolute; `None` for one whose name or folder is not known."""
    moved = any(each.words and each.words[0].value in (None, "cd", "pushd", "popd") for each in parsed.commands)
    for simple in parsed.commands:
        for redirect in simple.redirects:
            target = redirect.target.value
            if redirect.operator not in _WRITING or _is_descriptor(redirect.operator, target):
                continue
            if target is None or redirect.target.tilde or (moved and not target.startswith("/")):
                yield None
            elif not _is_stream(target):
                yield os.path.normpath(around.cwd / target)


def _is_descriptor(operator: str, target: str | None) -> bool:
    return operator == ">&" and target is not None and re.fullmatch(r"\d+-?|-", target) is not None


def _is_stream(target: str) -> bool:
    return target in ("/dev/null", "/dev/stdout", "/dev/stderr") or re.fullmatch(r"/dev/fd/\d+", target) is not None


def _writes(judged: Judged, redirected: Sequence[str | None]) -> Iterator[tuple[str, bool]]:
    for command in judged.commands:
        whole = bool(command.words) and command.words[0].rpartition("/")[2] in _WHOLE
        yield from ((path, whole) for path in command.writes)
    yield from ((path, False) for path in (*judged.writes, *redirected) if path is not None)


def _globbed(parsed: Parsed, around: Surroundings) -> Iterator[str]:
    """The files that globs stand for now, so that `.e*` is as good as `.env`."""
    for simple in parsed.commands:
        for word in simple.words:
            if word.value is None and _GLOB.search(word.source) and "$" not in word.source and "`" not in word.source:
                pattern = os.path.join(glob.escape(str(around.cwd)), re.sub(r"[\\'\"]", "", word.source))  # noqa: PTH118
                yield from islice(glob.iglob(pattern), _MOST_FILES)  # noqa: PTH207  # as the shell does it
