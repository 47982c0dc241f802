"""Faults of other systems in judging shell commands; the ids are those of the collection of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.command_rules import Judged, Surroundings, judge_command

AROUND = Surroundings(Path("/w"), Path("/w"), Path("/home/u"), {"GIT_CONFIG_GLOBAL": ""})


def judged(text: str, around: Surroundings = AROUND) -> Judged:
    return judge_command(text, around)


def test_b003_a_change_of_the_users_git_configuration_writes() -> None:
    found = judged("git config --global --add safe.directory /somewhere")
    assert found.level == "writes"
    assert found.why


@pytest.mark.parametrize(
    "text",
    ["git status $(touch /tmp/x)", "git status `touch /tmp/x`", "cat <(rm x)", 'echo "${v:-$(rm x)}"', "( rm x )"],
)
def test_b105_a_substitution_counts(text: str) -> None:
    found = judged(text)
    assert found.level == "writes"
    assert any(each.words[0] in ("rm", "touch") for each in found.commands)


def test_b106_substitutions_in_redirections_and_here_documents_count() -> None:
    assert judged("echo hi > $(rm x)").level == "writes"
    assert judged("cat <<EOF\n$(rm e)\nEOF").level == "writes"
    assert judged("cat <<'EOF'\n$(rm e)\nEOF").level == "read-only"
    assert judged("echo hi > f").level == "writes"


@pytest.mark.parametrize(
    "text",
    [
        "GIT_PAGER=./evil git log",
        "LD_PRELOAD=./a.so ls",
        'bash -c "rm x"',
        'eval "rm x"',
        "env rm x",
        "xargs rm < list",
    ],
)
def test_b107_prefixes_and_interpreters_hide_nothing(text: str) -> None:
    found = judged(text)
    assert found.level != "read-only"
    if "rm" in text:
        assert any(each.words[0] == "rm" and each.level == "writes" for each in found.commands)


@pytest.mark.parametrize("text", ["javac -version -processorpath p -processor E a.java", "rm -rf x --help"])
def test_b110_a_harmless_flag_admits_nothing_else(text: str) -> None:
    assert judged(text).level != "read-only"
    assert judged("javac -version").level == "read-only"


def test_b111_names_are_looked_up_in_trusted_folders_and_keys_are_not_printed(tmp_path: Path) -> None:
    (tmp_path / "ls").write_text("#!/bin/sh\n")
    (tmp_path / "ls").chmod(0o755)
    for path in (f"{tmp_path}:/usr/bin", ".:/usr/bin"):
        found = judged("ls", Surroundings(tmp_path, tmp_path, Path("/home/u"), {"PATH": path}))
        assert found.level == "unknown"
        assert "PATH" in found.why[0]
    for text in ("./ls", "env", "printenv", "printenv HOME", "export -p", "set"):
        assert judged(text).level == "unknown", text


@pytest.mark.parametrize(
    "text",
    [
        "true && rm -rf d",
        "(rm -rf d)",
        "command rm -rf d",
        "\\rm -rf d",
        "/bin/rm -rf d",
        "rm  -rf   d",
        "env rm -rf d",
    ],
)
def test_b112_a_wrapped_command_is_told_as_the_command_that_it_is(text: str) -> None:
    assert "rm -rf d" in [each.text for each in judged(text).commands if each.plain]


def test_b113_a_folder_or_no_pager_does_not_make_reading_suspect() -> None:
    for text in ("git -C sub diff", "git --no-pager log"):
        assert judged(text).level == "read-only", text
    refused = judged("git -C sub push")
    assert refused.level == "writes"
    assert "git push" in refused.why[0]
