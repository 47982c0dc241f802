"""Glob patterns as regular expressions, in ripgrep's dialect (which is also the one of .gitignore files).

`*` and `?` stop at `/`; `**` as a whole component crosses folders; `[a-z]`, `[!a]`, `{a,b}`; a backslash escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_PREFILTER = re.compile(r"[A-Za-z0-9_.*{},-]+")


class GlobError(ValueError):
    """The pattern is malformed; the message says how."""


def glob_regex(glob: str) -> str:
    """A regular expression that matches whole paths (`fullmatch`) as `glob` does. Raises `GlobError`."""
    return f"(?s:{_Translator(glob).translate()})"


class _Translator:
    def __init__(self, glob: str) -> None:
        self._glob = glob
        self._at = 0
        self._depth = 0

    def translate(self) -> str:
        out = []
        while self._at < len(self._glob):
            out.append(self._next())
        if self._depth:
            raise GlobError("a { is not closed")
        return "".join(out)

    def _next(self) -> str:
        char = self._glob[self._at]
        self._at += 1
        match char:
            case "*":
                return self._star()
            case "?":
                return "[^/]"
            case "[":
                return self._class()
            case "\\":
                return self._escaped()
            case "{":
                self._depth += 1
                return "(?:"
            case "}":
                if not self._depth:
                    raise GlobError("a } has no {")
                self._depth -= 1
                return ")"
            case "," if self._depth:
                return "|"
            case "/" if self._at_double_star():
                return self._crossing()
        return re.escape(char)

    def _star(self) -> str:
        """A `*` that is not part of a `/**`; as `**/` at the start of the pattern or of an alternative it crosses."""
        start = self._at - 1
        before = self._glob[start - 1] if start else ""
        opens = not before or (self._depth > 0 and before in "{,")
        if opens and self._glob.startswith("*", self._at):
            after = self._glob[self._at + 1 : self._at + 2]
            if after == "/":
                self._at += 2
                self._skip_double_stars()
                return "(?:.*/)?"
            if not after or (self._depth and after in ",}"):
                self._at += 1
                return ".*"
        while self._glob.startswith("*", self._at):
            self._at += 1
        return "[^/]*"

    def _at_double_star(self) -> bool:
        """Whether `**` as a whole component follows the `/` just read."""
        if not self._glob.startswith("**", self._at):
            return False
        after = self._glob[self._at + 2 : self._at + 3]
        return not after or after == "/" or (self._depth > 0 and after in ",}")

    def _crossing(self) -> str:
        self._at += 2
        if self._glob.startswith("/", self._at):
            self._at += 1
            self._skip_double_stars()
            return "/(?:.*/)?"
        return "/.*"

    def _skip_double_stars(self) -> None:
        while self._glob.startswith("**/", self._at):
            self._at += 3

    def _escaped(self) -> str:
        if self._at == len(self._glob):
            raise GlobError("it ends in a backslash")
        self._at += 1
        return re.escape(self._glob[self._at - 1])

    def _class(self) -> str:
        first = self._at + self._glob.startswith(("!", "^"), self._at)
        end = self._glob.find("]", first + 1)  # a ] in the first place stands for itself
        if end < 0:
            raise GlobError("a [ is not closed")
        body = self._glob[first:end]
        items = []
        index = 0
        while index < len(body):
            if body[index + 1 : index + 2] == "-" and index + 2 < len(body):
                low, high = body[index], body[index + 2]
                if low > high:
                    raise GlobError(f"the range {low}-{high} runs backwards")
                items.append(f"{_in_class(low)}-{_in_class(high)}")
                index += 3
            else:
                items.append(_in_class(body[index]))
                index += 1
        negated = "^" if first > self._at else ""
        self._at = end + 1
        return f"[{negated}{''.join(items)}]"


def _in_class(char: str) -> str:
    return "\\" + char if char in "\\]^-[&~|" else char


def glob_filter(globs: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path (relative to the workspace root, with `/`) passes `globs`. Raises `GlobError`.

    A glob without `/` matches names at any depth, else whole paths from the root; `!` in front excludes, also whole
    folders; `dir/` is everything below `dir`. The last one that matches decides; where none does, the path passes
    unless there was a positive one. A glob only ever narrows: it brings back nothing that is ignored or hidden.
    """
    rules = [_rule(glob) for glob in globs]
    default = not any(positive for positive, _ in rules)
    rules.reverse()

    def passes(path: str) -> bool:
        return next((positive for positive, matches in rules if matches(path)), default)

    return passes


def _rule(glob: str) -> tuple[bool, Callable[[str], object]]:
    positive = not glob.startswith("!")
    body = glob if positive else glob[1:]
    anchored = body.removeprefix("./").removesuffix("/")
    if body.endswith("/"):
        body = body + "**"
    body = body.removeprefix("./")
    body = body.removeprefix("/") if "/" in anchored or body.startswith("/") else f"**/{body}"
    try:
        regex = glob_regex(body)
    except GlobError as error:
        raise GlobError(f"the glob {glob!r} is malformed: {error}") from None
    return positive, re.compile(regex if positive else f"{regex}(?s:/.*)?").fullmatch


def name_globs(globs: Sequence[str]) -> list[str]:
    """Globs for bare file names that let through at least all that `globs` do; empty when there is no such limit."""
    positive = [glob for glob in globs if not glob.startswith("!")]
    names = [glob.rpartition("/")[2] for glob in positive]
    usable = all(_PREFILTER.fullmatch(name) and "**" not in name and _balanced(name) for name in names)
    return sorted(set(names)) if usable and "*" not in names else []


def _balanced(name: str) -> bool:
    return name.count("{") == name.count("}") and "}" not in name.partition("{")[0]
