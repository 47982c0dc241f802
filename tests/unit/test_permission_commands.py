"""`orch permissions list` and `forget`."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.config import Loaded, load_config
from orchestrator.errors import ConfigError, OrchError, UsageError
from orchestrator.grants import Grants
from orchestrator.paths import Places
from orchestrator.permission_commands import permissions_command
from orchestrator.role_commands import Output

TOOLS = ("run_shell", "edit_file", "read_file")


class Desk:
    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "repo"
        self.root.mkdir()
        self.env = {"ORCH_HOME": str(tmp_path / "orch")}
        self.places = Places.find(self.env)
        self.grants = Grants(self.places.state / "grants", self.root)

    def configure(self, text: str, *, user: bool = False) -> None:
        path = self.places.config / "config.yaml" if user else self.root / ".orch" / "config.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def loaded(self, *, trusted: bool = False) -> Loaded:
        return load_config(workspace=self.root, env=self.env, flags={}, trusted=trusted)

    def run(self, action: str, pattern: str = "", *, forget_all: bool = False) -> Output:
        return permissions_command(
            action,
            pattern,
            forget_all=forget_all,
            loaded=self.loaded(),
            workspace=self.root,
            places=self.places,
            tool_names=TOOLS,
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_rules_are_listed_with_their_source_and_grants_after_them(desk: Desk) -> None:
    desk.configure("permissions:\n  allow: [run_shell(make)]\n", user=True)
    desk.configure("permissions:\n  deny: [run_shell(git push *)]\n  allow: [edit_file]\n")
    desk.grants.add("edit_file(src/*)")
    output = desk.run("list")
    lines = output.text.split("\n")
    assert [line.split()[:1] for line in lines[:4]] == [["rule"], ["deny"], ["allow"], ["allow"]]
    assert lines[1].endswith("run_shell(git push *)  .orch/config.yaml:2")
    assert lines[2].endswith(f"{desk.places.config / 'config.yaml'}:2")
    assert lines[3].endswith("edit_file(src/*)       granted here")
    assert "permissions.allow: ['edit_file']` is ignored: only a trusted folder may set it" in output.text
    assert "Asked each time, whatever the rules: .git, .orch" in output.text
    assert output.data["grants"] == ["edit_file(src/*)"]
    assert output.data["rules"][0] == {
        "decision": "deny",
        "rule": "run_shell(git push *)",
        "from": ".orch/config.yaml:2",
    }
    assert len(output.data["ignored"]) == 1


def test_where_there_is_nothing_it_says_so(desk: Desk) -> None:
    output = desk.run("list")
    assert output.text.startswith("there are no rules, and nothing was granted here")
    assert output.data == {"rules": [], "grants": [], "ignored": [], "problems": []}


def test_a_wrong_rule_is_an_error(desk: Desk) -> None:
    desk.configure("permissions:\n  deny: [run_shel]\n")
    with pytest.raises(ConfigError, match="did you mean `run_shell`"):
        desk.run("list")


def test_a_damaged_file_of_grants_is_told(desk: Desk) -> None:
    desk.grants.add("edit_file(src/*)")
    desk.grants.file.write_text("{")
    assert f"{desk.grants.file}: it is damaged; the grants in it do not count" in desk.run("list").text


def test_one_grant_is_forgotten_or_all(desk: Desk) -> None:
    for rule in ("edit_file(src/*)", "run_shell(make)", "run_shell(ls)"):
        desk.grants.add(rule)
    assert desk.run("forget", "run_shell(make)").text == "forgot `run_shell(make)`; it is asked again"
    assert desk.grants.rules() == ("edit_file(src/*)", "run_shell(ls)")
    assert desk.run("forget", forget_all=True).text == "forgot 2 rules"
    assert desk.grants.rules() == ()
    assert desk.run("forget", forget_all=True).data == {"forgotten": 0}


def test_what_cannot_be_forgotten_is_an_error_that_helps(desk: Desk) -> None:
    desk.grants.add("run_shell(make)")
    with pytest.raises(UsageError) as caught:
        desk.run("forget", "run_shell(mak)")
    assert caught.value.hint == "did you mean `run_shell(make)`?"
    for pattern, forget_all in (("", False), ("run_shell(make)", True)):
        with pytest.raises(UsageError, match="say what to forget"):
            desk.run("forget", pattern, forget_all=forget_all)
    assert desk.grants.rules() == ("run_shell(make)",)


def test_a_folder_that_others_can_write_is_not_changed(desk: Desk) -> None:
    desk.grants.add("run_shell(make)")
    desk.grants.file.parent.chmod(0o777)
    with pytest.raises(OrchError, match="cannot be changed"):
        desk.run("forget", forget_all=True)
