"""Fault reports about permissions and approvals (REPORTS.md): rules, grants and modes against real command lines.

B003, B004, B018 (permission side), B105 to B113, B171, B186, B187.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.approval import PermissionRequest
from orchestrator.headless_approval import HeadlessApprover
from orchestrator.permissions import Mode
from tests.support.permission_setup import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- modes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_only", [False, True])
def test_b003_plan_mode_refuses_a_lasting_change_outside_the_repository(tmp_path: Path, read_only: bool) -> None:
    """By the classifier, in the child as in the parent; an allow rule does not help."""
    desk = Desk(tmp_path, "default" if read_only else "plan", allow=["run_shell", "run_shell(git config *)"])
    verdict = desk.shell("git config --global --add safe.directory /somewhere", read_only=read_only)
    assert (verdict.decision, verdict.by, verdict.level, verdict.network) == ("deny", "mode", "read-only", False)
    assert any("git config --global" in why for why in verdict.why)


def test_b004_only_the_mode_is_a_ceiling(tmp_path: Path) -> None:
    """In default mode a child's write is asked, whatever tools its parent has; in plan mode it is refused."""
    assert Desk(tmp_path).edit("a.py", tool="write_file").decision == "ask"
    assert Desk(tmp_path, "accept-edits").edit("a.py", tool="write_file").decision == "allow"
    assert Desk(tmp_path, "plan").edit("a.py", tool="write_file").decision == "deny"


async def test_b018_headless_a_question_is_a_no_with_a_message() -> None:
    request = PermissionRequest("child-1", "explorer", "t", "c", "run_shell", ("make",), ("it repeats itself",))
    reply = await HeadlessApprover("deny").ask(request)
    assert (reply.choice, reply.by) == ("no", "headless")
    assert reply.reason.startswith("it repeats itself")


def test_b186_accepting_edits_accepts_nothing_but_edits(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "accept-edits")
    for command in (
        "rm -r src",
        "make",
        "python x.py",
        "sed -i s/a/b/ src/a.py",
        "cp a b",
        "touch a",
        "echo x | tee a",
    ):
        assert desk.decision(command) == "ask", command


@pytest.mark.parametrize(
    ("mode", "edit", "command"),
    [("default", "ask", "ask"), ("accept-edits", "allow", "ask"), ("plan", "deny", "deny")],
)
def test_b187_the_mode_that_was_chosen_is_the_one_in_force(tmp_path: Path, mode: Mode, edit: str, command: str) -> None:
    """No grant and no former session changes what a mode lets pass."""
    for each in ("accept-edits", "plan", "default"):
        Desk(tmp_path, each).permissions.keep("run_shell(ls)")
    assert Desk(tmp_path, mode).edit("src/a.py").decision == edit
    assert Desk(tmp_path, mode).decision("make") == command


# --- what only reads -------------------------------------------------------------------------------------------------

READING = [
    "ls",
    "ls -la src",
    "git status",
    "git log --oneline",
    "cat src/a.py | head",
    "grep -rn x src && wc -l src/a.py",
]


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("mode", ["default", "plan", "accept-edits"])
def test_reading_passes_in_every_mode_and_is_confined_to_reading(tmp_path: Path, mode: Mode, command: str) -> None:
    verdict = Desk(tmp_path, mode).shell(command)
    assert (verdict.decision, verdict.level, verdict.network) == ("allow", "read-only", False)


@pytest.mark.parametrize("command", ["git -C src diff", "git --no-pager log"])
def test_b113_reading_is_not_refused_for_a_harmless_option(tmp_path: Path, command: str) -> None:
    assert Desk(tmp_path, "plan").decision(command) == "allow"


def test_b113_a_refusal_says_why(tmp_path: Path) -> None:
    verdict = Desk(tmp_path, "plan").shell("ls && git branch -D main")
    assert verdict.why[0] == "only reading is allowed here"
    assert any("git branch -D main" in why for why in verdict.why)
    assert not any("`ls`" in why for why in verdict.why)


NOT_READING = [
    "git status $(touch /tmp/x)",  # B105
    "git status `touch x`",
    "cat <(rm x)",
    'echo "${v:-$(rm x)}"',
    "( rm x )",
    "echo hi > $(rm x)",  # B106
    "cat <<EOF\n$(rm e)\nEOF",
    "echo hi > f",
    "GIT_PAGER=./evil git log",  # B107
    "LD_PRELOAD=./a.so ls",
    'bash -c "rm x"',
    'eval "rm x"',
    "env rm x",
    "xargs rm < list",
    "javac -version -processorpath p -processor E a.java",  # B110
    "rm -rf x --help",
    "./ls",  # B111
    "env",
    "printenv",
]


@pytest.mark.parametrize("command", NOT_READING)
def test_b105_to_b111_what_may_do_more_is_asked_and_in_plan_mode_refused(tmp_path: Path, command: str) -> None:
    assert Desk(tmp_path).decision(command) == "ask"
    assert Desk(tmp_path, "plan").decision(command) == "deny"


@pytest.mark.parametrize("command", NOT_READING)
def test_b105_to_b111_nor_does_a_rule_for_the_harmless_part_let_it_pass(tmp_path: Path, command: str) -> None:
    harmless = ["git status *", "git log *", "cat *", "echo *", "ls *", "javac -version", "git *"]
    desk = Desk(tmp_path, "accept-edits", allow=[f"run_shell({each})" for each in harmless])
    if command not in ("echo hi > f",):  # in this mode a write in the workspace like any other
        assert desk.decision(command) == "ask"


def test_b106_a_quoted_here_document_is_text(tmp_path: Path) -> None:
    assert Desk(tmp_path, "plan").decision("cat <<'EOF'\n$(rm e)\nEOF") == "allow"


# --- allow rules and grants ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("granted", [False, True])
def test_a_rule_for_one_command_grants_no_composition(tmp_path: Path, granted: bool) -> None:
    rule = "run_shell(make test)"
    desk = Desk(tmp_path, allow=[] if granted else [rule])
    if granted:
        desk.permissions.keep(rule)
    assert desk.shell("make test")[:2] == ("allow", "grant" if granted else "rule")
    assert desk.shell("make test").level == "workspace"
    assert desk.decision("make test && ls") == "allow"
    assert desk.decision("make  'test' | tail -5") == "allow"
    for command in (
        "make test && rm x",
        "make test; rm x",
        "make test | sh",
        "make test & rm x",
        "make test $(rm x)",
        "make test\nrm x",
        "make test > out",
        "make test < <(rm x)",
        "make test all",
        "MAKEFLAGS=x make test",
        "env make test",
        "sudo make test",
        "./make test",
        "/tmp/make test",
        "make $T",
        "make t*",
        "$M test",
        "make() { rm x; }; make test",
        "cd sub && make test all",
        "if make test; then rm x; fi",
        "make test || (rm x)",
    ):
        assert desk.decision(command) == "ask", command


def test_both_a_wrapper_and_what_it_runs_must_be_allowed(tmp_path: Path) -> None:
    for allow, decision in ((["make *"], "ask"), (["timeout *"], "ask"), (["make *", "timeout *"], "allow")):
        desk = Desk(tmp_path, allow=[f"run_shell({each})" for each in allow])
        assert desk.decision("timeout 5 make test") == decision, allow


def test_an_expansion_is_granted_by_no_pattern_but_by_a_rule_about_all_commands(tmp_path: Path) -> None:
    assert Desk(tmp_path, allow=["run_shell(make *)"]).decision("make $T") == "ask"
    assert Desk(tmp_path, allow=["run_shell(*)"]).decision("make $T") == "ask"
    assert Desk(tmp_path, allow=["run_shell"]).decision("make $T") == "allow"


def test_a_text_that_is_not_understood_is_asked_as_a_whole_and_not_for_always(tmp_path: Path) -> None:
    for command in ("make 'test", "make test ((", "if make test"):
        desk = Desk(tmp_path, allow=["run_shell(make *)", "run_shell(*)"], ask=["run_shell(rm *)"])
        verdict = desk.shell(command)
        assert (verdict.decision, verdict.pattern) == ("ask", ""), command
        assert command.split("\n")[0] in " ".join(verdict.lines)
        limited = Desk(tmp_path, allow=["run_shell"], deny=["run_shell(git *)"])
        assert limited.decision(command) == "ask"


def test_redirections_are_judged_as_writes_of_files(tmp_path: Path) -> None:
    desk = Desk(tmp_path, allow=["run_shell(make *)", "write_file(out/**)"], deny=["edit_file(src/**)"])
    assert desk.decision("make test > out/log 2>&1") == "allow"
    assert desk.decision("make test > /dev/null 2>&1") == "allow"
    assert desk.decision("ls > out/log") == "allow"
    assert desk.decision("ls > log") == "ask"
    assert desk.decision("ls out/log > log") == "ask"
    assert desk.decision("make test >> src/log") == "deny"
    assert desk.decision("(ls; ls) > src/log") == "deny"
    assert desk.decision("cd out && make test > ../src/log") in ("ask", "deny")
    assert desk.shell("ls > .git/hooks/x")[:2] == ("ask", "protected")
    assert desk.shell("ls > ../x")[:2] == ("ask", "protected")
    assert desk.shell("ls > $F").decision == "ask"


def test_accepted_edits_are_also_those_of_redirections(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "accept-edits")
    assert desk.shell("grep -rn x src | sort > found.txt")[:2] == ("allow", "mode")
    assert desk.shell("grep -rn x src > found.txt").level == "workspace"
    assert desk.decision("cd src && ls > found.txt") == "ask"
    assert desk.decision("ls > .env") == "ask"
    assert desk.decision("rm x > found.txt") == "ask"
    assert desk.decision("cat < $F > found.txt") == "ask"
    assert desk.decision("PATH=. ls > found.txt") == "ask"
    assert desk.decision("export PATH=.; ls > found.txt") == "ask"


# --- deny and ask rules ----------------------------------------------------------------------------------------------

WRAPPED = [
    "true && rm -rf d",  # B112
    "(rm -rf d)",
    "command rm -rf d",
    "\\rm -rf d",
    "/bin/rm -rf d",
    "rm  -r -f d",
    '"rm" -rf d',
    "r'm' -rf d",
    "sudo rm -rf d",
    "env A=1 rm -rf d",
    "A=1 rm -rf d",
    "nohup timeout 5 rm -rf d",
    "xargs rm -rf < list",
    "find . -exec rm -rf {} +",
    "sh -c 'rm -rf d'",
    "bash -lc 'true; rm -rf d'",
    "eval rm -rf d",
    "echo $(rm -rf d)",
    "echo `rm -rf d`",
    'echo "$(rm -rf d)"',
    "cat <(rm -rf d)",
    "cat <<EOF\n$(rm -rf d)\nEOF",
    "if true; then rm -rf d; fi",
    "for i in 1; do rm -rf $i; done",
    "f() { rm -rf d; }; f",
    "! rm -rf d",
    "rm -rf d &",
    "rm -rf $X",
    "rm $OPTIONS d",
    "$CMD -rf d",
    "rm -rf d 'unclosed",
    "rm -rf d ((",
    "watch 'rm -rf d'",
    "ssh host 'rm -rf d'",
    "busybox rm -rf d",
    "git -c alias.x='!rm -rf d' x",
    "time rm -rf d",
    "case x in x) rm -rf d;; esac",
    "ls | while read f; do rm -rf $f; done",
]


@pytest.mark.parametrize("command", WRAPPED)
def test_b112_a_deny_rule_holds_in_every_disguise(tmp_path: Path, command: str) -> None:
    deny = ["run_shell(rm -rf *)"]
    for allow in ([], ["*"], ["run_shell"], ["run_shell(*)"]):
        verdict = Desk(tmp_path, deny=deny, allow=allow).shell(command)
        assert verdict.decision == "deny", verdict
    asked = Desk(tmp_path, ask=deny, allow=["run_shell"]).shell(command)
    assert asked.decision in ("ask", "deny")
    assert asked.pattern == ""


@pytest.mark.parametrize("command", ["rm d", "ls -rf", "echo 'rm -rf d'", "git rm x", "grep -rf rm d"])
def test_b112_and_only_there(tmp_path: Path, command: str) -> None:
    assert Desk(tmp_path, deny=["run_shell(rm -rf *)"], allow=["run_shell"]).decision(command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "rm -r docs",
        "mv docs elsewhere",
        "echo x > docs/a",
        "cp a docs/b",
        "rm -rf .",
        "sed -i s/a/b/ docs/a",
        "tee docs/a",
        "cd src && echo x > ../docs/a",
    ],
)
def test_files_that_no_tool_may_write_no_command_may(tmp_path: Path, command: str) -> None:
    desk = Desk(tmp_path, deny=["edit_file(docs/**)"], allow=["run_shell"])
    (desk.root / "docs").mkdir()
    assert desk.decision(command) == "deny"


def test_files_that_may_not_be_read_are_not_read_by_commands(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "plan", deny=["read_file(private/**)"])
    desk.file("private/x")
    for command in ("cat private/x", "head -1 < private/x", "cat src/../private/x", "cat private/*"):
        assert desk.decision(command) == "deny", command


@pytest.mark.parametrize("mode", ["default", "plan", "accept-edits"])
@pytest.mark.parametrize(
    "command", ["rm -rf /", "rm -rf ~", "mkfs.ext4 /dev/sda", ":(){ :|:& };:", "sudo shutdown now"]
)
def test_what_is_never_to_be_run_is_refused_in_every_mode_over_every_rule(
    tmp_path: Path, mode: Mode, command: str
) -> None:
    desk = Desk(tmp_path, mode, allow=["*", "run_shell", "run_shell(*)"])
    desk.permissions.keep("run_shell")
    assert desk.shell(command)[:2] == ("deny", "forbidden")


@pytest.mark.parametrize("command", ["cat .env", "cat < .env", "cat .e*", "grep KEY src/../.env", "cat .ENV"])
def test_b171_a_command_that_reads_secrets_is_asked_each_time(tmp_path: Path, command: str) -> None:
    desk = Desk(tmp_path, allow=["*", "run_shell", "run_shell(cat *)"])
    desk.file(".env", "API_KEY=opaque123")
    verdict = desk.shell(command)
    assert (verdict.decision, verdict.by, verdict.pattern) == ("ask", "protected", "")


GUARDED = """rm .git/index; cp x .git/hooks/pre-commit; touch .orch/config.yaml; rm -rf .; mv src .GIT/x;
    cp a ~/.bashrc"""


@pytest.mark.parametrize("command", GUARDED.split(";"))
def test_a_command_that_writes_what_is_protected_is_asked_each_time(tmp_path: Path, command: str) -> None:
    desk = Desk(tmp_path, "accept-edits", allow=["*", "run_shell"])
    verdict = desk.shell(command)
    assert (verdict.decision, verdict.by, verdict.pattern) == ("ask", "protected", "")


# --- the network -----------------------------------------------------------------------------------------------------


def test_the_network_is_asked_for_and_given_with_the_answer(tmp_path: Path) -> None:
    verdict = Desk(tmp_path).shell("curl https://example.org")
    assert (verdict.decision, verdict.network) == ("ask", True)
    assert any("network" in why for why in verdict.why)
    assert Desk(tmp_path).shell("make").network is False
    assert Desk(tmp_path, network=True).shell("make").network is True
    assert Desk(tmp_path, "plan", network=True).shell("ls").network is False
    assert Desk(tmp_path, "plan", network=True).shell("curl https://example.org").decision == "deny"


def test_a_rule_that_names_the_program_gives_it_the_network_one_about_all_commands_does_not(tmp_path: Path) -> None:
    assert Desk(tmp_path, allow=["run_shell(curl *)"]).shell("curl https://example.org")[:2] == ("allow", "rule")
    assert Desk(tmp_path, allow=["run_shell(curl *)"]).shell("curl https://example.org").network is True
    for rule in ("run_shell", "*", "run_shell(*)"):
        assert Desk(tmp_path, allow=[rule]).shell("curl https://example.org").decision == "ask", rule
        assert Desk(tmp_path, allow=[rule], network=True).shell("curl https://example.org").decision == "allow", rule


# --- always ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "offer"),
    [
        ("git push origin main", "run_shell(git push origin main)"),
        ("npm run test -- -x", "run_shell(npm run test *)"),
        ("cargo test", "run_shell(cargo test *)"),
        ("make test", "run_shell(make test)"),
        ("rm -rf build", "run_shell(rm -rf build)"),
        ("python x.py", "run_shell(python x.py)"),
        ("git config user.name x", "run_shell(git config user.name x)"),
        ("echo 'a b' | tee x", "run_shell(tee x)"),
        ("git push && git push --tags", ""),
        ("git add a && git add b", "run_shell(git add *)"),
        ("make test | tail", "run_shell(make test)"),
        ("make 'a*b'", "run_shell(make 'a*b')"),
        ("ls > out/x", "write_file(out/*)"),
        ("make && make test", ""),
        ("make > out", ""),
        ("make $T", ""),
        ("A=1 make", ""),
        ("python", ""),
        ("python - <<EOF\nx\nEOF", ""),
        ("echo rm x | bash", ""),
        ("xargs rm < list", ""),
        ("export PATH=x", ""),
        ("source x.sh", ""),
        ("bash -c 'make'", ""),
    ],
)
def test_what_always_would_add(tmp_path: Path, command: str, offer: str) -> None:
    desk = Desk(tmp_path)
    verdict = desk.shell(command)
    assert (verdict.decision, verdict.pattern) == ("ask", offer)
    if offer:
        desk.permissions.keep(offer)
        assert desk.shell(command)[:2] == ("allow", "grant")


def test_the_user_is_shown_the_commands_and_the_text_where_it_says_more(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert desk.shell("make test").lines == ("make test",)
    shown = desk.shell("cd src && python - <<EOF\nprint(1)\nEOF").lines
    assert "as written: cd src && python - <<EOF" in shown
    assert shown[-2:] == ("print(1)", "EOF")


# --- whatever the composition ----------------------------------------------------------------------------------------

SIMPLE = st.sampled_from(["ls", "git status", "cat a", "true", "make test", "wc -l < a"])
FORBIDDEN = st.sampled_from(["rm -rf d", "rm -fr d", "/bin/rm -r -f d", '"rm" -rf d'])


def composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Command lines that run `inner` somewhere."""
    return st.recursive(
        inner,
        lambda part: st.one_of(
            st.builds("{} && {}".format, SIMPLE, part),
            st.builds("{} | {}".format, part, SIMPLE),
            st.builds("{}; {}".format, SIMPLE, part),
            st.builds("( {} )".format, part),
            st.builds("{{ {}; }}".format, part),
            st.builds("echo $({})".format, part),
            st.builds('echo "$({})"'.format, part),
            st.builds("cat <({})".format, part),
            st.builds("if {}; then {}; fi".format, SIMPLE, part),
            st.builds("while {}; do {}; done".format, part, SIMPLE),
            st.builds("for i in 1 2; do {}; done".format, part),
            st.builds("{} ||\n{}".format, SIMPLE, part),
            st.builds("! {}".format, part),
        ),
        max_leaves=4,
    )


def wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner,
        *(st.builds(f"{each} {{}}".format, inner) for each in ("sudo", "env", "nice", "timeout 5", "nohup", "xargs")),
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(composed(wrapped(FORBIDDEN)))
def test_no_deny_rule_is_bypassed_by_composition(tmp_path: Path, command: str) -> None:
    desk = Desk(tmp_path, deny=["run_shell(rm -rf *)"], allow=["run_shell", "run_shell(*)"])
    assert desk.decision(command) == "deny"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    composed(
        wrapped(st.sampled_from(["make all", "make test all", "make", "cp a b", "rm x", "make $T", "A=1 make test"]))
    )
)
def test_no_grant_widens_beyond_its_commands(tmp_path: Path, command: str) -> None:
    desk = Desk(tmp_path)
    desk.permissions.keep("run_shell(make test)")
    assert desk.decision("make test && ls") == "allow"
    assert desk.decision(command) == "ask"


PIECES = """ls rm -rf d make test $X $( ) ` ' " \\ | || & && ; ( ) { } > >> < << EOF # ! [[ ]] if then fi for in do done
    * ~ a=b = % é eval sudo sh -c"""
TOKENS = st.one_of(*(st.just(piece) for piece in (*PIECES.split(), "\n", "\t", "\0")))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TOKENS, min_size=1, max_size=14).map(" ".join))
def test_whatever_the_text_there_is_a_verdict(tmp_path: Path, text: str) -> None:
    desk = Desk(tmp_path, allow=["run_shell(make test)"])
    verdict = desk.shell(text)
    if verdict.decision == "allow":
        assert verdict.level == "read-only" or "make" in text
    assert verdict.lines
    assert Desk(tmp_path, "plan").shell(text).level == "read-only" or verdict.decision == "deny"
    assert Desk(tmp_path, deny=["run_shell"], allow=["*"]).decision(text) == "deny"
