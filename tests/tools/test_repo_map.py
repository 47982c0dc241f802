from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.code.index import MAX_MAPPED
from orchestrator.toolbox import Toolbox
from tests.support.code_index import open_code, run_tool
from tests.support.read_only_tools import write_tree


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path,
        {
            "shop/__init__.py": "",
            "shop/cart.py": "from shop.price import total_price\n\n\nclass Cart:\n"
            '    """What a customer wants."""\n\n    def checkout(self):\n        return total_price(self)\n',
            "shop/price.py": "from . import money\n\n\ndef total_price(cart):\n    return money.Money(1)\n",
            "shop/money.py": "class Money:\n    pass\n",
            "shop/weather.py": "def forecast():\n    return 'rain'\n",
            "shop/news.py": "def headline():\n    return 'none'\n",
            "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_cart():\n    assert Cart().checkout()\n",
            "web/view.ts": "import { render } from './render'\nexport function show() { return render() }\n",
            "web/render.ts": "export function render() { return 1 }\n",
        },
    )


def files_of(output: str) -> list[str]:
    return [line for line in output.splitlines() if not line.startswith((" ", "["))]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Cart", "shop/cart.py"),
        ("where is total_price computed", "shop/price.py"),
        ("how does checkout work?", "shop/cart.py"),
        ("Cart.checkout", "shop/cart.py"),
        ("the weather", "shop/weather.py"),
        ("tests of the cart", "tests/test_cart.py"),
        ("render", "web/render.ts"),
    ],
)
async def test_the_file_that_defines_what_is_asked_for_comes_first(shop: Path, query: str, first: str) -> None:
    assert files_of((await run_tool(shop, "repo_map", query=query)).output)[0] == first


async def test_what_it_uses_and_imports_comes_before_the_rest(shop: Path) -> None:
    found = files_of((await run_tool(shop, "repo_map", query="checkout")).output)
    assert set(found[:3]) == {"shop/cart.py", "shop/price.py", "shop/money.py"}


async def test_an_import_alone_links_files(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "start.py": "import zebra\n\ndef start():\n    pass\n",
            "zebra.py": "def stripes():\n    pass\n",
            "apple.py": "def core():\n    pass\n",
        },
    )
    assert files_of((await run_tool(tmp_path, "repo_map", query="start")).output) == [
        "start.py",
        "zebra.py",
        "apple.py",
    ]


async def test_names_link_only_files_of_one_language(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "start.py": "def start():\n    return shared()\n",
            "a.js": "function shared() {}\n",
            "z.py": "def shared():\n    pass\n",
        },
    )
    assert files_of((await run_tool(tmp_path, "repo_map", query="start")).output)[1] == "z.py"


async def test_lines_carry_what_a_citation_needs(shop: Path) -> None:
    result = await run_tool(shop, "repo_map", query="Cart", path="shop")
    assert result.output.startswith("shop/cart.py\n  4 class Cart:\n  7 in Cart def checkout(self):\n")
    assert result.output.endswith("\n[5 of 6 files of code]")
    shown = {(each.path, each.first): each.lines for each in result.shown}
    assert shown["shop/cart.py", 7] == ("    def checkout(self):",)
    assert ("tests/test_cart.py", 4) not in shown


async def test_no_question_ranks_what_most_others_use(shop: Path) -> None:
    found = files_of((await run_tool(shop, "repo_map", query="")).output)
    assert found.index("shop/money.py") < found.index("shop/weather.py")
    assert found[-1] == "tests/test_cart.py"


@pytest.mark.parametrize("budget", [100, 300, 1500, 8000])
async def test_the_budget_is_kept(tmp_path: Path, budget: int) -> None:
    body = "\n".join(f"def function_{at}(first_argument, second_argument):\n    pass" for at in range(60))
    write_tree(tmp_path, {f"pkg/module_{at}.py": body.replace("function", f"函数{at}") for at in range(40)})
    output = (await run_tool(tmp_path, "repo_map", query="module_7", budget=budget)).output
    other = sum(not char.isascii() for char in output)
    assert (len(output) - other) / 4 + other <= budget
    assert files_of(output)[0] == "pkg/module_7.py"


async def test_the_same_question_gives_the_same_map(shop: Path) -> None:
    outputs = {(await run_tool(shop, "repo_map", query="cart price")).output for _ in range(3)}
    assert len(outputs) == 1


async def test_a_folder_without_code_says_so(tmp_path: Path) -> None:
    assert "no code that can be parsed in ." in (await run_tool(tmp_path, "repo_map", query="x")).output


async def test_files_that_cannot_be_parsed_are_passed_over(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "good.py": "def good():\n    pass\n",
            "broken.py": "def broken(:\n  class !!\n",
            "binary.py": b"\x00\x01\x02good" * 50,
            "min.js": "function good(){};" * 3000,
            "latin.py": "def gr\u00fcn():\n    pass\n".encode("latin-1"),
            "empty.py": "",
        },
    )
    output = (await run_tool(tmp_path, "repo_map", query="good")).output
    assert files_of(output)[0] == "good.py"
    assert "min.js" not in output
    assert "binary.py" not in output


async def test_of_a_huge_repository_only_what_fits_the_question_is_parsed(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"f{at // 100}/m{at}.py": f"def f{at}(): pass\n" for at in range(MAX_MAPPED + 20)})
    write_tree(tmp_path, {"very/deep/down/here/needle.py": "def find_needle():\n    pass\n"})
    told: list[str] = []
    found = await open_code(tmp_path).repo_map("where is the needle", (".",), 5, told.append)
    assert found.files[0].path == "very/deep/down/here/needle.py"
    assert (found.seen, found.total) == (MAX_MAPPED, MAX_MAPPED + 21)
    assert told[0] == f"mapping {MAX_MAPPED:,} of {MAX_MAPPED + 21:,} files"


def test_it_costs_little_in_every_request() -> None:
    (schema,) = Toolbox().schemas(["repo_map"])
    assert len(schema.name) + len(schema.description) + len(str(schema.parameters)) <= 400
