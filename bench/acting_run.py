"""A task on a real package with a scripted model: three files edited, the tests run, two calls refused, all undone.

    python bench/acting_run.py FOLDER

FOLDER holds the published source of click (8.1.7), and pytest must be there for the Python that runs this. It works on
a copy in a temporary folder. Everything but the model is real: the installed command, the sockets, the tools, the
permissions, the kernel's sandbox.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from tests.support.command import ORCH, environment, model_flags  # noqa: E402  # found through the line above
from tests.support.model_server import ServerThread  # noqa: E402
from tests.support.running import calls  # noqa: E402

TASK = "Let make_default_short_help take None, test it, and note it in the changes."
PYTEST = f"{sys.executable} -m pytest -q -p no:asyncio -p no:cacheprovider -o pythonpath=src tests/test_utils.py"
DOC = '    """Returns a condensed version of help string."""\n'
TEST = """

def test_short_help_of_nothing():
    assert click.utils.make_default_short_help(None) == ""
"""


def script() -> list[Any]:
    """What the model does, turn by turn."""
    read = [{"name": "read_file", "arguments": {"path": path}} for path in ("src/click/utils.py", "CHANGES.rst")]
    todos = [
        {"content": "Change utils.py", "active_form": "Changing utils.py", "status": "in_progress"},
        {"content": "Test it", "active_form": "Testing it", "status": "pending"},
    ]
    return [
        {"text": "I look at it first.", "tool_calls": [*read, {"name": "todo_write", "arguments": {"todos": todos}}]},
        calls(
            "edit_file",
            path="src/click/utils.py",
            edits=[{"old": DOC, "new": DOC + '    if not help:\n        return ""\n'}],
        ),
        calls("run_shell", command="tail -n 12 tests/test_utils.py"),
        calls("read_file", path="tests/test_utils.py"),
        calls(
            "edit_file",
            path="tests/test_utils.py",
            edits=[{"old": "import click._termui_impl\n", "new": "import click._termui_impl\nimport click.utils\n"}],
        ),
        calls("run_shell", command=f"cat >> tests/test_utils.py <<'END'{TEST}END"),
        calls(
            "edit_file",
            path="CHANGES.rst",
            edits=[{"old": "Released 2023-08-17\n", "new": "Released 2023-08-17\n\n-   Help of ``None`` is taken."}],
        ),
        calls("run_shell", command=PYTEST),
        calls("write_file", path=".env", content="TOKEN=1\n"),
        calls("run_shell", command="rm -rf docs && git commit -am done"),
        "Done: `make_default_short_help` takes None. I was not allowed to write .env nor to commit.",
    ]


def main(folder: Path) -> int:
    with tempfile.TemporaryDirectory() as scratch, ServerThread(script()) as server:
        package = Path(scratch) / "click"
        shutil.copytree(folder, package)
        home = Path(scratch) / "home"
        home.mkdir()
        rules = f'permissions: {{allow: ["run_shell({PYTEST})", "run_shell(cat)"]}}\n'
        (home / "config.yaml").write_text(rules)
        env = environment({"ORCH_HOME": str(home)})
        for command in ("init -q", "add -A", "-c user.name=t -c user.email=t@t commit -qm x"):
            subprocess.run(["git", "-C", package, *command.split()], check=True)
        run = ["run", "-v", "--mode", "accept-edits", *model_flags(server.url), TASK]
        for arguments in (run, ["diff"], ["undo", "--yes"]):
            print(f"\n$ orch {' '.join(arguments)}", flush=True)
            done = subprocess.run([str(ORCH), *arguments], cwd=package, env=env, stdin=subprocess.DEVNULL, check=False)
            print(f"[exit code {done.returncode}]", flush=True)
        status = subprocess.run(["git", "-C", package, "status", "--porcelain"], check=True, capture_output=True)
        print(f"\n$ git status --porcelain\n{status.stdout.decode()}", flush=True)
        return 1 if status.stdout else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
