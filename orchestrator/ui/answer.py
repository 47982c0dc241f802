"""The answer drawn for a terminal: Markdown by rich, places clickable. Imported only when needed: rich loads slowly.

rich's own Markdown drops raw HTML, link definitions and image addresses, lets `__init__.py` lose its underscores and
decodes `&#x202e;`; an answer about code must not lose or hide anything, so those rules are off.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, emphasis
from markdown_it.token import Token
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from orchestrator.safe_text import safe_line
from orchestrator.ui.places import UNVERIFIED_MARK

UrlOf = Callable[[str], Iterable[tuple[int, int, str]]]
"""Gives the parts of a text that are links: start, end, URL."""

MAX_WIDTH = 120
_LANGUAGE = re.compile(r"[\w+#-]*")
_THEME = Theme({"markdown.code": "bold cyan", "markdown.block_quote": "dim"})
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")
_TRAILING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$")
_ASCII = str.maketrans({"•": "*", "▌": "|", "─": "-", "━": "=", "…": "~", "│": "|", "–": "-", "—": "-"})


def render_answer(answer: str, *, width: int, color: bool, unicode: bool, links: UrlOf | None = None) -> str:
    """`answer` (Markdown) with control sequences for a terminal of `width` columns, ending in a line break.

    Where drawing would lose a letter (table cells beyond the header's, link titles), it is the Markdown itself.
    """
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        no_color=not color,
        width=min(width, MAX_WIDTH),
        theme=_THEME,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    markdown = _Answer(answer, links)
    with console.capture() as drawn:
        console.print(markdown)
    text = "\n".join(_trim(line) for line in drawn.get().lstrip("\n").split("\n"))
    if _letters(answer) - _letters(_ESCAPES.sub("", text) + markdown.languages()):
        return answer.rstrip("\n") + "\n"
    return text if unicode else text.translate(_ASCII)


def _letters(text: str) -> Counter[str]:
    """What must survive the drawing: all letters (digits may change in numbered lists)."""
    return Counter(filter(str.isalpha, text))


def _trim(line: str) -> str:
    """Without the blanks that fill the line to the width: they would be copied, and wrap after a resize."""
    return _TRAILING.sub(r"\1", line)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 100}).enable(["strikethrough", "table"])
    parser.disable(["reference", "image", "entity"])
    parser.inline.ruler.at("emphasis", _emphasis_by_stars)
    return parser


def _emphasis_by_stars(state: StateInline, silent: bool) -> bool:
    return state.src[state.pos] != "_" and emphasis.tokenize(state, silent)


def _keep_breaks(tokens: Iterable[Token]) -> None:
    """Keep line breaks as they were written."""
    for token in tokens:
        if token.type == "softbreak":
            token.type = "hardbreak"
        _keep_breaks(token.children or ())


def _stylize(text: Text, markdown: rich_markdown.Markdown) -> None:
    assert isinstance(markdown, _Answer)
    for start, end, url in markdown.links(text.plain) if markdown.links else ():
        text.stylize(Style(link=url), start, end)
    text.highlight_words([UNVERIFIED_MARK], "bold yellow")


class _Paragraph(rich_markdown.Paragraph):
    @classmethod
    def create(cls, markdown: rich_markdown.Markdown, token: Token) -> _Paragraph:
        paragraph = cls("left")
        paragraph.markdown = markdown
        return paragraph

    markdown: rich_markdown.Markdown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        _stylize(self.text, self.markdown)
        yield self.text


class _Heading(rich_markdown.Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _CodeBlock(rich_markdown.CodeBlock):
    """Code without a frame or padding, so that it can be copied. A title (a file name) is shown, a language is not."""

    title = ""

    @classmethod
    def create(cls, markdown: rich_markdown.Markdown, token: Token) -> _CodeBlock:
        language, _, title = token.info.strip().partition(" ")
        if not _LANGUAGE.fullmatch(language):
            language, title = "text", token.info.strip()
        block = cls(language or "text", markdown.code_theme)
        block.title = title
        return block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title:
            yield Text(safe_line(self.title), "dim")
        code = str(self.text).rstrip("\n")
        syntax = Syntax(code, self.lexer_name, theme="ansi_dark", background_color="default")
        text = syntax.highlight(code)
        text.rstrip()
        text.overflow = "fold"
        yield text


class _TableData(rich_markdown.TableDataElement):
    @classmethod
    def create(cls, markdown: rich_markdown.Markdown, token: Token) -> rich_markdown.MarkdownElement:
        element = super().create(markdown, token)
        assert isinstance(element, cls)
        element.markdown = markdown
        return element

    markdown: rich_markdown.Markdown

    def on_leave(self, context: rich_markdown.MarkdownContext) -> None:
        _stylize(self.content, self.markdown)


class _Table(rich_markdown.TableElement):
    """Cells are folded, never cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for drawn in super().__rich_console__(console, options):
            if isinstance(drawn, Table):
                for column in drawn.columns:
                    column.overflow = "fold"
            yield drawn


class _Answer(rich_markdown.Markdown):
    elements: ClassVar[dict[str, type[rich_markdown.MarkdownElement]]] = {
        **rich_markdown.Markdown.elements,
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "table_open": _Table,
        "th_open": _TableData,
        "td_open": _TableData,
    }

    def __init__(self, answer: str, links: UrlOf | None) -> None:
        super().__init__("", hyperlinks=False)
        self.links = links
        self.parsed = _parser().parse(answer)
        _keep_breaks(self.parsed)

    def languages(self) -> str:
        """The languages named by code blocks, which are not drawn."""
        infos = (token.info.strip().partition(" ")[0] for token in self.parsed if token.type == "fence")
        return "".join(info for info in infos if _LANGUAGE.fullmatch(info))
