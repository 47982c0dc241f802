"""How the code is put together, held by machine: who imports whom, what is loaded when, how long functions are."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ServerThread

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "orchestrator"
TOOLS = ROOT / "tools"

GROUPS: Mapping[str, str] = {
    "ground": "approval tool messages events errors model result shipped __init__",
    "text": """attached_names cache_watch decoding globs image_header json_bytes message_sizes path_names paths
        permission_patterns problems repair safe_text secret_files small_file strict_yaml text_cut tokens
        unicode_classes unified_diff validation yaml_syntax""",
    "files": """attached_images attached_pdf attached_process attached_text attached_worker attachments edits
        file_swap ignore open_folders rust_regex search search_job search_process search_rows search_scope
        search_worker workspace""",
    "code": "code",
    "wires": """anthropic_reply anthropic_wire assembly context_errors exchange exchanges http litellm_errors
        litellm_http litellm_model litellm_text model_cache model_errors model_info openai_reply openai_wire
        output_limits providers quirks recording recording_diff replay retry run_text sse thinking wire_text""",
    "scout": "scout scouting",
    "choice": "models",
    "settings": "claude_agents config prompts role_files role_loading roles trust",
    "guard": """bubblewrap command_rules grants headless_approval hook_answers hook_files hook_process hooks landlock
        landlock_sandbox permission_calls permission_law permission_offers permission_rules permission_shell
        permission_verdict permissions privileges protected_paths queued_approval sandbox sandbox_failures seatbelt
        seccomp seccomp_calls secret_places shell shell_env shell_jobs shell_lifeline shell_members shell_notes
        shell_output shell_process shell_reader shell_script shell_syntax unreadable""",
    "undo": """change_diff checkpoint_history checkpoint_store checkpoints file_states former_content git_tree
        held_content takeback tree_files tree_scan tree_watch undoing""",
    "engine": """abort agent arguments budget citations compacted_text compaction context_meter deadline delegation
        gate kept_tail loop_guard result_batch result_stubs room session summary_request todos tool_runner toolbox
        transcript work_record""",
    "screen": "headless ui",
    "top": """chat_commands checkpoint_commands cli command_line doctor permission_commands role_commands tape wiring
        workbench""",
    "testing": "testing",
}
"""Every module (or folder of modules) of the package, by what it is about, from the bottom up."""

MAY_IMPORT: Mapping[str, str] = {
    "ground": "",
    "text": "ground",
    "files": "ground text",
    "code": "ground text",
    "wires": "ground text",
    "scout": "ground text",
    "choice": "ground text wires scout",
    "settings": "ground text",
    "guard": "ground text files settings",
    "undo": "ground text files",
    "engine": "ground text settings files guard",
    "screen": "ground text",
    "top": "ground text files code wires scout choice settings guard undo engine screen",
    "testing": "ground",
}
"""The groups that each group may import besides itself, also late, inside a function, and for types alone."""

LIBRARIES: Mapping[str, str] = {
    "PIL": "attached_worker",
    "aiohttp": "http",
    "diskcache": "code.json_store",
    "litellm": "litellm_http litellm_model",
    "platformdirs": "paths",
    "prompt_toolkit": "ui",
    "pypdf": "attached_worker",
    "rich": "ui",
    "tree_sitter": "code shell_syntax",
    "yaml": "strict_yaml yaml_syntax providers",
    "pickle": "",
    "shelve": "",
    "marshal": "",
}
"""The only modules that may import what is heavy or dangerous. Nothing is ever unpickled (B175)."""

PRINTING = "cli headless ui"
WORKER_OUTPUT = "search_worker"
"""The main program of a child process; its standard output is a pipe to its parent."""

LONGEST = 70
SHORT, SHARE_OF_SHORT = 26, 0.9


# --- imports ---------------------------------------------------------------------------------------------------------


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), tree_of(path)


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def imported(tree: ast.Module) -> Iterator[str]:
    """The full names of what a module imports, wherever in it; for `from a import b` that is `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def head(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def group_of(module: str) -> str:
    return next((group for group, names in GROUPS.items() if head(module) in names.split()), "no group yet")


def edges(tree: ast.Module) -> set[str]:
    """The modules of the package that a module imports, by their first name: `tool`, `code`, `ui`."""
    parts = [name.split(".") for name in imported(tree) if head(name) == "orchestrator"]
    return {_first(names[1]) for names in parts if len(names) > 1}


def _first(name: str) -> str:
    """`__version__` is defined in the package itself."""
    return name if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file() else "__init__"


def test_imports_point_downward() -> None:
    wrong = [
        f"{module} ({group_of(module)}) imports {target} ({group_of(target)})"
        for module, tree in modules()
        for target in sorted(edges(tree))
        if group_of(target) not in (group_of(module), *MAY_IMPORT.get(group_of(module), "").split())
    ]
    assert not wrong, "\n".join(wrong)


def test_the_rules_themselves_point_downward() -> None:
    order = list(GROUPS)
    assert list(MAY_IMPORT) == order
    for group, allowed in MAY_IMPORT.items():
        assert all(order.index(lower) < order.index(group) for lower in allowed.split())


def test_every_module_has_one_place() -> None:
    """A new module goes into `GROUPS`, where it belongs; one that is gone goes out."""
    named = [name for names in GROUPS.values() for name in names.split()]
    assert sorted(named) == sorted({head(module) for module, _ in modules()})


def test_a_tool_imports_nothing_of_orch_but_tool_and_errors() -> None:
    third_party = {"orchestrator.tool", "orchestrator.errors", "pydantic"}
    for path in sorted(TOOLS.glob("*.py")):
        for name in imported(tree_of(path)):
            known = head(name) in sys.stdlib_module_names or head(name) == "__future__"
            assert known or any(name == each or name.startswith(f"{each}.") for each in third_party), (
                f"tools/{path.name} imports {name}"
            )


def test_heavy_and_dangerous_libraries_have_one_place_each() -> None:
    for module, tree in modules():
        for name in imported(tree):
            library = "tree_sitter" if name.startswith("tree_sitter") else head(name)
            if library in LIBRARIES:
                assert {module, head(module)} & set(LIBRARIES[library].split()), f"{module} imports {library}"


def test_the_product_does_not_use_what_it_ships_for_the_tests_of_others() -> None:
    users = [module for module, tree in modules() if "testing" in edges(tree)]
    assert users == []


# --- output ----------------------------------------------------------------------------------------------------------


def test_only_the_command_line_and_the_screen_print() -> None:
    for module, tree in [*modules(), *((f"tools.{path.stem}", tree_of(path)) for path in TOOLS.glob("*.py"))]:
        if head(module) in PRINTING.split():
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{module}:{node.lineno} prints"
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout", "sys.stderr"):
                assert module == WORKER_OUTPUT, f"{module}:{node.lineno} uses {ast.unparse(node)}"


# --- size and names --------------------------------------------------------------------------------------------------


def sources() -> list[Path]:
    return [*sorted(PACKAGE.rglob("*.py")), *sorted(TOOLS.glob("*.py"))]


def lengths() -> dict[str, int]:
    """Lines of every function, by place."""
    return {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in sources()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_no_function_is_long_and_most_are_short() -> None:
    sizes = lengths()
    assert {place: size for place, size in sizes.items() if size > LONGEST} == {}
    longer = sorted(((size, place) for place, size in sizes.items() if size > SHORT), reverse=True)
    assert len(longer) <= (1 - SHARE_OF_SHORT) * len(sizes), longer


def test_names_say_what_a_thing_is() -> None:
    for path in sources():
        assert path.stem not in ("utils", "util", "helpers", "helper", "common", "misc"), path
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                assert not node.name.endswith(("Manager", "Handler", "Mixin", "Helper", "Utils")), (path, node.name)


def test_no_function_changes_a_global() -> None:
    for path in sources():
        for node in ast.walk(tree_of(path)):
            assert not isinstance(node, ast.Global), f"{path}:{node.lineno}"


def test_a_type_error_is_only_ignored_by_name_and_with_a_reason() -> None:
    mark = re.compile(r"#\s*type:\s*ignore(?!\[[\w, -]+\]  # \S)")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*sources(), *sorted((ROOT / "tests").rglob("*.py"))]
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if mark.search(line) and "mark = re.compile" not in line
    ]
    assert found == []


# --- what is loaded when ---------------------------------------------------------------------------------------------

_RUN = """
import json, sys
from orchestrator.cli import main
code = main(sys.argv[1:])
sys.stdout.flush()
print(json.dumps({"code": code, "modules": sorted(sys.modules)}), file=sys.stderr)
"""
ON_NO_SHORT_PATH = ("litellm", "openai", "httpx", "diskcache", "networkx")


def run_orch(*arguments: str, folder: Path, env: Mapping[str, str] | None = None) -> tuple[str, set[str]]:
    """Run `orch` in a process of its own; gives its output and the top-level modules that were loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *arguments],
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    said, _, last = done.stderr.strip().rpartition("\n")
    assert last.startswith("{"), done.stderr
    seen: dict[str, Any] = json.loads(last)
    assert seen["code"] == 0, said
    return done.stdout, {head(name) for name in seen["modules"]}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("def legacy_auth():\n    return 1\n\n\nprint(legacy_auth())\n")
    return folder


def test_the_version_is_said_without_loading_anything(project: Path) -> None:
    heavy = {"argparse", "asyncio", "pydantic", "yaml", "rich", "aiohttp", "tree_sitter", *ON_NO_SHORT_PATH}
    out, loaded = run_orch("--version", folder=project)
    assert out.startswith("orch ")
    assert not loaded & heavy


def test_a_list_of_tools_loads_no_model(project: Path) -> None:
    out, loaded = run_orch("tools", "list", folder=project)
    assert "read_file" in out
    assert not loaded & {"rich", "aiohttp", "tree_sitter", *ON_NO_SHORT_PATH}


def test_the_scout_needs_no_network_library(project: Path) -> None:
    out, loaded = run_orch("ask", "--model", "scout", "where is legacy_auth used", folder=project)
    assert "app.py:5" in out
    assert "tree_sitter" in loaded
    assert not loaded & {"aiohttp", "rich", *ON_NO_SHORT_PATH}


@pytest.mark.parametrize("model", ["openai/scripted", "anthropic/scripted"])
def test_a_native_wire_needs_neither_litellm_nor_a_cache_that_unpickles(project: Path, model: str) -> None:
    """B175: a whole run, tool call and delegation included, never loads `diskcache`; litellm only where asked for."""
    script = {
        "routes": [
            {"match": "look it up", "turns": [{"tool_calls": [{"name": "report", "arguments": {"summary": "There."}}]}]}
        ],
        "turns": [
            {"tool_calls": [{"name": "grep", "arguments": {"pattern": "legacy_auth"}}]},
            {"tool_calls": [{"name": "delegate", "arguments": {"role": "explorer", "task": "look it up"}}]},
            "It is used at app.py:5.",
        ],
    }
    provider = model.split("/", maxsplit=1)[0]
    with ServerThread(script) as server:
        address = f"{server.url}/v1" if provider == "openai" else server.url
        env = {f"{provider.upper()}_API_KEY": "sk-test-0123456789abcdef"}
        out, loaded = run_orch("ask", "--model", model, "--base-url", address, "where?", folder=project, env=env)
        assert len(server.requests) == 4
    assert "app.py:5" in out
    assert "aiohttp" in loaded
    assert not loaded & {"rich", "tree_sitter", *ON_NO_SHORT_PATH}
