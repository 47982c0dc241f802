"""What rules match: to the letter when they grant, in every spelling when they refuse."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.permission_patterns import (
    CommandPattern,
    PathPattern,
    PatternError,
    Spot,
    exact_command,
    exact_path,
    parse_rule,
)


def grants(pattern: str, command: str) -> bool:
    return CommandPattern(pattern).grants(shlex.split(command))


def hits(pattern: str, command: str) -> bool:
    return CommandPattern(pattern).hits(shlex.split(command))


# --- the form --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("run_shell", ("run_shell", None)),
        ("*", ("*", None)),
        (" edit_file( docs/** ) ", ("edit_file", "docs/**")),
        ("*(**/*.pem)", ("*", "**/*.pem")),
        ("run_shell(echo ')' \")\")", ("run_shell", "echo ')' \")\"")),
        ("server.do-it", ("server.do-it", None)),
    ],
)
def test_a_rule_is_a_tool_with_or_without_a_pattern(text: str, parts: tuple[str, str | None]) -> None:
    assert parse_rule(text) == parts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "TOOL or TOOL"),
        ("rm -rf *", "TOOL or TOOL"),
        ("run_shell(git push *", "TOOL or TOOL"),
        ("run_shell git push", "TOOL or TOOL"),
        ("run_shell()", "nothing stands in the brackets"),
        ("run_shell(echo 'a)", "' is not closed"),
        ('run_shell(echo "a)', '" is not closed'),
        ("run_shell(echo \\)", "backslash"),
        ("edit_file([a)", "[ is not closed"),
        ("edit_file({a)", "{ is not closed"),
        ("edit_file(../x)", "`..` leads nowhere"),
        ("edit_file(a/../../x)", "`..` leads nowhere"),
        ("edit_file(~root/x)", "only ~/"),
        ("run_shell(" + "x" * 3000 + ")", "longer than"),
    ],
)
def test_a_malformed_rule_is_refused_and_says_why(text: str, why: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse_rule(text)
    assert why in str(caught.value)


# --- what grants -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git status", "git status"),
        ("git status", "git  'status'"),
        ("git push *", "git push"),
        ("git push *", "git push origin main --force"),
        ("npm run test:*", "npm run test:unit"),
        ("npm run test:*", "npm run test:"),
        ("git * origin", "git push origin"),
        ("pytest tests/*.py", "pytest tests/unit/test_a.py"),
        ("grep '*' x", "grep '*' x"),
        ("grep \\* x", "grep '*' x"),
        ('echo "a  b"', "echo 'a  b'"),
        ("*", "anything at all"),
    ],
)
def test_a_pattern_grants_what_it_says(pattern: str, command: str) -> None:
    assert grants(pattern, command)
    assert hits(pattern, command)


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git status", "git status --short"),
        ("git status", "git"),
        ("git status", "/usr/bin/git status"),
        ("git status", "./git status"),
        ("git status", "GIT status"),
        ("git push *", "git pull"),
        ("git push *", "git -C x push"),
        ("npm run test:*", "npm run test:unit -- --hook"),
        ("git * origin", "git push --force origin"),
        ("grep '*' x", "grep a x"),
        ("git status*", "git status evil"),
        ("gitstatus", "git status"),
    ],
)
def test_and_nothing_else(pattern: str, command: str) -> None:
    assert not grants(pattern, command)


WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=8)


@settings(max_examples=60)
@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
@example(["a*"], ["ab"])
@example(["a", "*"], ["a", "b"])
@example(["it's"], ["its"])
def test_an_exact_pattern_grants_its_own_words_alone(words: list[str], others: list[str]) -> None:
    pattern = exact_command(words)
    if not pattern:
        return
    assert CommandPattern(pattern).grants(words)
    assert CommandPattern(pattern).grants(others) == (words == others)
    assert parse_rule(f"run_shell({pattern})").pattern == pattern.strip()


def test_a_word_that_is_known_only_later_is_granted_by_no_word_of_a_pattern() -> None:
    assert not CommandPattern("rm *.tmp").grants(["rm", None])
    assert not CommandPattern("rm").grants([None])


# --- what refuses ----------------------------------------------------------------------------------------------------


SPELLINGS = """rm -rf d; rm -fr d; rm  -r -f d; rm -f x -r d; rm --recursive --force d; rm -R --force -- d;
    rm --rec -f d; /bin/rm -rf d; ./rm -rf d; RM -rf d; rm -vrf d; rm -rf; rm d -rf"""


@pytest.mark.parametrize("command", SPELLINGS.split(";"))
def test_b112_options_in_any_order_and_form_are_refused(command: str) -> None:
    assert hits("rm -rf *", command)


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git push *", "git -C dir push origin"),
        ("git push *", "git -c a=b --no-pager push"),
        ("git push *", "/usr/bin/git --git-dir=x push"),
        ("git push --force *", "git push origin main --force"),
        ("git push --force *", "git push -f origin"),
        ("git push --force *", "git push --forc origin"),
        ("git push -f *", "git push --force origin"),
        ("git commit", "git commit -m x"),
        ("git commit", "git commit --amend"),
        ("find * -delete", "find . -name x -delete"),
        ("sed -i *", "sed --in-place=.bak s/a/b/ f"),
        ("npm publish", "npm --prefix x publish"),
        ("curl *", "curl"),
        ("*", "anything"),
    ],
)
def test_other_spellings_of_what_is_forbidden_are_refused(pattern: str, command: str) -> None:
    assert hits(pattern, command)


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("rm -rf *", "rm -r d"),
        ("rm -rf *", "rm d"),
        ("rm -rf *", "rmdir -rf d"),
        ("git push *", "git pull"),
        ("git push *", "git commit -m push"),
        ("git push *", "git log push"),
        ("git push --force *", "git push --follow-tags"),
        ("git commit", "git commit file.py"),
        ("find * -delete", "find . -name deleted"),
    ],
)
def test_what_is_not_forbidden_is_not(pattern: str, command: str) -> None:
    assert not hits(pattern, command)


def test_what_is_known_only_when_it_runs_may_be_anything() -> None:
    assert CommandPattern("rm -rf *").hits([None])
    assert CommandPattern("rm -rf *").hits(["rm", None])
    assert CommandPattern("git push *").hits(["git", None, "origin"])
    assert CommandPattern("git push *").hits(["git", None])
    assert not CommandPattern("rm -rf *").hits(["ls", None])
    assert not CommandPattern("git push *").hits(["git", "log", None])


ALPHABET = st.sampled_from(["git", "push", "-f", "--force", "x", "*", "rm", "-rf", "a*"])


@settings(max_examples=60)
@given(
    st.lists(ALPHABET, min_size=1, max_size=5),
    st.lists(st.sampled_from(["git", "push", "-f", "--force", "x", "rm", "ab"]), max_size=5),
)
def test_whatever_a_pattern_would_grant_it_also_refuses(pattern: list[str], words: list[str]) -> None:
    made = CommandPattern(" ".join(pattern))
    assert not made.grants(words) or made.hits(words)


# --- files -----------------------------------------------------------------------------------------------------------


def at(path: str) -> list[Spot]:
    """A file as it is known to be: in a workspace `/home/u/repo`, or elsewhere."""
    absolute = path if path.startswith("/") else f"/home/u/repo/{path}"
    inside = absolute.removeprefix("/home/u/repo/") if absolute.startswith("/home/u/repo/") else None
    at_home = f"~/{absolute.removeprefix('/home/u/')}" if absolute.startswith("/home/u/") else None
    return [Spot(inside, absolute, at_home)]


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("docs/**", "docs/a/b.md"),
        ("docs/", "docs/a/b.md"),
        ("./docs/*", "docs/a.md"),
        ("README.md", "README.md"),
        ("**/*.md", "docs/a/b.md"),
        ("**", "a/b"),
        ("/home/u/other/**", "/home/u/other/x"),
        ("~/other/*", "/home/u/other/x"),
    ],
)
def test_a_file_pattern_grants_whole_paths(pattern: str, path: str) -> None:
    assert PathPattern(pattern).grants(at(path))
    assert PathPattern(pattern).hits(at(path))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("docs/*", "docs/a/b.md"),
        ("README.md", "sub/README.md"),
        ("docs", "docs/a.md"),
        ("Docs/**", "docs/a.md"),
        ("docs/**", "docs2/a.md"),
        ("**", "/etc/passwd"),
        ("*", "/etc/passwd"),
    ],
)
def test_and_no_other_path(pattern: str, path: str) -> None:
    assert not PathPattern(pattern).grants(at(path))


def test_a_file_is_granted_only_by_all_its_names() -> None:
    assert not PathPattern("docs/**").grants([*at("docs/a"), *at("src/a")])
    assert not PathPattern("**").grants([])
    assert PathPattern("docs/**").hits([*at("docs/a"), *at("src/a")])


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("README.md", "sub/readme.MD"),
        ("secrets", "secrets/deep/file"),
        ("secrets/", "secrets/deep/file"),
        ("DOCS/**", "docs/a"),
        ("*.pem", "a/b/c.PEM"),
        ("~/.config/**", "/home/u/.config/x"),
    ],
)
def test_what_refuses_holds_for_folders_depths_and_letters(pattern: str, path: str) -> None:
    assert PathPattern(pattern).hits(at(path))


@pytest.mark.parametrize(("folder", "hit"), [("secrets", True), ("a", False), ("src/secrets", False), ("sec", False)])
def test_a_folder_taken_whole_takes_what_is_in_it(folder: str, hit: bool) -> None:
    assert PathPattern("secrets/keys/**").hits(at(folder), whole_folder=True) is hit
    assert not PathPattern("secrets/keys/**").hits(at(folder))


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
@example("a*", "ab")
@example("[a]", "a")
@example("{a,b}", "a")
@example("a\\", "a")
def test_an_exact_file_pattern_grants_that_file_alone(name: str, other: str) -> None:
    pattern = exact_path(name)
    if pattern and not name.startswith("/") and ".." not in name and not name.endswith("/"):
        assert PathPattern(pattern).grants([Spot(name, f"/w/{name}", None)])
        assert PathPattern(pattern).grants([Spot(other, f"/w/{other}", None)]) == (name == other)
