"""What an answer says first: no false "no", nothing counted that is something else, nothing guessed in silence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator.result import Result
from tests.support.drive_scout import ask
from tests.support.read_only_tools import write_tree

CLI: Mapping[str, str | bytes] = {
    "cli/utils.py": "def echo(text):\n    print(text)\n",
    "cli/core.py": (
        "from cli.utils import echo\n\n\n"
        "def main():\n    echo('hi')\n    echo('no such option')\n\n\n"
        "class NoSuchOption(Exception):\n    pass\n"
    ),
    "cli/term.py": "def getchar(echo: bool = False):\n    if echo:\n        return 1\n    return 0\n",
    "cli/parser.py": (
        "from cli.core import NoSuchOption\n\n\n"
        "def parse():\n    try:\n        pass\n    except (\n        ValueError,\n        NoSuchOption,\n    ):\n"
        "        raise NoSuchOption() from None\n    except NoSuchOption as e:\n        def inner():\n"
        "            return 0\n        return str(e)\n"
    ),
    "cli/timezone.py": "NOW = 1\n",
    "cli/clock.py": "from cli import timezone\n",
    "tests/test_utils.py": "from cli.utils import echo\n\n\ndef test_echo():\n    echo('x')\n",
    "README.md": "hello\n",
}
SEND: Mapping[str, str | bytes] = {
    "session.py": "class Session:\n    def send(self): ...\n    def get(self):\n        return self.send()\n",
    "app.py": "from session import Session\ns = Session()\ns.send()\n\n\ndef f(sock):\n    sock.send()\n",
    "web.js": "sock.send();\n",
}
WEB: Mapping[str, str | bytes] = {
    "lib/app.js": (
        "/*!\n * app\n * Copyright(c) 2010 Me\n */\n\n'use strict';\n\n"
        "var debug = require('debug')('app');\ndebug('x');\n"
    ),
    "lib/view.js": "/*!\n * MIT Licensed\n */\n\n/**\n * Shows things.\n */\n\nfunction show() { return 1; }\n",
}
FIELDS: Mapping[str, str | bytes] = {
    "app/forms/fields.py": "class Field: ...\nclass CharField(Field): ...\nclass SlugField(CharField): ...\n",
    "app/models/fields.py": (
        "class Field: ...\nclass CharField(\n    Field,\n): ...\nclass EmailField(CharField): ...\n"
    ),
    "app/own.py": "from app import forms\n\n\nclass OwnField(forms.CharField): ...\n",
    "notes.md": "class DocField(CharField): ...\n",
}


async def asked(tree: Mapping[str, str | bytes], question: str, folder: Path) -> Result:
    return await ask(write_tree(folder, dict(tree)), question)


def cited(result: Result) -> list[str]:
    return [f"{citation.path}:{citation.line}" for citation in result.citations]


FIRST_LINES = {
    # a part of the workspace without uses is not the workspace without uses
    "where is echo used in utils.py": "`echo` is not used in `utils.py`; elsewhere: 2 imports, 3 calls in 2 files",
    "who calls main in cli/term.py": "`main` does not occur in the part asked for; outside it",
    "who calls echo, excluding core.py and tests": "Nothing calls `echo` by name outside `core.py`, tests; else",
    "who calls echo in core.py between lines 6 and 9": "`echo` is called in 1 place in 1 file, from `main`; defined",
    # parameters of the same name are other things
    "where is echo used": "`echo` is used in 5 places in 2 files: 2 imports, 3 calls; defined at cli/utils.py:1; "
    "not counted: 2 places of variables or parameters of that name",
    # each verb is answered
    "where is NoSuchOption caught": "`NoSuchOption` is caught in 2 places in 1 file; defined",
    "who catches echo": "Nothing catches `echo` by name; defined",
    "哪里捕获了 NoSuchOption": "`NoSuchOption` 在 1 个文件中有 2 处捕获",
    "list the classes in cli/core.py": "`cli/core.py` has 1 class; not listed: 1 function.",
    "how many functions are in core.py": "`cli/core.py` has 1 function; not listed: 1 class.",
    "cli/core.py 里有哪些类": "`cli/core.py` 有 1 个类；未列出：1 个函数。",
    "what methods are in cli/term.py": "`cli/term.py` has no methods; not listed: 1 function.",
    "what does getchar return": "`getchar` at cli/term.py:1 has 2 return lines: `return 1`, `return 0`.",
    "what does parse return": "`parse` at cli/parser.py:4 has 1 return line: `return str(e)`.",
    # a module of the workspace is defined here
    "who imports cli.timezone": "`cli.timezone` is imported by 1 file (1 import); it is the module at cli/timezone.py.",
    "谁导入了 cli.timezone": "`cli.timezone` 被 1 个文件导入（1 处导入）；它是位于 cli/timezone.py 的模块。",
    "where is cli.timezone defined": "`cli.timezone` is the module at `cli/timezone.py`.",
    # yes and no come first
    "is echo tested": "Yes. `echo` is named in",
    "is getchar tested": "No. No test names `getchar`",
    "echo 有没有测试": "是的。`echo`",
    # a text is not an identifier
    'where is the text "no such  option"': "`no such option` does not stand anywhere as written; in another case",
}


async def test_a_text_elsewhere_is_told(tmp_path: Path) -> None:
    result = await asked(CLI, 'where is the text "no such option" in tests', tmp_path)
    assert result.answer.startswith("`no such option` does not stand in tests; elsewhere it does in 1 place in 1 file.")


@pytest.mark.parametrize("question", FIRST_LINES)
async def test_the_first_line_says_it(question: str, tmp_path: Path) -> None:
    result = await asked(CLI, question, tmp_path)
    assert result.answer.startswith(FIRST_LINES[question]), result.answer
    assert result.status == "ok"


async def test_parameters_are_listed_apart_and_cited(tmp_path: Path) -> None:
    result = await asked(CLI, "where is echo used", tmp_path)
    assert "**Other variables and parameters of that name** (2)" in result.answer
    assert {"cli/term.py:1", "cli/term.py:2"} <= set(cited(result))


async def test_words_in_one_identifier_are_not_a_text(tmp_path: Path) -> None:
    result = await asked(CLI, 'where is the text "no such  option"', tmp_path)
    assert cited(result) == ["cli/core.py:6"]


@pytest.mark.parametrize(
    "question",
    ["Where's the function that prints colored text?", "what calls what in utils.py", "hello", "who calls 1"],
)
async def test_a_question_that_names_nothing_is_not_answered(question: str, tmp_path: Path) -> None:
    result = await asked(CLI, question, tmp_path)
    assert result.status == "failed"
    assert "needs a language model" in result.answer


async def test_calls_on_unknown_objects_are_told_from_certain_ones(tmp_path: Path) -> None:
    result = await asked(SEND, "where is Session.send called", tmp_path)
    first = result.answer.split("\n", 1)[0]
    assert "is called in 2 places in 2 files for certain" in first
    assert "; 1 more on objects whose type is not known;" in first
    assert "**On objects whose type is not known** (1)" in result.answer
    assert not any(place.startswith("web.js") for place in cited(result)), "no other language"


async def test_the_notes_of_tools_are_chinese_in_a_chinese_answer(tmp_path: Path) -> None:
    result = await asked(SEND, "Session.send 在哪里被调用", tmp_path)
    assert "注意：1 处的对象类型无法从语法得知" in result.answer
    assert "未列出 send 的 1 处" in result.answer


async def test_a_required_module_is_imported(tmp_path: Path) -> None:
    result = await asked(WEB, "which files require debug", tmp_path)
    assert result.answer.startswith("`debug` is imported by 1 file (1 import)")
    assert cited(result) == ["lib/app.js:8"]


async def test_a_licence_is_no_description(tmp_path: Path) -> None:
    app = await asked(WEB, "what is in lib/app.js", tmp_path)
    assert "documentation" not in app.answer
    view = await asked(WEB, "what is in lib/view.js", tmp_path)
    assert "Its documentation: Shows things." in view.answer


async def test_subclasses_of_several_classes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    result = await asked(FIELDS, "subclasses of Field", tmp_path)
    first = result.answer.split("\n", 1)[0]
    assert first.startswith("2 classes are called `Field`; they have 5 subclasses together: ")
    assert "3 of app/forms/fields.py:1" in first
    assert "2 of app/models/fields.py:1" in first


async def test_subclasses_follow_the_class_that_is_meant(tmp_path: Path) -> None:
    result = await asked(FIELDS, "subclasses of forms.Field", tmp_path)
    assert set(cited(result)) == {f"app/forms/fields.py:{line}" for line in (1, 2, 3)} | {"app/own.py:4"}


async def test_subclasses_elsewhere_are_counted(tmp_path: Path) -> None:
    result = await asked(FIELDS, "subclasses of SlugField in app/models", tmp_path)
    assert result.answer.startswith("Nothing extends or implements `SlugField` by name in `app/models`; defined")
    result = await asked(FIELDS, "subclasses of forms.CharField in app/models", tmp_path)
    assert "in `app/models`; elsewhere: 2 subclasses; defined" in result.answer


async def test_a_name_defined_in_tests_alone_keeps_its_variables(tmp_path: Path) -> None:
    tree: Mapping[str, str | bytes] = {"tests/test_a.py": "class G: ...\n", "a.py": "def f(G):\n    return G\n"}
    result = await asked(tree, "where is G used", tmp_path)
    assert result.answer.startswith("`G` is used in 2 places in 1 file: 2 references")


async def test_a_comparison_says_that_names_are_shared(tmp_path: Path) -> None:
    result = await asked(FIELDS, "which is used more, CharField or SlugField", tmp_path)
    assert "2 definitions share the name, so they may be of any of them" in result.answer
    titles = [line for line in result.answer.split("\n") if line.startswith("**")]
    assert titles[-1].startswith("**Definitions"), "definitions come last"


async def test_a_sentence_names_three_functions_at_most(tmp_path: Path) -> None:
    calls = "".join(f"def f{number}():\n    target()\n" for number in range(9))
    result = await asked({"a.py": f"def target(): ...\n{calls}"}, "who calls target", tmp_path)
    assert "from `f0`, `f1`, `f2`, +6 more;" in result.answer


CATCHES = {
    "a.js": "class MyError extends Error {}\ntry { f() } catch (e) {\n  if (e instanceof MyError) g()\n}\n",
    "A.java": (
        "class MyError extends Exception {}\nclass A { void f() {\n"
        "try { g(); } catch (IOException | MyError e) {}\n} }\n"
    ),
    "a.php": "<?php\nclass MyError extends Exception {}\ntry { f(); } catch (MyError $e) { }\n",
    "a.cs": "class MyError : Exception {}\nclass A { void F() {\ntry { G(); } catch (MyError e) { }\n} }\n",
    "a.rb": "class MyError < StandardError; end\nbegin\nrescue MyError => e\nend\n",
    "a.py": "class MyError(Exception): ...\ntry: f()\nexcept (ValueError, MyError): ...\n",
}


@pytest.mark.parametrize("path", CATCHES)
async def test_catch_lines_are_known_in_each_language(path: str, tmp_path: Path) -> None:
    result = await asked({path: CATCHES[path]}, "where is MyError caught", tmp_path)
    assert result.answer.startswith("`MyError` is caught in 1 place in 1 file"), result.answer
    assert f"{path}:3" in cited(result)
