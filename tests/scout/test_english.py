"""English questions are understood by their grammar, whatever the name in them is."""

from __future__ import annotations

import pytest

from orchestrator.scouting.english_words import DETERMINERS, INVERSE, KINDS, QUANTITIES, STOP_WORDS, TURNED, VERBS
from tests.support.asked import asked

QUESTIONS = {
    # one intent after the other
    "where is legacy_auth used": "used legacy_auth",
    "find every use of `enabled`": "used enabled",
    "which code depends on param?": "used param",
    "how is foo used": "used foo",
    "usages of list": "used list",
    "everything that touches foo": "used foo",
    "where is diameter defined?": "defined diameter",
    "show me the definition of diameter": "defined diameter",
    "where does foo come from": "defined foo",
    "where is main": "defined main",
    "who calls make_context?": "callers make_context",
    "list the call sites of builtin_str()": "callers builtin_str",
    "what are the callers of foo": "callers foo",
    "how many times is foo called?": "callers foo",
    "functions calling foo": "callers foo",
    "Is there anything that calls foo?": "callers foo",
    "which files import style?": "imports style",
    "where is is_tournament imported": "imports is_tournament",
    "which files include stdio.h": "imports path:stdio.h",
    "who imports @scope/pkg": "imports text:@scope/pkg",
    "what does make_context do?": "explain make_context",
    "explain dedent": "explain dedent",
    "what is the purpose of foo": "explain foo",
    "what does foo() return?": "returns foo",
    "how does foo work": "explain foo",
    "what does foo call?": "callees foo",
    "what functions does foo call?": "callees foo",
    "what is called by foo": "callees foo",
    "what does src/app.py import": "file_imports path:src/app.py",
    "where is FooError caught": "caught FooError",
    "who handles FooError": "caught FooError",
    "how many functions are in src/app.py": "contents path:src/app.py",
    "what is the return value of foo": "returns foo",
    "who calls foo in core.py between lines 1 and 100": "callers foo in path:core.py",
    "where is the function that prints colored text": "unknown",
    "what is in src/app.py": "contents path:src/app.py",
    "what's in the utils folder": "contents path:utils",
    "list all the functions and classes in app.go": "contents path:app.go",
    "what methods does Session have": "contents Session",
    "what subclasses Base?": "subclasses Base",
    "which types implement Reader": "subclasses Reader",
    "where is fee overridden": "subclasses fee",
    "what does foo inherit from": "bases foo",
    "is foo used at all?": "alive foo",
    "is foo dead code": "alive foo",
    "can I delete foo safely": "alive foo",
    "where is foo tested": "tested foo",
    "is there a test for foo?": "tested foo",
    "where is foo documented?": "documented foo",
    "where do we set timeout": "assigned timeout",
    "where is FOO_BAR set to None": "assigned FOO_BAR",
    "where is timeout configured": "configured timeout",
    "where is ValueError raised": "raised ValueError",
    "what changed recently around Session.send": "history Session.send",
    "what changed in src/app.py recently": "history path:src/app.py",
    "what changed recently": "history",
    "which of A and B is used more": "compare A, B",
    "is foo used more than bar": "compare foo, bar",
    'where is the text "not found" printed': "text text:not found",
    'where does it say "no such file"': "text text:no such file",
    'where is os.environ["HOME"] read': 'text text:os.environ["HOME"]',
    "foo": "about foo",
    "`foo bar`": "text text:foo bar",
    # how a name may be written
    "where is Request.session used": "used Request.session",
    "where is foo::bar used": "used foo.bar",
    "where is Foo#bar defined": "defined Foo.bar",
    "where is the get method of Session called": "callers Session.get",
    "Session's callers": "callers Session",
    "who calls Session's get": "callers Session.get",
    "where is class Session defined": "defined Session",
    "where is @app.route used": "used app.route",
    "where is self.timeout set": "assigned timeout",
    "where are foo and bar used": "used foo, bar",
    "foo, bar and baz": "about foo, bar, baz",
    "where is the user session stored": "defined phrase:user session",
    "WHERE IS foo USED": "used foo",
    " where   is  foo   used?!! ": "used foo",
    "please can you tell me where I can find the definition of foo": "defined foo",
    "Find all usages of legacy_auth in the repository. Report file and line.": "used legacy_auth",
    # names that are English words, also the words of the question itself
    "where is style used": "used style",
    "who calls get": "callers get",
    "where is where used": "used where",
    "where is used defined": "defined used",
    "who calls calls": "callers calls",
    "what does import call": "callees import",
    "where is about defined?": "defined about",
    "where is the function used": "used function",
    "which test calls calls": "callers calls in tests",
    # several things at once
    "where is X defined, imported and called?": "defined X; imports X; callers X",
    "where is foo defined and who calls it?": "defined foo; callers foo",
    "what calls X and what does X call?": "callers X; callees X",
    # where to look
    "who calls X in tests": "callers X in tests",
    "in tests, where is foo used?": "used foo in tests",
    "which test files import Session": "imports Session in tests",
    "where is X used outside src/legacy": "used X not in path:src/legacy",
    "where is foo used, excluding tests": "used foo not in tests",
    "who calls `get` in src/ but not in tests": "callers get in path:src/ not in tests",
    "where is foo used in *.py files": "used foo in endings:.py",
    "where is foo used only in Python files": "used foo in endings:.py .pyi .ipynb",
    "which files in src import X": "imports X in path:src",
    "uses of Session in tests/test_a.py": "used Session in path:tests/test_a.py",
    "show references to `foo` in src/legacy and tests": "used foo in path:src/legacy or tests",
    "where is get used in Session": "used get in word:Session",
    "is foo called by bar": "callers foo in word:bar",
    "which functions in src/auth.py call foo": "callers foo in path:src/auth.py",
    # out of reach
    "how should I refactor the auth module?": "unknown",
    "what is wrong with my test": "unknown",
    "why does the test fail": "unknown",
    "fix the bug in `foo`": "unknown foo",
}


@pytest.mark.parametrize(("question", "understood"), QUESTIONS.items(), ids=QUESTIONS)
def test_a_question_is_understood(question: str, understood: str) -> None:
    assert asked(question) == understood


TEMPLATES = {
    "where is {} used": "used",
    "find every use of `{}`": "used",
    "which code depends on {}?": "used",
    "where is {} defined?": "defined",
    "show me the definition of {}": "defined",
    "who calls {}?": "callers",
    "list the call sites of {}()": "callers",
    "which files import {}?": "imports",
    "what does {} do?": "explain",
    "{} 在哪里被用到？": "used",
    "哪些地方调用了 {}": "callers",
}
NOT_ALONE = set(DETERMINERS.split("|")) | {"and", "or"}
"""Words that say nothing when they stand alone where the name belongs."""


def question_words() -> list[str]:
    """Every word that the grammar itself knows, plain and capitalised."""
    columns = [column for verb in VERBS for column in (verb.done, verb.doing, verb.things)]
    known = {word for column in (*columns, KINDS, QUANTITIES) for word in column.split("|")}
    known |= {*INVERSE, *TURNED, *STOP_WORDS}
    words = {word for word in known if word.isalpha()} - NOT_ALONE
    return sorted(words | {word.capitalize() for word in words})


@pytest.mark.parametrize("template", TEMPLATES)
def test_any_word_can_be_the_name(template: str) -> None:
    """A stop-word list would lose these; the grammar of the question does not."""
    wrong = {word: asked(template.format(word)) for word in question_words()}
    assert {word: got for word, got in wrong.items() if got != f"{TEMPLATES[template]} {word}"} == {}


def test_it_is_what_the_question_before_was_about() -> None:
    assert asked("who calls it?", context="where is legacy_auth defined") == "callers legacy_auth"


@pytest.mark.parametrize(
    "text", ["", "   ", "???", "\n\n", "`", '"', "a" * 5000, "(((((", "\ue000 used", "where is used"]
)
def test_what_is_no_question_is_not_a_crash(text: str) -> None:
    asked(text)
