"""find: which tests and actions only look, and what its actions run."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.command_rules.options import may_be_option
from orchestrator.command_rules.ruling import Case, Ruling
from orchestrator.shell_syntax import Word

_TAKES: Mapping[str, int] = {
    name: count
    for count, names in {
        0: """-a -and -o -or -not ! ( ) , -print -print0 -ls -prune -quit -true -false -empty -readable -writable
            -executable -depth -xdev -mount -daystart -follow -nouser -nogroup -noleaf -d -X -x -E -s -warn -nowarn
            -ignore_readdir_race -noignore_readdir_race""",
        1: """-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -ctime -atime
            -mmin -cmin -amin -newer -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum
            -samefile -lname -ilname -fstype -regextype -printf -used -newermt -newerat -newerct -newermm -flags
            -Btime -Bmin""",
    }.items()
    for name in names.split()
}
_WRITING: Mapping[str, str] = {
    "-delete": "deletes what it finds",
    "-fprint": "writes a file",
    "-fprint0": "writes a file",
    "-fprintf": "writes a file",
    "-fls": "writes a file",
}
_RUNNING = ("-exec", "-execdir", "-ok", "-okdir")


def judge_find(case: Case) -> Ruling:
    """find with all its words."""
    words = list(case.words)
    while words and words[0].value in ("-L", "-P", "-H", "-E", "-X", "-x", "-s", "-d"):
        words.pop(0)
    starts: list[Word] = []
    while words and not may_be_option(words[0]) and words[0].value not in ("!", "(", ")", ","):
        starts.append(words.pop(0))
    found = _Expression(words, _prefix(starts)).read()
    if found.level == "writes":
        return found._replace(writes=(*found.writes, *(starts or [Word.literal(".")])))
    return found._replace(reads=tuple(starts))


def _prefix(starts: list[Word]) -> str:
    """What all paths start with that are found; a sign that is no dash will do."""
    return "." if all(word.prefix or word.tilde for word in starts) else ""


class _Expression:
    def __init__(self, words: list[Word], prefix: str) -> None:
        self.words = words
        self.prefix = prefix
        self.runs: list[tuple[Word, ...]] = []
        self.problem = self.writing = ""
        self.files: list[Word] = []

    def read(self) -> Ruling:
        at = 0
        while at < len(self.words):
            at = self._primary(at)
        level = "writes" if self.writing else "unknown" if self.problem else "read-only"
        why = self.writing or self.problem
        return Ruling(level, why, writes=tuple(self.files), runs=tuple(self.runs))  # type: ignore[arg-type]  # mypy: text

    def _primary(self, at: int) -> int:
        word = self.words[at]
        name = word.value
        if name is None:
            self.problem = self.problem or f"`{word.source}` may turn into an action of `find` (quote it)"
            return at + 1
        if name in _TAKES:
            return self._values(at + 1, _TAKES[name])
        if name in _WRITING:
            self.writing = f"`find {name}` {_WRITING[name]}"
            if name != "-delete":
                self.files.extend(self.words[at + 1 : at + 2])
            return self._values(at + 1, 0 if name == "-delete" else 2 if name == "-fprintf" else 1)
        if name in _RUNNING:
            return self._command(name, at + 1)
        self.problem = self.problem or f"`{name}` of `find` is not known"
        return at + 1

    def _values(self, at: int, count: int) -> int:
        for word in self.words[at : at + count]:
            if word.splits or word.many:
                self.problem = self.problem or f"`{word.source}` may turn into several words (quote it)"
        return at + count

    def _command(self, name: str, at: int) -> int:
        """The command of `-exec` up to `;` or `{} +`."""
        inner: list[Word] = []
        while at < len(self.words):
            word = self.words[at]
            if word.value == ";" or (word.value == "+" and inner and inner[-1].value == "{}"):
                break
            if word.splits or word.many:
                self.problem = self.problem or f"`{word.source}` may turn into several words (quote it)"
            inner.append(word)
            at += 1
        else:
            self.problem = self.problem or f"`{name}` has no end"
        if name in ("-ok", "-okdir"):
            self.problem = self.problem or f"`{name}` asks questions"
        if name in ("-execdir", "-okdir"):
            self.problem = self.problem or f"`{name}` runs a program in the folders that it finds"
        self.runs.append(tuple(self._filled(word) for word in inner))
        return at + 1

    def _filled(self, word: Word) -> Word:
        if word.value is None or "{}" not in word.value:
            return word
        before = word.value[: word.value.index("{}")]
        return word._replace(value=None, prefix=before or self.prefix)
