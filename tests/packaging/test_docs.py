"""What the documents say can be done can be done."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator import __version__
from orchestrator.command_line import parser
from orchestrator.config import load_config
from orchestrator.paths import Places
from orchestrator.providers import load_providers
from orchestrator.role_commands import roles_check_files
from orchestrator.toolbox import Toolbox
from tests.support.installing import ROOT

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
README = (ROOT / "README.md").read_text("utf-8")

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
_DOCUMENT = re.compile(r"docs/[\w-]+\.md")
_SEPARATORS = frozenset({"&&", "|", ";"})
_REDIRECTIONS = frozenset({"<", ">"})


def blocks(text: str, language: str) -> list[str]:
    return [body for kind, body in _BLOCK.findall(text) if kind == language]


def document(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def orch_commands(script: str) -> Iterator[list[str]]:
    """The arguments of every `orch` in a shell script without control structures."""
    for line in script.replace("\\\n", " ").replace("|\n", "| ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        command: list[str] = []
        for token in [*lexer, ";"]:
            if token not in _SEPARATORS and token not in _REDIRECTIONS:
                command.append(token)
                continue
            if command and command[0].rpartition("/")[2] == "orch":
                yield command[1:]
            command = []


COMMANDS = [
    pytest.param(arguments, id=f"{path.name}: orch {' '.join(arguments)}")
    for path in DOCUMENTS
    for script in blocks(path.read_text("utf-8"), "sh")
    for arguments in orch_commands(script)
]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_every_command_in_the_documents_is_one(arguments: list[str]) -> None:
    assert parser().parse_args(arguments).command


def test_the_documents_show_commands_at_all() -> None:
    assert len(COMMANDS) > 15


def test_links_between_the_documents_lead_somewhere() -> None:
    for path in DOCUMENTS:
        for target in _LINK.findall(path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_documents_that_messages_name_are_there() -> None:
    for path in [*(ROOT / "orchestrator").rglob("*.py"), *(ROOT / "tools").glob("*.py")]:
        for name in _DOCUMENT.findall(path.read_text("utf-8")):
            assert (ROOT / name).is_file(), f"{path}: {name}"


def test_the_tests_of_the_readme_are_those_of_the_ci() -> None:
    (command,) = re.findall(r"\.venv/bin/(pytest[^\n]*)", README)
    assert f'check "{command}"' in (ROOT / ".ci/run").read_text().splitlines()


def test_the_changelog_knows_the_version_or_what_is_coming() -> None:
    assert re.search(rf"^## \[(Unreleased|{re.escape(__version__)})\]", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_the_example_of_a_role_is_right(tmp_path: Path) -> None:
    path = tmp_path / "security-auditor.yaml"
    path.write_text(blocks(document("writing-a-role.md"), "yaml")[0])
    places = Places.find({"ORCH_HOME": str(tmp_path / "home")})
    checked = roles_check_files([path], workspace=tmp_path, places=places, tools=Toolbox().read_only)
    assert checked.text == "1 role, 0 errors, 0 warnings"


@pytest.mark.parametrize("name", ["models.md", "permissions-and-sandbox.md"])
def test_the_example_of_a_configuration_is_right(name: str, tmp_path: Path) -> None:
    (example,) = blocks(document(name), "yaml")
    (tmp_path / "config.yaml").write_text(example)
    loaded = load_config(workspace=tmp_path / "none", env={"ORCH_HOME": str(tmp_path)}, flags={}, trusted=False)
    assert set(yaml.safe_load(example)) <= set(loaded.config.model_dump())
    assert any(source.startswith(str(tmp_path)) for source in loaded.sources.values())


def test_every_provider_of_a_native_wire_is_listed_with_its_keys() -> None:
    text = document("models.md")
    for provider in load_providers().values():
        if provider.wire != "litellm":
            keys = " or ".join(f"`{name}`" for name in provider.key_env)
            assert f"| `{provider.prefix}` | {keys}" in text
        else:
            assert f"`{provider.prefix}`" in text


async def test_the_example_of_a_tool_works_and_so_does_its_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, test = blocks(document("writing-a-tool.md"), "python")
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "count_lines.py").write_text(tool)
    names: dict[str, Any] = {"__name__": "example"}
    exec(test, names)
    monkeypatch.setitem(names, "Toolbox", lambda: Toolbox(folder))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    await names["test_lines_are_counted"](workspace)
