"""`Session.send`: the places that belong to the class or module, as far as the syntax tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.code.qualified import Name, parse_name
from tests.support.code_index import open_code
from tests.support.read_only_tools import write_tree

TREE: dict[str, str | bytes] = {
    "lib/__init__.py": "from .sessions import Session\n",
    "lib/sessions.py": (
        "class Session(Base):\n"
        "    def send(self, x):\n"
        "        return self.send(x)\n"
        "class Slow(Session):\n"
        "    def wait(self):\n"
        "        super().send(1); self.send(2)\n"
        "class Socket:\n"
        "    def send(self):\n"
        "        self.send()\n"
    ),
    "app.py": (
        "import lib\n"
        "from lib import Session, Session as S\n"
        "s = lib.Session()\n"
        "s.send(1)\n"
        "sock = Socket()\n"
        "sock.send(2)\n"
        "def go(any, typed: Session):\n"
        "    any.send(3)\n"
        "    typed.send(4)\n"
        "    S.send(s, 5)\n"
        "    ','.send(6)\n"
        "    send(7)\n"
    ),
    "other.py": "from lib.sessions import (\n    Session,\n)\nSession()\n",
    "third.py": "class Session: pass\nSession()\n",
    "README.md": "`Session.send` sends. Please send.\n",
    "web.js": "class Session { send() { this.send(); } }\nconst s = new Session();\ns.send();\n",
}


async def places(root: Path, name: str) -> tuple[list[str], tuple[str, ...]]:
    found = await open_code(write_tree(root, TREE)).occurrences(name)
    return [f"{row.path}:{row.line} {row.kind}" for row in found.rows], found.notes


async def test_a_method_has_its_definitions_and_the_calls_that_can_be_its(tmp_path: Path) -> None:
    rows, notes = await places(tmp_path, "Session.send")
    assert rows == [
        "README.md:1 doc",
        "app.py:4 call",
        "app.py:8 call",
        "app.py:9 call",
        "app.py:10 call",
        "lib/sessions.py:2 definition",
        "lib/sessions.py:3 call",
        "lib/sessions.py:6 call",
        "lib/sessions.py:6 call",
        "web.js:1 definition",
        "web.js:1 call",
        "web.js:3 call",
    ]
    assert notes == (
        "1 place marked maybe: the syntax does not tell the type of the receiver",
        "6 places of send left out: nothing says that they belong to Session",
    )


async def test_a_method_is_not_called_from_another_language(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {
        "query.py": "class QuerySet:\n    def filter(self): ...\n",
        "app.py": "def f(rows):\n    rows.filter()\n",
        "app.js": "rows.filter();\n",
        "NOTES.md": "`QuerySet.filter` filters.\n",
    }
    found = await open_code(write_tree(tmp_path, tree)).occurrences("QuerySet.filter")
    assert [f"{row.path} {row.belongs}" for row in found.rows] == ["NOTES.md yes", "app.py maybe", "query.py yes"]


async def test_a_name_of_a_module_has_its_imports_and_uses(tmp_path: Path) -> None:
    rows, _ = await places(tmp_path, "lib.Session")
    assert rows == [
        "app.py:2 import",
        "app.py:2 import",
        "app.py:3 call",
        "app.py:7 reference",
        "lib/__init__.py:1 import",
        "lib/sessions.py:1 definition",
        "lib/sessions.py:4 reference",
        "other.py:2 import",
        "other.py:4 call",
    ]


async def test_a_qualifier_that_has_no_such_name_gives_nothing_and_says_so(tmp_path: Path) -> None:
    rows, notes = await places(tmp_path, "Sesion.send")
    assert rows == []
    assert notes == ("no send that belongs to Sesion; 18 places of send otherwise",)
    near = await open_code(tmp_path).near("Sesion.send")
    assert ("Session.send", "lib/sessions.py", 2) in near


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("send", Name("send")),
        ("send()", Name("send")),
        ("Session.send", Name("send", ("Session",))),
        ("a::b::c()", Name("c", ("a", "b"))),
        ("Session#send", Name("send", ("Session",))),
        ("Session.ready?", Name("ready?", ("Session",))),
        ("#key", Name("#key")),
        ("a-b", Name("a-b")),
        ("two words", Name("two words")),
    ],
)
def test_a_name_is_taken_apart_only_where_it_is_made_of_names(text: str, name: Name) -> None:
    assert parse_name(text) == name
