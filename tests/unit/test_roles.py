"""Role files: what they may say, how one extends another, which one is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from orchestrator.errors import UsageError
from orchestrator.roles import BUILT_IN_ROLES, DEFAULT_TOOLS, Budget
from tests.support.role_setup import TOOLS, RoleSetup, errors, warnings

FULL = """\
name: security-auditor
description: Looks for injection and unsafe deserialisation.
tools: [read_file, grep, glob, symbols]
read_only: true
model: small
max_turns: 12
timeout: 90.5
max_summary_tokens: 500
budget: {tokens: 200000, usd: 0.5}
prompt: |
  You audit.
  Nothing else.
"""


@pytest.fixture
def setup(tmp_path: Path) -> RoleSetup:
    return RoleSetup(tmp_path)


def test_every_key_of_a_role_file_counts(setup: RoleSetup) -> None:
    setup.write(".orch/roles/security-auditor.yaml", FULL)
    book = setup.load()
    assert book.problems == ()
    role = book.get("security-auditor")
    assert role.model_dump() == {
        "name": "security-auditor",
        "description": "Looks for injection and unsafe deserialisation.",
        "tools": ("read_file", "grep", "glob", "symbols"),
        "read_only": True,
        "model": "small",
        "max_turns": 12,
        "timeout": 90.5,
        "max_summary_tokens": 500,
        "budget": {"tokens": 200_000, "usd": 0.5},
        "extends": None,
        "prompt": "You audit.\nNothing else.",
        "source": ".orch/roles/security-auditor.yaml",
        "place": "workspace",
    }
    with pytest.raises(ValidationError):
        role.max_turns = 99


def test_what_is_left_out_has_a_careful_default(setup: RoleSetup) -> None:
    setup.role("small-one")
    role = setup.load().get("small-one")
    assert (role.tools, role.read_only, role.model) == (DEFAULT_TOOLS, True, "inherit")
    assert (role.max_turns, role.timeout, role.max_summary_tokens, role.budget) == (30, 300, 1000, Budget())


def test_the_built_in_roles_are_right_and_all_but_the_parent_read_only(setup: RoleSetup) -> None:
    book = setup.load()
    assert book.problems == ()
    assert sorted(book.roles) == sorted(BUILT_IN_ROLES)
    assert all(role.place == "built-in" for role in book.roles.values())
    assert [role.name for role in book.roles.values() if not role.read_only] == ["parent"]
    assert [role.name for role in book.delegates()] == ["explorer", "planner", "reviewer"]
    assert book.get("explorer").max_summary_tokens == 2000
    assert {book.get(name).max_summary_tokens for name in ("planner", "reviewer")} == {1000}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("max_turn: 3", "4:1: unknown key `max_turn` (did you mean `max_turns`?)"),
        ("allowed_tools: [grep]", "4:1: unknown key `allowed_tools` (did you mean `tools`?)"),
        ("max-turns: 3", "4:1: unknown key `max-turns` (did you mean `max_turns`?)"),
        ("source: elsewhere", "4:1: unknown key `source`"),
        ("budget: {token: 3}", "4:10: unknown key `budget.token` (did you mean `tokens`?)"),
        ("max_turns: many", "4:12: `max_turns`: expected a whole number, found the text `many`"),
        ("max_turns: 0", "4:12: `max_turns`: it must be at least 1, found the number `0`"),
        ("max_turns: 1001", "4:12: `max_turns`: it must be at most 1000, found the number `1001`"),
        ("max_turns: 2.0", "4:12: `max_turns`: expected a whole number, found the number `2.0`"),
        ('max_turns: "3"', "4:12: `max_turns`: expected a whole number, found the text `3`"),
        ("timeout: 0", "4:10: `timeout`: it must be more than 0, found the number `0`"),
        ("timeout: .inf", "4:10: `timeout`: expected a finite number, found the number `.inf`"),
        ("max_summary_tokens: 49", "4:21: `max_summary_tokens`: it must be at least 50"),
        ("max_summary_tokens: 20001", "4:21: `max_summary_tokens`: it must be at most 20000"),
        ("read_only: 'yes'", "4:12: `read_only`: expected true or false, found the text `yes`"),
        ("model: no", "4:8: `model`: expected text, found the truth value `no`"),
        ("model: ''", "4:8: `model`: it must not be empty"),
        ("budget: 5", "4:9: `budget`: expected `key: value` pairs, found the number `5`"),
        ("budget: {usd: -1}", "4:15: `budget.usd`: it must be more than 0"),
        ("tools: grep", "4:8: `tools`: expected a list, found the text `grep`"),
        ("tools: [grep, 3]", "4:15: `tools[1]`: expected text, found the number `3`"),
        ("tools: [grap]", "4:9: unknown tool `grap` (did you mean `grep`?)"),
        ("tools: [delegat]", "4:9: unknown tool `delegat` (`orch tools list` shows what there is)"),
        ("tools:\n  - grep\n  - edit_file", "6:5: `edit_file` changes things, and the role is read-only"),
        ("extends: explorr", "4:10: `extends`: there is no role `explorr` (did you mean `explorer`?)"),
        ("extends: [explorer]", "4:10: `extends`: expected text, found a list"),
    ],
)
def test_a_mistake_is_named_with_its_place(setup: RoleSetup, line: str, complaint: str) -> None:
    setup.role("bad", line)
    book = setup.load()
    assert "bad" not in book.roles
    assert [text.removeprefix(".orch/roles/bad.yaml:")[: len(complaint)] for text in errors(book)] == [complaint]


@pytest.mark.parametrize("name", ["Explorer", "my role", "9lives", "é", "a_b", "x" * 65])
def test_a_name_is_small_letters_digits_and_hyphens(setup: RoleSetup, name: str) -> None:
    setup.write(".orch/roles/x.yaml", f"name: {name}\ndescription: d\nprompt: p\n")
    book = setup.load()
    assert sorted(book.roles) == sorted(BUILT_IN_ROLES)
    assert errors(book)[0].startswith(".orch/roles/x.yaml:1:7: `name`: it must")


def test_all_mistakes_of_all_files_are_named_at_once_in_order(setup: RoleSetup) -> None:
    setup.write(".orch/roles/a.yaml", "name: a\ntools: [grap, read_fil]\nmax_turns: x\ntimeout: x\ncolour: red\n")
    setup.write(".orch/roles/b.yaml", "name: b\nname: c\n")
    setup.role("c")
    book = setup.load()
    assert "c" in book.roles
    places = [text.split(": ")[0] for text in errors(book)]
    a, b = ".orch/roles/a.yaml", ".orch/roles/b.yaml"
    lines = ["1:1", "1:1", "2:9", "2:15", "3:12", "4:10", "5:1"]
    assert places == [*(f"{a}:{line}" for line in lines), f"{b}:1:1", f"{b}:1:1", f"{b}:2:1"]


# --- extends ---------------------------------------------------------------------------------------------------------


def test_a_role_takes_over_what_it_does_not_set(setup: RoleSetup) -> None:
    setup.role("base", "max_turns: 7\nbudget: {tokens: 500}\ntools: [grep, edit_file]\nread_only: false")
    setup.write(".orch/roles/child.yaml", "name: child\nextends: base\nbudget: {usd: 2}\ntimeout: 10\n")
    book = setup.load()
    child = book.get("child")
    assert (child.max_turns, child.timeout, child.tools) == (7, 10, ("grep", "edit_file"))
    assert child.budget == Budget(tokens=500, usd=2)
    assert (child.description, child.prompt, child.extends) == ("A test role.", "Look.", "base")
    origins = book.origins["child"]
    assert origins["timeout"] == ".orch/roles/child.yaml:4"
    assert origins["max_turns"] == ".orch/roles/base.yaml:4"
    assert origins["max_summary_tokens"] == "default"


def test_a_role_may_extend_the_role_that_it_replaces(setup: RoleSetup) -> None:
    setup.write("roles/explorer.yaml", "name: explorer\nextends: explorer\nmax_turns: 3\n", user=True)
    book = setup.load()
    assert book.problems == ()
    explorer = book.get("explorer")
    assert (explorer.max_turns, explorer.max_summary_tokens, explorer.place) == (3, 2000, "user")
    assert book.replaced["explorer"] == ("built-in/explorer.yaml",)


def test_a_circle_of_extends_is_an_error_and_hides_nothing(setup: RoleSetup) -> None:
    for name, base in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("e", "e")):
        setup.write(f".orch/roles/{name}.yaml", f"name: {name}\nextends: {base}\ndescription: d\nprompt: p\n")
    book = setup.load()
    assert sorted(book.roles) == sorted(BUILT_IN_ROLES)
    circle, *others = errors(book)
    files = " → ".join(f".orch/roles/{name}.yaml" for name in "abca")
    assert circle == f".orch/roles/c.yaml:2:10: `extends` goes round in a circle: {files}"
    assert len(others) == 4
    assert "there is no other role `e`" in others[-1]


def test_extending_a_broken_role_says_which_file_to_put_right(setup: RoleSetup) -> None:
    setup.role("base", "max_turns: no")
    setup.role("child", "extends: base")
    assert errors(setup.load())[1].endswith(
        "the role `base` has errors of its own (put .orch/roles/base.yaml right first)"
    )


def test_a_workspace_cannot_change_what_a_role_of_the_user_extends(setup: RoleSetup) -> None:
    setup.role("base", "tools: [grep]", user=True)
    setup.role("mine", "extends: base", user=True)
    setup.role("base", "tools: [edit_file]\nread_only: false")
    for trusted in (False, True):
        assert setup.load(trusted=trusted).get("mine").tools == ("grep",)


# --- which one -------------------------------------------------------------------------------------------------------


def test_workspace_before_user_before_built_in(setup: RoleSetup) -> None:
    setup.role("mine", user=True, prompt="user")
    setup.role("explorer", user=True, prompt="user")
    setup.role("reviewer", prompt="workspace")
    book = setup.load(trusted=True)
    assert book.get("mine").prompt == book.get("explorer").prompt == "user"
    assert book.get("reviewer").prompt == "workspace"
    assert book.get("planner").place == "built-in"


def test_two_files_of_one_folder_with_one_name_are_an_error(setup: RoleSetup) -> None:
    setup.role("twin", prompt="first")
    setup.write(".orch/roles/twin2.yaml", "name: twin\ndescription: d\nprompt: second\n")
    book = setup.load()
    assert book.get("twin").prompt == "first"
    assert errors(book) == [
        ".orch/roles/twin2.yaml:1:7: not used: .orch/roles/twin.yaml has a role of the same name, `twin` (rename one)"
    ]


def test_a_file_named_otherwise_than_its_role_and_a_yml_file_are_warned_of(setup: RoleSetup) -> None:
    setup.write(".orch/roles/other.yaml", "name: mine\ndescription: d\nprompt: p\n")
    setup.write(".orch/roles/third.yml", "name: third\ndescription: d\nprompt: p\n")
    setup.write(".orch/roles/.#lock.yaml", "")
    book = setup.load()
    assert "mine" in book.roles
    assert "third" not in book.roles
    assert errors(book) == []
    assert [text.split(" (")[0] for text in warnings(book)] == [
        ".orch/roles/other.yaml:1:7: warning: the role is called `mine`, its file `other`",
        ".orch/roles/third.yml:1:1: warning: not read: role files end in .yaml",
    ]


def test_a_role_that_does_not_exist_names_the_near_one(setup: RoleSetup) -> None:
    with pytest.raises(UsageError) as caught:
        setup.load().get("explore")
    assert caught.value.hint == "did you mean `explorer`?"


def test_effective_tools_are_the_whitelist_less_all_that_is_refused(setup: RoleSetup) -> None:
    tools = "tools: [edit_file, grep, report, web_fetch, grep]"
    setup.role("writer", f"{tools}\nread_only: false")
    writer = setup.load().get("writer")
    assert writer.effective_tools(TOOLS) == ("edit_file", "grep", "web_fetch")
    assert writer.effective_tools(TOOLS, {"web_fetch"}) == ("edit_file", "grep")
    assert writer.effective_tools({"grep": True, "delegate": True}) == ("grep",)
    setup.role("reader", "extends: writer\nread_only: true")
    assert setup.load().get("reader").effective_tools(TOOLS) == ("grep", "web_fetch")


# --- Claude Code agents ----------------------------------------------------------------------------------------------

AGENT = """\
---
name: reviewer-two
description: Reviews.
tools: Read, Grep, Bash, Bash(git diff:*), NotebookEdit
disallowedTools: [Bash(rm:*)]
model: haiku
maxTurns: 9
color: blue
hooks: {}
---
You review.

--- not a marker
"""


def test_a_claude_code_agent_is_a_role(setup: RoleSetup) -> None:
    setup.write(".claude/agents/reviewer-two.md", AGENT)
    book = setup.load()
    role = book.get("reviewer-two")
    assert (role.description, role.model, role.max_turns) == ("Reviews.", "small", 9)
    assert role.tools == ("read_file", "grep"), "a restricted shell is not given as a whole one"
    assert role.prompt == "You review.\n\n--- not a marker"
    assert role.read_only
    assert errors(book) == []
    assert warnings(book) == [
        ".claude/agents/reviewer-two.md:4:8: warning: left out, no such tool: Bash(git diff:*), NotebookEdit",
        ".claude/agents/reviewer-two.md:9:1: warning: not used by orch: hooks",
    ]


def test_a_claude_code_agent_that_writes_is_not_read_only(setup: RoleSetup) -> None:
    setup.write("home-agents.md", "")
    agent = "---\nname: fixer\ndescription: Fixes.\ntools: [Read, Edit, Task]\n---\nFix.\n"
    setup.write(".claude/agents/fixer.md", agent, user=True)
    setup.write(".claude/agents/open.md", "---\nname: open\ndescription: d\n---\nAll.\n", user=True)
    book = setup.load()
    assert book.get("fixer").effective_tools(TOOLS) == ("read_file", "edit_file")
    assert book.get("open").tools == DEFAULT_TOOLS, "no `tools` is the read-only set, not every tool"
    assert len(warnings(book)) == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("You review.\n", "x.md:1:1: the file has no YAML front matter"),
        ("---\nname: x\n", "x.md:1:1: the file has no YAML front matter"),
        ("---\n---\nhi\n", "x.md:2:1: the file is empty"),
        ("---\nname: x\ndescription: Use when: reviewing\n---\nhi\n", "x.md:3:22: a value with `: ` inside must be"),
        ("---\nname: x\n---\nhi\n", "x.md:2:1: `description` is missing"),
        ("---\nname: x\ndescription: d\n---\n", "x.md:2:1: `prompt`: it must not be empty"),
        ("---\nname: x\ndescription: d\ntools: {a: b}\n---\nhi\n", "x.md:4:8: `tools`: expected a list"),
        ("---\nname: x\ndescription: d\nmaxTurns: 0\n---\nhi\n", "x.md:4:11: `max_turns`: it must be at least 1"),
    ],
)
def test_what_is_wrong_with_an_agent_file_is_named_by_line(setup: RoleSetup, text: str, complaint: str) -> None:
    setup.write(".claude/agents/x.md", text)
    assert [line.removeprefix(".claude/agents/")[: len(complaint)] for line in errors(setup.load())] == [complaint]


def test_a_role_file_wins_over_an_agent_file_of_the_same_place(setup: RoleSetup) -> None:
    setup.role("same", prompt="ours")
    setup.write(".claude/agents/same.md", "---\nname: same\ndescription: d\n---\ntheirs\n")
    book = setup.load()
    assert book.get("same").prompt == "ours"
    assert errors(book) == []
    assert "not used: .orch/roles/same.yaml has a role of the same name" in warnings(book)[0]
