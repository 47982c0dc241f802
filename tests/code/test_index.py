"""The index over a whole workspace: what belongs to a name, what is near it, and how the work is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from tests.support.code_index import open_code
from tests.support.read_only_tools import write_tree

SHOP: dict[str, str | bytes] = {
    "shop/cart.py": (
        "import os.path\n"
        "from . import money\n"
        "from .money import (\n"
        "    total as add_up,\n"
        ")\n"
        "class Cart(Base, Generic[Item]):\n"
        "    def get_user_by_id(self):\n"
        "        def inner():\n"
        "            deep(1)\n"
        "        return self.items.first(add_up(inner()))\n"
        "LIMIT = compute()\n"
    ),
    "shop/web.ts": "import { a } from './cart';\nexport * from 'lib';\nclass Big extends shop.Cart<Item> {}\n",
    "shop/x.rs": "use std::{fs, io::{self, Read as R}};\nimpl fmt::Display for Cart {}\n",
    "shop/x.go": 'package x\nimport (\n\t"fmt"\n\tj "encoding/json"\n)\n',
    "shop/X.java": "import static java.util.List.of;\nclass X implements Cart, Other {}\n",
    "shop/x.rb": "require 'json'\nrequire_relative 'cart'\nclass Small < Cart; end\n",
    "shop/x.php": "<?php\nuse App\\{Cart, Item as I};\nrequire 'x.php';\n",
    "shop/x.c": '#include <stdio.h>\n#include "cart.h"\n',
    "shop/x.cs": "using System.Text;\nusing A = B.Cart;\nclass Y : Cart {}\n",
    "shop/x.sh": "source ./cart.sh\n. lib\necho hi\n",
    "shop/y.js": "const { a } = require('./cart');\nrequire.resolve('no');\nimport('late');\n",
}


async def test_what_a_definition_calls(tmp_path: Path) -> None:
    code = open_code(write_tree(tmp_path, SHOP))
    inside = await code.calls_from("shop/cart.py", 7)
    assert [(row.line, row.name, row.scope) for row in inside] == [
        (9, "deep", "Cart.get_user_by_id.inner"),
        (10, "self.items.first", "Cart.get_user_by_id"),
        (10, "add_up", "Cart.get_user_by_id"),
        (10, "inner", "Cart.get_user_by_id"),
    ]
    assert [row.name for row in await code.calls_from("shop/cart.py", 9)] == ["deep"]
    assert [row.name for row in await code.calls_from("shop/cart.py", 11)] == ["compute"]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("shop/cart.py", ["1 os.path", "2 .money", "4 .money.total"]),
        ("shop/web.ts", ["1 ./cart", "2 lib"]),
        ("shop/x.rs", ["1 std::fs", "1 std::io", "1 std::io::Read"]),
        ("shop/x.go", ["3 fmt", "4 encoding/json"]),
        ("shop/X.java", ["1 java.util.List.of"]),
        ("shop/x.rb", ["1 json", "2 cart"]),
        ("shop/x.php", ["2 App\\Cart", "2 App\\Item", "3 x.php"]),
        ("shop/x.c", ["1 stdio.h", "2 cart.h"]),
        ("shop/x.cs", ["1 System.Text", "2 B.Cart"]),
        ("shop/x.sh", ["1 ./cart.sh", "2 lib"]),
        ("shop/y.js", ["1 ./cart", "3 late"]),
    ],
)
async def test_what_a_file_imports(tmp_path: Path, path: str, names: list[str]) -> None:
    rows = await open_code(write_tree(tmp_path, SHOP)).imports_of(path)
    assert [f"{row.line} {row.name}" for row in rows] == names


async def test_what_builds_on_a_class(tmp_path: Path) -> None:
    rows = await open_code(write_tree(tmp_path, SHOP)).subclasses("Cart")
    assert [(row.path, row.name) for row in rows] == [
        ("shop/X.java", "X"),
        ("shop/web.ts", "Big"),
        ("shop/x.cs", "Y"),
        ("shop/x.rb", "Small"),
    ]
    implementing = await open_code(tmp_path).subclasses("Display")
    assert [(row.kind, row.name) for row in implementing] == [("impl", "Cart")]
    assert await open_code(tmp_path).subclasses("Item") == ()


@pytest.mark.parametrize(
    "asked", ["get_user_by_idd", "get_usr_by_id", "gte_user_by_id", "getUserById", "user by id", "geuser_by_idzq"]
)
async def test_a_name_with_slips_or_in_parts_finds_the_one_that_is_there(tmp_path: Path, asked: str) -> None:
    near = await open_code(write_tree(tmp_path, SHOP)).near(asked)
    assert near[0] == ("get_user_by_id", "shop/cart.py", 7)


async def test_a_name_that_resembles_nothing_has_nothing_near(tmp_path: Path) -> None:
    assert await open_code(write_tree(tmp_path, SHOP)).near("zzyzxw") == []


async def test_the_search_can_be_narrowed_to_folders_and_kinds_of_files(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {"a/x.py": "key\n", "a/y.js": "key\n", "b/x.py": "key\n", ".gitignore": "c\n", "c/x.py": "key\n"}
    )
    code = open_code(tmp_path)
    assert [row.path for row in (await code.occurrences("key", ("a",))).rows] == ["a/x.py", "a/y.js"]
    assert [row.path for row in (await code.occurrences("key", globs=("*.py",))).rows] == ["a/x.py", "b/x.py"]
    assert [row.path for row in (await code.occurrences("key", ("b/x.py", "c"))).rows] == ["b/x.py", "c/x.py"]


async def test_a_linked_folder_is_not_searched_twice(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/x.py": "def key(): pass\n"})
    (tmp_path / "link").symlink_to("real")
    code = open_code(tmp_path)
    assert [row.path for row in (await code.occurrences("key")).rows] == ["real/x.py"]
    assert [row.path for row in (await code.symbols(("link",))).rows] == ["real/x.py"]


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\0b", "x" * 301])
async def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ToolError) as error:
        await open_code(tmp_path).occurrences(name)
    assert error.value.code == "invalid_name"


async def test_symbols_stop_being_read_when_there_are_enough(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"m{number:03}.py": "def a(): pass\ndef b(): pass\n" for number in range(100)})
    found = await open_code(tmp_path).symbols((".",), limit=10)
    assert len(found.rows) == 128 and found.unread == 36
    assert (await open_code(tmp_path).symbols((".",))).unread == 0


async def test_symbols_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "class Cart:\n    def add(self): pass\ndef add(): pass\ndef add_all(): pass\n"})
    code = open_code(tmp_path)
    found = {
        name: [symbol.qualified for symbol in (await code.symbols((".",), name)).rows]
        for name in ("add", "Cart.add", "Cart::add", "add*", "Cart.*", "*dd_*", "Add", "ad?")
    }
    assert found == {
        "add": ["Cart.add", "add"],
        "Cart.add": ["Cart.add"],
        "Cart::add": ["Cart.add"],
        "add*": ["Cart.add", "add", "add_all"],
        "Cart.*": ["Cart.add"],
        "*dd_*": ["add_all"],
        "Add": [],
        "ad?": ["Cart.add", "add"],
    }
