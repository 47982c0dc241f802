"""The commands and flags of `orch`, and what the flags set."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn

from orchestrator import __version__

DESCRIPTION = """\
Answers questions about a code base and changes it: a parent agent delegates
to sub-agents and checks what they report."""
EXAMPLES = """\
examples:
  orch ask "where is legacy_auth used"      no key: the built-in scout answers
  orch ask --model openai/gpt-5.2 "how are sessions stored?"
  orch run "make the failing test in tests/test_auth.py pass"
  orch ask --output json "who calls parse_url" | jq .citations
  orch doctor                               what would be used, what is missing

exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 incomplete,
4 denied, 75 the provider failed for now, 130 aborted"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"orch: error: {message}\n  hint: `{self.prog} --help` shows what can be given\n")


def parser() -> _Parser:
    """The parser of the whole command line. Common flags may stand before or after the command's own."""
    root = _Parser(
        "orch",
        parents=[_common()],
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.set_defaults(
        workspace=".", model=None, base_url=None, output="text", trust=False, no_cache=False, quiet=False, verbose=False
    )
    root.add_argument("-V", "--version", action="version", version=f"orch {__version__}")
    common = _common()  # not the root's: `set_defaults` would take the place of their SUPPRESS
    commands = root.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    ask = commands.add_parser("ask", parents=[common, _run_flags()], help="answer a question; never writes")
    ask.add_argument(
        "question", nargs="+", metavar="QUESTION", help="the question, or - to read it from standard input"
    )
    acting = [common, _run_flags(), _acting_flags()]
    run = commands.add_parser("run", parents=acting, help="do a task; asks before it changes things")
    run.add_argument("task", nargs="+", metavar="TASK", help="the task, or - to read it from standard input")
    commands.add_parser("chat", parents=acting, help="one prompt after the other; what `orch` alone does in a terminal")
    roles = commands.add_parser("roles", parents=[common], help="list, show, make or check roles")
    _actions(roles, {"list": None, "show": "NAME", "new": "NAME", "check": "FILE"}, common)
    tools = commands.add_parser("tools", parents=[common], help="list or show tools")
    _actions(tools, {"list": None, "show": "NAME"}, common)
    _changes(commands, common)
    _permissions(commands, common)
    commands.add_parser("doctor", parents=[common], help="what would be used and why, and what is missing")
    commands.add_parser("config", parents=[common], help="every setting in force, and where it comes from")
    return root


def _actions(command: _Parser, actions: dict[str, str | None], common: _Parser) -> None:
    inner = command.add_subparsers(dest="action", metavar="ACTION", parser_class=_Parser)
    for name, argument in actions.items():
        action = inner.add_parser(name, parents=[common])
        if argument == "FILE":
            action.add_argument("files", nargs="*", metavar=argument, help="role files; default: all there are")
        elif argument:
            action.add_argument("name", metavar=argument)


def _changes(commands: argparse._SubParsersAction[_Parser], common: _Parser) -> None:
    """What looks at or takes back what a session changed."""
    session = _Parser(add_help=False)
    session.add_argument("--session", metavar="ID", help="default: the newest session that changed files here")
    for name, text in (("undo", "take back the last turn's changes"), ("redo", "make again what was taken back")):
        command = commands.add_parser(name, parents=[common, session], help=text)
        command.add_argument("--yes", action="store_true", help="do not ask")
        command.add_argument("--dry-run", action="store_true", help="only show what would be done")
    commands.add_parser("diff", parents=[common, session], help="all that a session changed")


def _permissions(commands: argparse._SubParsersAction[_Parser], common: _Parser) -> None:
    command = commands.add_parser("permissions", parents=[common], help="list the rules, or forget what was allowed")
    inner = command.add_subparsers(dest="action", metavar="ACTION", parser_class=_Parser)
    inner.add_parser("list", parents=[common])
    forget = inner.add_parser("forget", parents=[common])
    forget.add_argument("rule", nargs="?", metavar="RULE", help="as `list` shows it")
    forget.add_argument("--all", action="store_true", help="all that was allowed for always in this workspace")


def _common() -> _Parser:
    """Flags of every command. Without `SUPPRESS` an inner parser would reset what stood before its name."""
    flags = _Parser(add_help=False)
    add = flags.add_argument
    add("-C", dest="workspace", metavar="DIR", default=argparse.SUPPRESS, help="the workspace (default: this folder)")
    add("--model", metavar="NAME", default=argparse.SUPPRESS, help="PROVIDER/MODEL, or scout")
    add("--base-url", metavar="URL", default=argparse.SUPPRESS, help="where the model's interface is")
    add("--output", choices=("text", "json", "stream-json"), default=argparse.SUPPRESS, help="default: text")
    add("--trust", action="store_true", default=argparse.SUPPRESS, help="trust this folder with what it supplies now")
    add("--no-cache", action="store_true", default=argparse.SUPPRESS, help="find everything out anew; keep nothing")
    add("-q", "--quiet", action="store_true", default=argparse.SUPPRESS, help="only the result, and errors")
    add("-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="every step on standard error")
    return flags


def _run_flags() -> _Parser:
    """Limits of a run."""
    flags = _Parser(add_help=False)
    flags.add_argument("--max-turns", metavar="N", type=_number(int), help="model calls of the parent agent")
    flags.add_argument("--max-usd", metavar="USD", type=_number(float), help="money for the whole tree")
    flags.add_argument("--max-tokens", metavar="N", type=_number(int), help="tokens for the whole tree")
    flags.add_argument("--timeout", metavar="SECONDS", type=_number(float), help="time for the whole tree")
    flags.add_argument("--think", choices=("off", "low", "medium", "high"), help="how much models think first")
    flags.add_argument(
        "--attach",
        metavar="FILE",
        action="append",
        default=[],
        help="a file that goes with the question; @FILE in it too",
    )
    flags.add_argument("--record", metavar="FILE", help="keep every request to a model and its reply, keys left out")
    flags.add_argument("--replay", metavar="FILE", help="run again what was recorded, without network")
    return flags


def _acting_flags() -> _Parser:
    """What agents may do."""
    flags = _Parser(add_help=False)
    flags.add_argument(
        "--mode",
        choices=("default", "plan", "accept-edits"),
        default="default",
        help="default asks before every change; accept-edits lets edits in the workspace pass; plan only reads",
    )
    flags.add_argument(
        "--on-ask",
        choices=("deny", "fail"),
        help="ask nobody: refuse what would be asked and go on, or end the run",
    )
    return flags


def _number(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    def read(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r} must be above 0")
        return value

    return read


def settings(options: argparse.Namespace) -> dict[str, object]:
    """The flags that set a configuration value, by its key; those not given are left out."""
    names = ("model", "base_url", "max_turns", "max_usd", "max_tokens", "timeout", "think")
    given = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in given.items() if value is not None}
