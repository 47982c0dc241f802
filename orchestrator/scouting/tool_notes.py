"""The notes of `find_references` in the language of the answer."""

from __future__ import annotations

import re

from orchestrator.scouting.question import Language

_CHINESE = (
    (r"(\d+) places? marked maybe: .*", "{0} 处的对象类型无法从语法得知"),
    (
        r"(\d+) places? of (\S+) left out: nothing says that they belong to (\S+)",
        "未列出 {1} 的 {0} 处：没有迹象表明属于 {2}",
    ),
    (r"no (\S+) that belongs to (\S+); (\d+) places? of .* otherwise", "没有属于 {1} 的 {0}；{0} 另有 {2} 处"),
    (r"(\d+) more places? in very long lines, not listed: (.*)", "超长行中另有 {0} 处未列出：{1}"),
    (r"(\d+) binary files? skipped", "跳过了 {0} 个二进制文件"),
    (
        r"kinds guessed from single lines in (\d+) files? that could not be parsed: (.*)",
        "{0} 个文件无法解析，类别由单行推测：{1}",
    ),
    (r"(\d+) places? in vendored folders: (.*)", "第三方代码文件夹中有 {0} 处：{1}"),
)


def said_note(note: str, language: Language) -> str:
    """`note` in `language`; one of no known form as it is."""
    if language == "en":
        return note
    for pattern, chinese in _CHINESE:
        found = re.fullmatch(pattern, note)
        if found:
            return chinese.format(*found.groups())
    return note
