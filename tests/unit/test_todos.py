"""What an agent is told about its list: a reminder when it is left alone, a nudge when nothing was tested."""

from __future__ import annotations

import pytest

from orchestrator.todos import TodoList
from orchestrator.tool import Todo

OPEN = [Todo("Find it", "Finding it", "completed"), Todo("Fix it", "Fixing it", "in_progress")]
DONE = [item._replace(status="completed") for item in OPEN]


@pytest.fixture
def todos() -> TodoList:
    return TodoList("parent", lambda items: None)


def rounds(todos: TodoList, count: int, *names: str) -> list[str]:
    return [todos.round_ended(names or ("grep", "edit_file")) for _ in range(count)]


def test_every_change_is_told() -> None:
    told: list[object] = []
    TodoList("parent", told.append).replace(OPEN)
    assert told == [(("Find it", "Finding it", "completed"), ("Fix it", "Fixing it", "in_progress"))]


def test_the_reminder_comes_after_three_rounds_and_again_after_three_more(todos: TodoList) -> None:
    todos.replace(OPEN)
    said = rounds(todos, 7)
    assert [bool(text) for text in said] == [False, False, True, False, False, True, False]
    assert "not updated for 3 rounds (1 open, now: Fix it)" in said[2]
    assert "6 rounds" in said[5]
    assert "\n" not in said[2]


def test_an_update_starts_the_count_anew(todos: TodoList) -> None:
    todos.replace(OPEN)
    rounds(todos, 2)
    todos.replace(OPEN)
    assert rounds(todos, 1, "todo_write", "grep") == [""]
    assert rounds(todos, 3)[:2] == ["", ""]


@pytest.mark.parametrize("items", [[], DONE])
def test_nobody_is_reminded_of_a_list_that_is_empty_or_done(todos: TodoList, items: list[Todo]) -> None:
    todos.replace(items)
    assert not any(rounds(todos, 9))


def test_a_long_step_is_cut_in_the_reminder(todos: TodoList) -> None:
    todos.replace([Todo("x" * 400, "x", "pending")])
    assert len(rounds(todos, 3)[2]) < 300


def test_all_done_and_nothing_tested_since_the_last_change(todos: TodoList) -> None:
    todos.note_call("run_shell", "pytest -q", wrote=True)
    todos.note_call("edit_file", "", wrote=True)
    assert todos.replace(OPEN) == ""
    assert "nothing was tested or checked" in todos.replace(DONE)
    todos.note_call("run_shell", "cd app && python -m pytest tests", wrote=True)
    assert todos.replace(DONE) == ""


def test_nothing_written_needs_no_test(todos: TodoList) -> None:
    todos.note_call("grep", "", wrote=False)
    assert todos.replace(DONE) == ""
    assert todos.replace([]) == ""


@pytest.mark.parametrize(
    "command",
    [
        *("pytest", "python -m pytest -x tests/a.py", "/usr/bin/pytest", "python3 -m unittest", "uv run pytest"),
        *("npm test", "npm run test:unit", "pnpm -r test", "yarn lint", "npx vitest run", "npx tsc --noEmit"),
        *("cargo test --all", "cargo clippy", "go test ./...", "go vet ./...", "make test", "make -C src check"),
        *("tox -e py311", "ruff check .", "mypy src", "./gradlew test", "mvn -q verify", "bundle exec rspec"),
        *("./run_tests.sh", "bash scripts/test.sh", "cd x && (make && make test)", "python tests/test_a.py"),
        *("cargo build", "npm run build", "shellcheck x.sh", "dotnet test"),
    ],
)
def test_what_tests_or_checks(todos: TodoList, command: str) -> None:
    todos.note_call("write_file", "", wrote=True)
    todos.note_call("run_shell", command, wrote=True)
    assert todos.replace(DONE) == ""


@pytest.mark.parametrize(
    "command",
    [
        *(
            "ls",
            "git status",
            "cat tests/test_a.py",
            "git commit -m 'add tests'",
            "echo done",
            "rm -r build",
            "sed -i s/a/b/ x",
        ),
        *("grep -rn test src", "git checkout main", "cp a latest", "pip install pytest", "echo attest"),
    ],
)
def test_what_does_not(todos: TodoList, command: str) -> None:
    todos.note_call("run_shell", command, wrote=True)
    assert "nothing was tested" in todos.replace(DONE)
