"""Verdicts on files, the order of rules, the queue of questions, and answers without a user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from os.path import normpath
from pathlib import Path

import pytest

from orchestrator.approval import AskRefused, PermissionReply, PermissionRequest
from orchestrator.config import PermissionSettings
from orchestrator.errors import ConfigError
from orchestrator.headless_approval import HeadlessApprover
from orchestrator.permissions import Mode, QueuedApprover, read_rules
from orchestrator.tool import Effects
from tests.support.permission_setup import TOOLS, Desk

MODES: tuple[Mode, ...] = ("default", "plan", "accept-edits")
EDITING = ("edit_file", "write_file", "apply_patch")


def brief(verdict: object) -> tuple[str, str]:
    return verdict[:2]  # type: ignore[index,no-any-return]  # a NamedTuple


# --- rules as they are read ------------------------------------------------------------------------------------------


def test_every_wrong_rule_is_named_with_what_was_probably_meant() -> None:
    settings = PermissionSettings(deny=("run_shel(rm *)", "read_file"), ask=("edit_file([)",), allow=("nonsense here",))
    with pytest.raises(ConfigError) as caught:
        read_rules(settings, TOOLS.names)
    lines = caught.value.message.split("\n")
    assert lines[0] == (
        "permissions.deny: the rule `run_shel(rm *)` is wrong: there is no tool `run_shel`; did you mean `run_shell`?"
    )
    assert lines[1].startswith("permissions.ask: the rule `edit_file([)` is wrong: a [ is not closed")
    assert lines[2].startswith("permissions.allow: the rule `nonsense here` is wrong: a rule is TOOL")
    assert len(lines) == 3


# --- modes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_reading_passes_in_every_mode(tmp_path: Path, mode: Mode) -> None:
    assert brief(Desk(tmp_path, mode).read("src/a.py")) == ("allow", "default")


@pytest.mark.parametrize("tool", EDITING)
def test_writing_is_asked_refused_or_accepted_by_the_mode(tmp_path: Path, tool: str) -> None:
    assert brief(Desk(tmp_path).edit("src/a.py", tool=tool)) == ("ask", "default")
    assert brief(Desk(tmp_path, "plan").edit("src/a.py", tool=tool)) == ("deny", "mode")
    assert brief(Desk(tmp_path, "accept-edits").edit("src/a.py", tool=tool)) == ("allow", "mode")


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_that_only_reads_may_not_write_whatever_the_mode_and_the_rules(tmp_path: Path, mode: Mode) -> None:
    desk = Desk(tmp_path, mode, allow=["*", "edit_file"])
    assert brief(desk.edit("src/a.py", read_only=True)) == ("deny", "mode")


def test_a_tool_that_says_nothing_of_what_it_does_is_asked_as_a_whole(tmp_path: Path) -> None:
    assert Desk(tmp_path).edit(tool="run_shell").pattern == ""
    unknown = TOOLS.get("edit_file")
    verdict = Desk(tmp_path, "accept-edits").permissions.judge(unknown, Effects(), read_only=False)
    assert (verdict.decision, verdict.pattern) == ("ask", "edit_file")
    allowed = Desk(tmp_path, allow=["edit_file(**)"]).permissions.judge(unknown, Effects(), read_only=False)
    assert allowed.decision == "ask"
    allowed = Desk(tmp_path, allow=["edit_file"]).permissions.judge(unknown, Effects(), read_only=False)
    assert allowed.decision == "allow"


# --- rules -----------------------------------------------------------------------------------------------------------


def test_deny_beats_ask_beats_allow(tmp_path: Path) -> None:
    rules = ["edit_file(src/**)"]
    assert brief(Desk(tmp_path, allow=rules).edit("src/a.py")) == ("allow", "rule")
    assert brief(Desk(tmp_path, "accept-edits", ask=rules, allow=rules).edit("src/a.py")) == ("ask", "rule")
    assert brief(Desk(tmp_path, deny=rules, ask=rules, allow=rules).edit("src/a.py")) == ("deny", "rule")


def test_the_rule_that_decides_is_named(tmp_path: Path) -> None:
    assert Desk(tmp_path, deny=["edit_file(src/**)"]).edit("src/a.py").why == (
        "the rule `edit_file(src/**)` forbids it",
    )
    asked = Desk(tmp_path, ask=["edit_file(src/**)"]).edit("src/a.py")
    assert asked.why == ("the rule `edit_file(src/**)` says to ask",)
    assert asked.pattern == ""


def test_a_patch_passes_only_if_every_file_of_it_is_allowed(tmp_path: Path) -> None:
    desk = Desk(tmp_path, allow=["apply_patch(docs/**)"], deny=["apply_patch(src/**)"])
    assert desk.edit("docs/a", "docs/b", tool="apply_patch").decision == "allow"
    assert desk.edit("docs/a", "b", tool="apply_patch").decision == "ask"
    assert desk.edit("docs/a", "src/b", tool="apply_patch").decision == "deny"


def test_what_one_tool_may_not_write_no_other_tool_may(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "accept-edits", deny=["edit_file(migrations/**)"])
    assert {desk.edit("migrations/1.sql", tool=tool).decision for tool in EDITING} == {"deny"}


def test_but_what_one_tool_may_write_another_may_not(tmp_path: Path) -> None:
    desk = Desk(tmp_path, allow=["edit_file(docs/**)"])
    assert desk.edit("docs/a.md").decision == "allow"
    assert desk.edit("docs/a.md", tool="write_file").decision == "ask"


@pytest.mark.parametrize("path", ["src/../docs/a.md", "./docs/a.md", "docs//a.md"])
def test_rules_are_about_files_not_about_their_spelling(tmp_path: Path, path: str) -> None:
    assert Desk(tmp_path, allow=["edit_file(docs/**)"]).edit(path).decision == "allow"
    assert Desk(tmp_path, "accept-edits", deny=["edit_file(docs/**)"]).edit(path).decision == "deny"


def test_a_link_is_judged_by_where_it_leads_and_by_its_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path, allow=["edit_file(docs/**)"], deny=["edit_file(src/**)"])
    desk.file("src/a.py")
    desk.file("other/b.py")
    (desk.root / "docs").mkdir()
    (desk.root / "docs/a.py").symlink_to("../src/a.py")
    (desk.root / "docs/b.py").symlink_to("../other/b.py")
    assert desk.edit("docs/a.py").decision == "deny"
    assert desk.edit("docs/b.py").decision == "ask"


def test_reading_can_be_denied_and_asked_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path, deny=["read_file(private/**)"], ask=["*(*.sql)"])
    assert brief(desk.read("private/x")) == ("deny", "rule")
    assert brief(desk.read("PRIVATE/x")) == ("deny", "rule")
    asked = desk.read("db/dump.sql")
    assert (asked.decision, asked.by, asked.secrets) == ("ask", "rule", ())
    assert desk.read("src/a.py").decision == "allow"
    assert brief(Desk(tmp_path, deny=["grep"]).read(tool="grep")) == ("deny", "rule")


def test_a_workspace_that_is_named_through_a_link_is_the_same_workspace(tmp_path: Path) -> None:
    desk = Desk(tmp_path, allow=["edit_file(docs/**)"])
    (tmp_path / "link").symlink_to(desk.root)
    assert desk.edit(f"{tmp_path}/link/docs/a").decision == "allow"
    assert desk.edit(f"{desk.root}/docs/a").decision == "allow"


# --- what is protected -----------------------------------------------------------------------------------------------

PROTECTED = """.git/config .git/hooks/pre-commit .GIT/config src/../.git/config a/../.git/HEAD sub/.git/config .git
    .orch/config.yaml .orch/hooks.py .Orch/roles/x.yaml sub/.orch/config.yaml .claude/agents/x.md
    .env .Env .env.local .env-production sub/.env .envrc id_rsa keys/server.pem .npmrc .netrc .bashrc sub/.zshrc
    .profile git~1/config .git./config .g\u200cit/config"""


@pytest.mark.parametrize("path", PROTECTED.split())
def test_protected_files_are_asked_whatever_the_mode_and_the_rules(tmp_path: Path, path: str) -> None:
    for mode in ("default", "accept-edits"):
        desk = Desk(tmp_path, mode, allow=["*", "*(**)", "edit_file", f"edit_file({normpath(path)})"])
        desk.permissions.keep("edit_file(**)")
        verdict = desk.edit(path)
        assert (verdict.decision, verdict.by, verdict.pattern) == ("ask", "protected", ""), verdict
        assert verdict.why


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/x.yml", "git/config", ".env.example", "orch/x", "env", "a.envx"]
)
def test_what_only_looks_like_them_is_not_protected(tmp_path: Path, path: str) -> None:
    """B083"""
    assert Desk(tmp_path, "accept-edits").edit(path).decision == "allow"


@pytest.mark.parametrize("path", ["../other", "/etc/passwd", "src/../../other", "{home}/.ssh/config", "{home}/.bashrc"])
def test_outside_of_the_workspace_is_asked_whatever_the_rules(tmp_path: Path, path: str) -> None:
    desk = Desk(tmp_path, "accept-edits", allow=["*", "edit_file(/**)", "edit_file(~/**)"])
    assert brief(desk.edit(path.format(home=desk.home))) == ("ask", "protected")


def test_links_that_lead_to_protected_files_are_followed(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "accept-edits")
    (desk.root / "hooks").symlink_to(".git/hooks")
    (desk.root / "new").symlink_to(".git/not-there-yet")
    (desk.root / "rc").symlink_to(desk.home / ".bashrc")
    (desk.root / "up").symlink_to("..")
    for path in ("hooks/pre-commit", "new", "rc", "up/elsewhere", "up/repo/.git/config"):
        assert brief(desk.edit(path)) == ("ask", "protected"), path
    assert desk.edit("up/repo/src/a.py").decision == "allow"


def test_what_git_keeps_under_another_name_is_protected(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "accept-edits")
    desk.file("bare/HEAD")
    desk.file("bare/objects/x")
    desk.file("bare/refs/x")
    assert brief(desk.edit("bare/hooks/post-update")) == ("ask", "protected")
    assert desk.edit("barely/hooks/x").decision == "allow"


def test_reading_a_key_file_is_asked_and_opens_that_file_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path, allow=["*", "read_file", "read_file(.env)"])
    verdict = desk.read("src/../.env")
    assert (verdict.decision, verdict.by, verdict.pattern) == ("ask", "protected", "")
    assert set(verdict.secrets) == {"src/../.env", ".env"}
    assert desk.read("src/a.py").secrets == ()


def test_in_plan_mode_a_secret_is_asked_and_with_nobody_there_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "plan")
    assert brief(desk.read(".env")) == ("ask", "protected")
    assert brief(desk.read(".env", read_only=True)) == ("ask", "protected")
    assert brief(desk.edit(".git/config")) == ("deny", "mode")
    assert brief(desk.edit(".orch/config.yaml")) == ("deny", "mode")


def test_a_workspace_inside_a_start_up_folder_can_be_worked_on(tmp_path: Path) -> None:
    from orchestrator.protected_paths import ProtectedPaths

    root = tmp_path / ".config/nvim"
    root.mkdir(parents=True)
    paths = ProtectedPaths(root, tmp_path, {})
    assert paths.writing(paths.spots("init.lua")) == ""
    assert paths.writing(paths.spots("../fish/config.fish")) != ""


def test_names_that_no_file_can_have_are_asked(tmp_path: Path) -> None:
    """B084"""
    desk = Desk(tmp_path, "accept-edits")
    assert brief(desk.edit("a\0b")) == ("ask", "protected")
    assert desk.edit("x" * 5000).decision in ("allow", "ask")


# --- always ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "offer"),
    [
        (["src/a.py"], "edit_file(src/*)"),
        (["src/a.py", "src/b.py"], "edit_file(src/*)"),
        (["README.md"], "edit_file(README.md)"),
        (["src/a.py", "docs/b.md"], ""),
        (["src/deep/a.py", "src/b.py"], ""),
        (["odd [x]/a{b}.py"], "edit_file(odd \\[x\\]/*)"),
        (["~x/a"], ""),
    ],
)
def test_the_rule_that_always_would_add_is_narrow_and_does_what_it_says(
    tmp_path: Path, paths: list[str], offer: str
) -> None:
    desk = Desk(tmp_path)
    verdict = desk.edit(*paths)
    assert (verdict.decision, verdict.pattern) == ("ask", offer)
    if offer:
        desk.permissions.keep(offer)
        assert brief(desk.edit(*paths)) == ("allow", "grant")
        assert desk.edit("elsewhere/x").decision == "ask"
        assert desk.edit("src/deep/er/x").decision == "ask"
        assert brief(Desk(tmp_path).edit(*paths)) == ("allow", "grant")


def test_a_grant_never_opens_what_is_protected_or_denied(tmp_path: Path) -> None:
    desk = Desk(tmp_path, deny=["edit_file(src/secret.py)"])
    desk.permissions.keep("edit_file(src/*)")
    assert desk.edit("src/a.py").decision == "allow"
    assert brief(desk.edit("src/.env")) == ("ask", "protected")
    assert desk.edit("src/secret.py").decision == "deny"


@pytest.mark.parametrize("rule", ["", "rm -rf /", "run_shell(", "run_shell()"])
def test_a_malformed_rule_is_not_kept(tmp_path: Path, rule: str) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(ConfigError, match="is wrong"):
        desk.permissions.keep(rule)
    assert not (tmp_path / "state").exists()


def test_a_grant_that_cannot_be_saved_holds_for_this_run(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    desk = Desk(tmp_path)
    desk.permissions.keep("edit_file(src/*)")
    assert desk.edit("src/a.py").decision == "allow"
    assert Desk(tmp_path).edit("src/a.py").decision == "ask"


def test_when_former_grants_do_not_count_the_question_says_so(tmp_path: Path) -> None:
    Desk(tmp_path).permissions.keep("edit_file(src/*)")
    (file,) = (tmp_path / "state/grants").glob("*.json")
    file.write_text("{")
    verdict = Desk(tmp_path).edit("src/a.py")
    assert verdict.decision == "ask"
    assert verdict.why[-1] == "what was allowed for always does not count: it is damaged"


# --- the queue -------------------------------------------------------------------------------------------------------


def asks(agent: str = "explorer-1", **fields: object) -> PermissionRequest:
    given: dict[str, object] = {
        "role": "r",
        "task": "t",
        "call_id": "c",
        "tool": "run_shell",
        "lines": ("make",),
        "why": ("w",),
    }
    return PermissionRequest(agent, **{**given, **fields})  # type: ignore[arg-type]  # as the caller says


class SlowUser:
    """An approver whose user answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: asyncio.Queue[PermissionReply] = asyncio.Queue()

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        self.asked.append(request.agent)
        return await self.answers.get()


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  # the other tasks get their turn meanwhile
        await asyncio.sleep(0)


async def test_questions_are_asked_one_at_a_time_in_their_order() -> None:
    user = SlowUser()
    queue = QueuedApprover(user)
    tasks = [asyncio.create_task(queue.ask(asks(f"a{n}"))) for n in range(3)]
    for n in range(3):
        await until(lambda count=n + 1: len(user.asked) == count)  # type: ignore[misc]  # bound as it is now
        await asyncio.sleep(0)
        assert user.asked == [f"a{i}" for i in range(n + 1)]
        user.answers.put_nowait(PermissionReply("once", reason=str(n)))
        assert (await tasks[n]).reason == str(n)


async def test_a_cancelled_question_leaves_the_queue_wherever_it_stands() -> None:
    user = SlowUser()
    queue = QueuedApprover(user)
    tasks = [asyncio.create_task(queue.ask(asks(f"a{n}"))) for n in range(3)]
    await until(lambda: user.asked == ["a0"])
    tasks[1].cancel()
    tasks[0].cancel()
    await until(lambda: len(user.asked) == 2)
    assert user.asked == ["a0", "a2"]
    user.answers.put_nowait(PermissionReply("no"))
    assert (await tasks[2]).choice == "no"
    assert tasks[0].cancelled()
    assert tasks[1].cancelled()


async def test_a_question_that_ends_the_run_frees_the_queue() -> None:
    queue = QueuedApprover(HeadlessApprover("fail"))
    for _ in range(2):
        with pytest.raises(AskRefused):
            await asyncio.wait_for(queue.ask(asks()), 10)


# --- without a user --------------------------------------------------------------------------------------------------


async def test_headless_the_answer_is_no_and_says_what_would_allow_it() -> None:
    reply = await HeadlessApprover("deny").ask(asks(pattern="run_shell(make)"))
    assert (reply.choice, reply.by) == ("no", "headless")
    assert "the rule `run_shell(make)` under permissions.allow" in reply.reason
    assert reply.reason.startswith("w. Nobody can be asked")
    assert "no one rule would allow it" in (await HeadlessApprover("deny").ask(asks())).reason
    edit = asks(tool="edit_file", diff="+x", pattern="edit_file(src/*)")
    assert "--mode accept-edits" in (await HeadlessApprover("deny").ask(edit)).reason


async def test_headless_it_may_end_the_run_with_the_same_words() -> None:
    reply = await HeadlessApprover("deny").ask(asks(pattern="run_shell(make)"))
    with pytest.raises(AskRefused) as caught:
        await HeadlessApprover("fail").ask(asks(pattern="run_shell(make)"))
    assert str(caught.value) == reply.reason
