"""Records a run in which a parent delegates to three explorers at once, against the scripted model server.

    python bench/three_explorers.py WORKSPACE > run.jsonl

Everything but the model is real: the installed command, the sockets, the tools, the checks. WORKSPACE holds the
published click package (8.5.1), whose `make_context` is asked about.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from tests.support.command import ORCH, environment, model_flags  # noqa: E402  # found through the line above
from tests.support.model_server import ServerThread  # noqa: E402
from tests.support.running import calls, delegates, reports  # noqa: E402

QUESTION = "How does a command get its context?"
TASKS = ("Find where make_context is defined.", "Find who calls make_context.", "Find what documents make_context.")


def script() -> dict[str, Any]:
    """What the three explorers and the parent do."""
    defined = {"path": "click/core.py", "line": 1330, "quote": "def make_context(", "kind": "definition"}
    called = {
        "path": "click/core.py",
        "line": 1560,
        "quote": "with self.make_context(prog_name, args, **extra) as ctx:",
    }
    invented = {"path": "click/core.py", "line": 12, "quote": "make_context = build_context"}
    documented = {"path": "click/core.py", "line": 1008, "quote": "The context class to create with", "kind": "doc"}
    look = calls("find_references", name="make_context")
    routes = [
        {"match": TASKS[0], "turns": [look, reports("`Command.make_context` makes it.", defined)]},
        {"match": TASKS[1], "turns": [look, reports("`main`, `invoke` and the completion call it.", called, invented)]},
        {"match": TASKS[2], "turns": [calls("grep", pattern="make_context"), reports("A comment does.", documented)]},
    ]
    answer = "`Command.make_context` (click/core.py:1330) makes it; `main` calls it at click/core.py:1559."
    return {"delay": 0.2, "routes": routes, "turns": [delegates(*TASKS), answer]}


def main(workspace: str) -> int:
    with ServerThread(script()) as server:
        command = [str(ORCH), "ask", "--output", "stream-json", "-C", workspace, *model_flags(server.url), QUESTION]
        return subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
