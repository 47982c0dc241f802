"""Terminal control never gets through, nothing visible is lost, and widths are columns."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import wcwidth  # comes with pyte

from orchestrator.safe_text import Stripper, cell_width, cut_cells, safe_line, safe_text

DANGEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

CASES = [
    ("plain text", "\ttabs\nand äöü 你好\n", "\ttabs\nand äöü 你好\n"),
    ("clipboard", "\x1b]52;c;ZXZpbA==\x07after", "after"),
    ("link", "\x1b]8;;http://x\x1b\\click\x1b]8;;\x1b\\!", "click!"),
    ("title", "\x1b]0;owned\x1b\\x", "x"),
    ("title of screen", "\x1bkowned\x1b\\x", "x"),
    ("colour", "\x1b[1;31mred\x1b[0m", "red"),
    ("colon parameters", "\x1b[38:2:1:2:3mred", "red"),
    ("cursor", "a\x1b[2J\x1b[10;10Hb\x1b[?1049hc", "abc"),
    ("8-bit control", "\x9b2Jx", "x"),
    ("8-bit string", "\x9d0;owned\x9cx", "x"),
    ("dcs, sos, pm, apc", "\x1bPq\x1b\\1\x1bXq\x1b\\2\x1b^q\x1b\\3\x1b_q\x1b\\4\x90q\x9c5", "12345"),
    ("charset and reset", "\x1b(0x\x1bcy\x1b#8z", "xyz"),
    ("overwritten line", "safe\rrm -rf", "safe\nrm -rf"),
    ("windows line ends", "a\r\nb\r\n", "a\nb\n"),
    ("progress bar", "10%\r20%\r", "10%\n20%"),
    ("overstrike", "good\b\b\b\bevil", "goodevil"),
    ("form feed and next line", "a\x0cb\x85c\u2028d", "a\nb\nc\nd"),
    ("bidi", "a\u202egpj.exe\u2066", "a<U+202E>gpj.exe<U+2066>"),
    ("lone surrogates", "a\ud800b\udc00", "a\ufffdb\ufffd"),
    ("surrogate pair in two halves", "\ud83d\ude00", "😀"),
    ("unterminated title hides one line at most", "a\x1b]0;evil\nnext", "a\nnext"),
    ("unterminated at the end", "a\x1b]0;", "a"),
    ("cancelled string", "\x1b]0;evil\x18shown", "shown"),
    ("string cut off by another sequence", "\x1b]0;evil\x1b[31mshown", "shown"),
    ("control cut off by a line break", "\x1b[31\nshown", "\nshown"),
    ("escape at the end", "a\x1b", "a"),
    ("escape before a wide character", "\x1b你", "你"),
    ("nested introducers", "\x1b\x1b[31mx", "x"),
]


@pytest.mark.parametrize(("dirty", "clean"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_control_is_removed_and_what_hides_text_is_made_visible(dirty: str, clean: str) -> None:
    """B157"""
    assert safe_text(dirty) == clean


@pytest.mark.parametrize("dirty", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_a_sequence_split_over_chunks_is_removed_the_same(dirty: str) -> None:
    """B157"""
    for cut in range(len(dirty) + 1):
        stripper = Stripper()
        assert stripper.feed(dirty[:cut]) + stripper.feed(dirty[cut:]) + stripper.close() == safe_text(dirty)


ALPHABET = st.sampled_from(
    [*"ab;[]0mPX^_k\\ \n\r\x07\x08\x18\x1b\x90\x9b\x9c\x9d\x85\x00é你", "\u202e", "\ud83d", "\ude00"]
)


@settings(deadline=None)
@given(st.lists(st.text(ALPHABET, max_size=12), max_size=8))
def test_any_split_of_any_text_gives_safe_text(chunks: list[str]) -> None:
    stripper = Stripper()
    out = "".join(stripper.feed(chunk) for chunk in chunks) + stripper.close()
    assert not DANGEROUS.search(out)
    assert out == safe_text("".join(chunks))


def test_a_closed_stripper_starts_afresh() -> None:
    stripper = Stripper()
    assert stripper.feed("a\x1b]0;half") + stripper.close() == "a"
    assert stripper.feed("title") == "title"


def test_a_line_stays_one_line() -> None:
    assert safe_line("  two\n\tlines\r\nand \x1b[31mred ") == "two lines and red"


WIDTHS = [
    ("", 0),
    ("abc", 3),
    ("你好", 4),
    ("e\u0301", 1),  # an accent on its letter
    ("한글", 4),
    ("\u1112\u1161\u11ab", 2),  # the same syllable in its three parts
    ("👍🏽", 2),
    ("👨‍👩‍👧", 2),
    ("❤️", 2),
    ("🇩🇪", 2),
    ("1️⃣", 2),
    ("क्‍ष", 2),
    ("ａ", 2),
]


@pytest.mark.parametrize(("text", "cells"), WIDTHS)
def test_width_is_counted_in_columns(text: str, cells: int) -> None:
    """B163"""
    assert cell_width(text) == cells


@pytest.mark.parametrize(
    ("text", "width", "mark", "cut"),
    [
        ("你好世界", 3, "", "你"),
        ("你好世界", 3, "…", "你…"),
        ("你好世界", 8, "…", "你好世界"),
        ("你好世界", 1, "", ""),
        ("abcdef", 4, "...", "a..."),
        ("abcdef", 2, "...", "ab"),
        ("abcdef", 0, "…", ""),
        ("a👨‍👩‍👧b", 2, "", "a"),
        ("a👨‍👩‍👧b", 3, "", "a👨‍👩‍👧"),
        ("🇩🇪🇫🇷", 3, "", "🇩🇪"),
        ("ne\u0301e", 2, "", "ne\u0301"),
    ],
)
def test_a_cut_fits_and_never_halves_a_character(text: str, width: int, mark: str, cut: str) -> None:
    """B163"""
    assert cut_cells(text, width, mark) == cut


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(0, 30))
def test_a_cut_is_a_prefix_that_fits(text: str, width: int) -> None:
    cut = cut_cells(text, width)
    assert text.startswith(cut)
    assert cell_width(cut) <= width
    assert cut == text or cell_width(text) > width


def test_no_character_is_counted_narrower_than_terminals_draw_it() -> None:
    every = (chr(code) for code in (*range(0x20, 0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE0200)))
    assert [f"U+{ord(char):04X}" for char in every if cell_width(char) < wcwidth(char)] == []
