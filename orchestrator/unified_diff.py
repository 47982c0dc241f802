"""Unified diffs of texts, as git writes them: also for new, deleted and moved files, and without a final newline."""

from __future__ import annotations

from collections.abc import Sequence

_TOO_MANY = 20_000
"""Lines between the first and the last difference from which on they are shown as one replacement: matching them up
would take seconds."""

_Opcode = tuple[str, int, int, int, int]


def unified_diff(
    path: str,
    before: str | None,
    after: str | None,
    *,
    moved_from: str = "",
    executable: bool | None = None,
    context: int = 3,
) -> str:
    """The diff that leads from `before` to `after`; `None` stands for no file. Empty when nothing differs.

    `moved_from` is the former path of a moved file, `executable` whether the file becomes one that may be run (`None`:
    that does not change).
    """
    old = "/dev/null" if before is None else f"a/{moved_from or path}"
    new = "/dev/null" if after is None else f"b/{path}"
    head = _extended_header(path, before, after, moved_from, executable)
    hunks = _hunks(split_lines(before or ""), split_lines(after or ""), context)
    return "".join((head, f"--- {old}\n+++ {new}\n" if hunks else "", *hunks))


def split_lines(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends one, as for git; form feeds and the like do not."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _extended_header(path: str, before: str | None, after: str | None, moved_from: str, executable: bool | None) -> str:
    """What git says above `---` where the hunks alone would not tell it all."""
    lines = []
    if moved_from:
        lines += [f"rename from {moved_from}", f"rename to {path}"]
    if before is None and (executable or not after):
        lines.append(f"new file mode {_mode(executable)}")
    elif after is None and not before:
        lines.append("deleted file mode 100644")
    elif before is not None and after is not None and executable is not None:
        lines += [f"old mode {_mode(not executable)}", f"new mode {_mode(executable)}"]
    if not lines:
        return ""
    return "".join(f"{line}\n" for line in (f"diff --git a/{moved_from or path} b/{path}", *lines))


def _mode(executable: bool | None) -> str:
    return "100755" if executable else "100644"


def _hunks(old: Sequence[str], new: Sequence[str], context: int) -> list[str]:
    if old == new:
        return []
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - first
    same_end = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    start, rest = max(0, first - context), max(0, same_end - context)
    return [
        _hunk(group, old, new, start)
        for group in _grouped(old, new, start, (len(old) - rest, len(new) - rest), context)
    ]


def _grouped(
    old: Sequence[str], new: Sequence[str], start: int, ends: tuple[int, int], context: int
) -> Sequence[Sequence[_Opcode]]:
    """What to show, hunk by hunk, with places counted from `start`."""
    import difflib

    former, latter = old[start : ends[0]], new[start : ends[1]]
    if len(former) + len(latter) > _TOO_MANY:
        return [[("replace", 0, len(former), 0, len(latter))]]
    return list(difflib.SequenceMatcher(None, former, latter).get_grouped_opcodes(context))


def _hunk(group: Sequence[_Opcode], old: Sequence[str], new: Sequence[str], start: int) -> str:
    first, last = group[0], group[-1]
    rows = [f"@@ -{_range(start + first[1], start + last[2])} +{_range(start + first[3], start + last[4])} @@\n"]
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            rows += [_row(" ", line) for line in old[start + old_from : start + old_to]]
            continue
        rows += [_row("-", line) for line in old[start + old_from : start + old_to]]
        rows += [_row("+", line) for line in new[start + new_from : start + new_to]]
    return "".join(rows)


def _row(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _range(start: int, end: int) -> str:
    """Lines as the head of a hunk counts them; where there are none, the number of the line before."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
