"""A command line as simple commands: what is found, what is literal, and what is refused."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.shell_syntax import Parsed, Word, parse_command
from tests.support.command_grammar import composed, mutated, soup
from tests.support.command_runs import is_call_of, programs_run

_RUNNERS = ("command", "exec", "builtin", "eval", "time", "source", ".", "trap")


def words(text: str) -> list[list[str | None]]:
    parsed = parse_command(text)
    assert parsed.unknown == (), text
    return [[word.value for word in command.words] for command in parsed.commands]


def only(text: str) -> Word:
    """The one word after the command `c`."""
    (command,) = parse_command(f"c {text}").commands[-1:]
    assert len(command.words) == 2, command
    return command.words[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -la", [["ls", "-la"]]),
        ("ls  a\\ b 'c d' \"e f\" g'h'\"i\"", [["ls", "a b", "c d", "e f", "ghi"]]),
        ("echo $'a\\tb\\x41\\'c'", [["echo", "a\tbA'c"]]),
        ("\\rm x; 'rm' x; r''m x", [["rm", "x"]] * 3),
        ("a && b || c; d & e\nf", [[name] for name in "abcdef"]),
        ("a | b |& c", [["a"], ["b"], ["c"]]),
        ("(a; { b; }) && ! c", [["a"], ["b"], ["c"]]),
        ("if a; then b; elif c; then d; else e; fi", [[name] for name in "abcde"]),
        ("for i in 1 2; do a; done; while b; do c; done", [["a"], ["b"], ["c"]]),
        ("case x in a|b) c;; (*) d ;; esac", [["c"], ["d"]]),
        ("a $(b) `c` <(d) \"${x:-$(e)}\"", [["b"], ["c"], ["d"], ["e"], ["a", None, None, None, None]]),
        ("cat <<E\n$(a)\nE\nb", [["cat"], ["a"], ["b"]]),
        ("cat <<'E'\n$(a)\nE\nb", [["cat"], ["b"]]),
        ("cat <<-E | b\n\tx\n\tE", [["cat"], ["b"]]),
        ("cat <<E | b\n$(a)\nE", [["cat"], ["b"], ["a"]]),
        ("cat <<< \"$(a)\"", [["a"], ["cat"]]),
        ("[[ -n $(a) ]] && [ -f b ]", [["a"], ["[[", "-n", None, "]]"], ["[", "-f", "b", "]"]]),
        ("a=(1 $(b)); c", [["b"], [], ["c"]]),
        ("a > $(b)", [["b"], ["a"]]),
        ("a # b; c\nd", [["a"], ["d"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("python3 - <<'E'\nx\nE", [["python3", "-"]]),
        ("git show stash@{0} HEAD^ {}", [["git", "show", "stash@{0}", "HEAD^", "{}"]]),
        ("echo é \"日本\" x", [["echo", "é", "日本", "x"]]),
    ],
)  # fmt: skip
def test_every_simple_command_is_found(text: str, expected: list[list[str | None]]) -> None:
    assert words(text) == expected


def test_a_word_says_how_it_may_expand() -> None:
    assert only('"$x"') == only('"$x"')._replace(value=None, prefix="", splits=False, many=False)
    assert only("$x").splits and only('"$@"').splits and only('"${a[@]}"').splits and only("a$x").prefix == "a"
    assert only("src/*.py").many and only("src/*.py").prefix == "src/" and not only("src/*.py").splits
    assert only("a{b,c}d").many and only("a{b,c}d").prefix == "a"
    assert only("~/x").tilde and only("~/x").home == "~/x" and only("~/x").value is None
    assert only('--a="$x"').prefix == "--a="
    assert only("'*'").value == "*" and only("\\~").value == "~" and only('"{a,b}"').value == "{a,b}"


def test_redirections_and_assignments() -> None:
    (command,) = parse_command('A=1 B="$x" c >f 2>>g <h 2>&1 <<<i &>j').commands
    assert [(each.operator, each.fd, each.target.value) for each in command.redirects] == [
        (">", "", "f"), (">>", "2", "g"), ("<", "", "h"), (">&", "2", "1"), ("<<<", "", "i"), ("&>", "", "j"),
    ]  # fmt: skip
    assert [(each.name, each.value and each.value.value) for each in command.assignments] == [("A", "1"), ("B", None)]


@pytest.mark.parametrize(
    "text",
    [
        "echo 'a",
        'echo "a',
        "echo $(a",
        "echo `a",
        "(a",
        "{ a",
        "if a; then b",
        "a |",
        "a &&",
        "&& a",
        "a ;; b",
        "a )",
        "cat <<E\nx",
        "cat <<E",
        "a \\",
        "echo ${x",
        "[[ a",
        "((1",
        "case x in a) b",
        "f() { a; }",
        "function f { a; }",
        "coproc a",
        "select x in a; do b; done",
        "echo $((x))",
        "echo $((a[$(b)]))",
        "(( i++ ))",
        "for ((i=0;i<1;i++)); do a; done",
        "a[$(b)]=1",
        "echo ${a[$(b)]}",
        "echo ${x@P}",
        "echo ${!x}",
        "echo ${x:=a}",
        "echo ${x:$y}",
        "echo $[1]",
        'echo $"a"',
        "a(b)",
        "ls !(a)",
        "ls @(a|b)",
        "a\0b",
        "ls\r\nrm x",
        "ls\u00a0-la",
        "ls \u202erm",
        "ls\u200b",
        "echo \x1b[0m",
        "ls \u2028rm",
        "echo \ud800",
        "echo $(# c\n a)",
        "echo $(case a in a) b;; esac)",
        "echo $(cat <<E\nx\nE\n)",
        "echo `a \\`b\\``",
        "cat <<E$x\nE$x",
        "cat <<E\na\\\nE\nE",
        "ls>(a)",
        "a >&-x",
        "a 99999>f",
        "echo $'\\0'",
        "echo " + "$(" * 200 + ")" * 200,
        "a " * 20_000,
        "ls " + "x" * 70_000,
        ";" * 10,
        "a;" * 2_000,
        "time (a)",
        "time { a; }",
        "for PATH in .; do a; done",
    ],
)
def test_what_is_not_certain_is_unknown(text: str) -> None:
    assert parse_command(text).unknown


def test_what_was_found_before_it_got_lost_is_still_told() -> None:
    parsed = parse_command("rm -rf / ; echo 'a")
    assert parsed.unknown
    assert [word.value for word in parsed.commands[0].words] == ["rm", "-rf", "/"]


def test_a_text_that_the_two_parsers_read_differently_is_unknown() -> None:
    """tree-sitter takes the carriage of an assignment-like array, say, for other words than bash does."""
    differing = [
        text for text in map(mutated, map(Random, range(400))) if "different ways" in str(parse_command(text).unknown)
    ]
    assert differing


@settings(max_examples=60)
@given(st.text(st.sampled_from("ab \n\t'\"\\`$(){}[]<>|&;#!*?~=-1\r\0é"), max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    assert isinstance(parse_command(text), Parsed)


@pytest.mark.parametrize("seed", range(3))
def test_bash_starts_no_program_that_was_not_found(seed: int, tmp_path: Path) -> None:
    """Bash itself judges: random commands are run with a PATH on which nothing is, and what it looked for is noted."""
    random = Random(seed)
    calls = 0
    for number in range(60):
        text = (mutated, soup, lambda r: composed(r).text)[number % 3](random)
        parsed = parse_command(text)
        if parsed.unknown or any(each.words and each.words[0].value in (None, *_RUNNERS) for each in parsed.commands):
            continue
        for argv in programs_run(text, tmp_path / str(number)):
            calls += 1
            assert any(is_call_of(argv, each.words) for each in parsed.commands if each.words), (text, argv)
    assert calls > 40
