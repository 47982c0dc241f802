"""A parameter or a variable of a function is told apart from the function of the same name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.code_index import open_code
from tests.support.read_only_tools import write_tree

SOURCES = {
    "parameter.py": (
        "def echo(text): ...\n"
        "def getchar(key, echo: bool = False, *, other=echo):\n"
        "    if echo:\n"
        "        return self.echo(echo(1))\n"
        "getchar(echo=True)\n"
        "echo(1)\n",
        ["1 yes", "2 local", "3 local", "4 yes", "5 local", "6 yes"],
    ),
    "variable.py": (
        "echo = 1\ndef f():\n    echo = 2\n    return echo\ndef g():\n"
        "    global echo\n    echo = 3\nclass C:\n    echo = 4\n",
        ["1 yes", "3 local", "4 local", "6 yes", "7 yes", "9 yes"],
    ),
    "after_a_dot.py": ("def f():\n    # A remark.\n    echo = 2\n    return x.echo\n", ["3 local", "4 yes"]),
    "nested.py": ("def f():\n    def echo(): ...\n    echo()\n", ["2 yes", "3 yes"]),
    "a.js": (
        "function echo() {}\nfunction f(echo) { return echo; }\nconst g = (echo) => echo();\nconst h = echo => echo;\n"
        "function k() { const echo = () => 1; echo(); }\necho();\n",
        ["1 yes", "2 local", "3 local", "4 local", "5 yes", "6 yes"],
    ),
    "a.ts": ("function f(echo: string) { return echo; }\nfunction g(x: echo) {}\n", ["1 local", "2 yes"]),
    "a.go": (
        "package a\nfunc echo() {}\nfunc f(echo string) { g(echo) }\nfunc h() { echo() }\n",
        ["2 yes", "3 local", "4 yes"],
    ),
    "a.c": ("int echo(void) { return 1; }\nint f(int echo) { return echo; }\n", ["1 yes", "2 local"]),
    "A.java": (
        "class A { void echo() {} void f(int echo) {\n g(echo); }\n void h() { echo(); } }\n",
        ["1 yes", "2 local", "3 yes"],
    ),
    "a.rs": ("fn echo() {}\nfn f(echo: u8) -> u8 { echo }\n", ["1 yes", "2 local"]),
}


@pytest.mark.parametrize("path", SOURCES)
async def test_parameters_and_variables_are_local(path: str, tmp_path: Path) -> None:
    source, expected = SOURCES[path]
    found = await open_code(write_tree(tmp_path, {path: source})).occurrences("echo")
    by_line = {row.line: row.belongs for row in reversed(found.rows)}
    assert [f"{line} {belongs}" for line, belongs in sorted(by_line.items())] == expected
