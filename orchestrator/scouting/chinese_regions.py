"""The part of a Chinese question that says where to look: 测试里, 除了 src/legacy 以外, 只看 *.py."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.scouting.marks import MARK, Marked
from orchestrator.scouting.names import looks_like_path
from orchestrator.scouting.regions import ENDINGS_OF, Filters, Region

_LANGUAGES = "|".join(sorted(map(re.escape, ENDINGS_OF), key=len, reverse=True))
_FOLDER = "目录|文件夹|模块|包|文件|路径"
_SCOPE = "函数|方法|类"
_TESTS = (
    r"(?:单元|集成|功能)?测试(?:代码|文件|用例|目录|文件夹|套件|集|模块)?|tests?(?![\w/.])(?:目录|文件夹|代码|文件)?"
)
_DOCS = r"文档(?:目录|文件)?|docs?(?![\w/.])(?:目录|文件夹)?"
_KNOWN = "src|lib|app|examples?|scripts?|pkg|cmd|internal|core"
_NAME = rf"(?:{MARK}|[\w$./*+-]*[\w$*/])"
_OBJECT = (
    rf"(?:{_TESTS}|{_DOCS}|(?:{_LANGUAGES})\s*(?:文件|代码|源码)|{_NAME}\s*(?:这个)?(?:{_FOLDER}|{_SCOPE})|"
    rf"(?:{_FOLDER})\s*{_NAME}"
    rf"|(?:[\w$@.+-]*[*/][\w$@./*+-]*|[\w-]+\.\w{{1,8}}(?![\w/.])|\.\w+)(?:\s*文件)?|(?:{_KNOWN})(?![\w/.])|{MARK})"
)
_AND = r"\s*(?:和|与|以及|及|或者|或|,)\s*"
_WHAT = rf"(?P<what>{_OBJECT}(?:{_AND}{_OBJECT})*)"
_INSIDE_END = r"(?:目录下|文件夹下|里面|里边|之中|之内|范围内|当中|里|中|内|下面|下|上)"
_BARE = (
    rf"在\s*(?P<what>{MARK}|[A-Za-z_][\w$.]*)\s*{_INSIDE_END}(?:的|,)?"
    "(?=.*(?:哪|谁|什么|使用|用到|调用|引用|导入|定义))"
)


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to say where to look. A clause without any of the characters in `needs` is not searched for it."""

    needs: str
    pattern: str
    is_outside: bool = False
    leaves: str = ""
    """What stays in the clause in its place, after the words before `what`."""


_FORMS = (
    _Form("除", rf",?\s*(?:除了?|除去|除开)\s*{_WHAT}\s*(?:里|中|目录)?\s*(?:之外|以外|外)?的?,?", True),
    _Form(
        "不排忽去",
        rf",?\s*(?:不包括|不包含|不含|不算|排除|忽略|不看|不要|去掉|不在)\s*{_WHAT}(?:{_INSIDE_END})?的?,?",
        True,
    ),
    _Form("外", rf"{_WHAT}\s*(?:目录|文件夹)?\s*(?:之外|以外)的?(?:地方|代码)?,?", True),
    _Form(
        "只仅",
        rf",?\s*(?:只|仅|仅仅|只需|只要)(?:看|在|查|限于?|搜索?|包括|考虑)?\s*{_WHAT}\s*(?:{_INSIDE_END})?的?,?",
    ),
    _Form("里中内下上", rf",?\s*(?:在|从)?\s*{_WHAT}\s*{_INSIDE_END}(?:的|,)?"),
    _Form(
        "哪什所有",
        rf"(?P<before>哪些|哪个|什么|所有|有哪些)(?P<what>{_TESTS}|(?:{_LANGUAGES})\s*(?:文件|代码))",
        leaves="文件",
    ),
)


def take_regions(clause: str, marked: Marked) -> tuple[str, Filters]:
    """`clause` without the places to look in or to leave out, and the filters that they make."""
    filters = Filters()
    for form in _FORMS:
        found = _search(form, clause)
        while found:
            regions = tuple(_region(item, marked) for item in re.split(_AND, found["what"]) if item)
            filters += Filters(without=regions) if form.is_outside else Filters(within=(regions,))
            kept = f"{found['before']}{form.leaves}" if form.leaves else ""
            clause = f"{clause[: found.start()]}{kept}{clause[found.end() :]}".strip()
            found = None if kept else _search(form, clause)
    bare = re.search(_BARE, clause, re.ASCII) if "在" in clause else None
    if bare:
        filters += Filters(within=((_region(bare["what"], marked),),))
        clause = clause[: bare.start()] + clause[bare.end() :]
    return clause.strip(" ,"), filters


def _search(form: _Form, clause: str) -> re.Match[str] | None:
    if not set(form.needs) & set(clause):
        return None
    return re.search(form.pattern, clause, re.IGNORECASE | re.ASCII)


def _region(text: str, marked: Marked) -> Region:
    words = marked.restore(text).strip()
    if re.fullmatch(_TESTS, words, re.IGNORECASE):
        return Region("tests")
    if re.fullmatch(_DOCS, words, re.IGNORECASE):
        return Region("docs")
    language = re.fullmatch(rf"({_LANGUAGES})\s*(?:文件|代码|源码)", words, re.IGNORECASE)
    if language:
        return Region("endings", " ".join(ENDINGS_OF[language[1].lower()]))
    ending = re.fullmatch(r"\*?\.(\w{1,8})(?:\s*文件)?", words)
    if ending:
        return Region("endings", f".{ending[1]}")
    scope = re.fullmatch(rf"(.+?)\s*(?:这个)?(?:{_SCOPE})", words)
    if scope:
        return Region("scope", scope[1])
    name = re.sub(rf"^(?:{_FOLDER})\s*|\s*(?:这个)?(?:{_FOLDER})$", "", words)
    if "*" in name:
        return Region("glob", name)
    return Region("path", name) if looks_like_path(name) or re.fullmatch(_KNOWN, name) else Region("word", name)
