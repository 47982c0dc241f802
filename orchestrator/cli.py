"""The command line: flags in, one exit code out. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

if TYPE_CHECKING:
    import argparse

    from orchestrator.abort import AbortToken
    from orchestrator.approval import Approver
    from orchestrator.events import Emit, Event
    from orchestrator.headless import Writer
    from orchestrator.permissions import Mode
    from orchestrator.result import Result
    from orchestrator.role_commands import Output
    from orchestrator.session import Session
    from orchestrator.tape import Tape
    from orchestrator.wiring import Setup


_NEW_OBJECTS = 50_000
"""After so many it is looked for garbage in cycles. Usually it is 700, and with the 36,000 places of a common name in
memory that takes a seventh of all time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `orch` with `argv` (default: the command line); gives the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args in (["--version"], ["-V"]):
        from orchestrator import __version__

        return _say(f"orch {__version__}")
    return _run(args)


def _run(args: Sequence[str]) -> int:
    gc.disable()  # what is loaded now stays; looking through it again and again would take 20 ms
    from orchestrator.command_line import parser
    from orchestrator.errors import OrchError
    from orchestrator.headless import report_error
    from orchestrator.ui.terminal import tolerate_encoding

    tolerate_encoding(sys.stdout, sys.stderr)
    options = parser().parse_args(args)
    if options.command is None:
        if not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty()):
            parser().print_help(sys.stderr)
            return 2
        options = parser().parse_args([*args, "chat"])
    try:
        return _COMMANDS[options.command](options)
    except OrchError as error:
        return report_error(error, sys.stderr)
    except KeyboardInterrupt:
        return 130


def _say(text: str, exit_code: int = 0) -> int:
    """Print the result of a command; gives its exit code, or 1 when it cannot be written."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "it is closed")
        print(text, flush=True)
    except BrokenPipeError:  # whoever read our output has gone (`| head`)
        _discard_output()
    except OSError as error:
        from orchestrator.errors import OrchError
        from orchestrator.headless import report_error

        _discard_output()
        return report_error(OrchError(f"cannot write to standard output: {error.strerror}"), sys.stderr)
    return exit_code


def _discard_output() -> None:
    """What is still in the buffer goes nowhere, so that nothing is said about it at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# --- ask, run --------------------------------------------------------------------------------------------------------


def _ask(options: argparse.Namespace) -> int:
    setup = _setup(options)
    tape = _tape(options, setup)
    _only_read(setup)
    return _converse(options, setup, _question(options.question, sys.stdin, "question"), "plan", tape)


def _run_task(options: argparse.Namespace) -> int:
    from orchestrator.errors import UsageError

    setup = _setup(options)
    task = _question(options.task, sys.stdin, "task")
    tape = _tape(options, setup)
    if not tape.replays and setup.choose().wire == "scout":
        hint = "set a key (`orch doctor` shows which), or give --model; `orch ask` works without one"
        raise UsageError("`orch run` needs a model: the built-in scout answers questions and changes nothing", hint)
    return _converse(options, setup, task, options.mode, tape)


def _tape(options: argparse.Namespace, setup: Setup) -> Tape:
    """What is recorded and replayed. Opened before anything is confined, since it may lie anywhere."""
    from orchestrator.tape import open_tape

    return open_tape(setup, options.record, options.replay)


def _converse(options: argparse.Namespace, setup: Setup, prompt: str, mode: Mode, tape: Tape) -> int:
    import asyncio

    from orchestrator.abort import AbortToken

    abort = AbortToken()
    writer = _writer(options, setup, abort)
    try:
        words = options.question if options.command == "ask" else options.task
        approver = _approver(options, writer.suspended, mode)
        terms = _Terms(mode, approver, tape, options.attach, typed=words != ["-"])
        return writer.finish(asyncio.run(_answer(setup, prompt, writer, abort, terms)))
    finally:
        writer.close()


class _Terms(NamedTuple):
    """On what terms agents work."""

    mode: Mode
    approver: Approver | None
    tape: Tape
    attach: Sequence[str] = ()
    typed: bool = True
    """Whether the user typed the prompt, so that `@` in it names files."""


async def _answer(setup: Setup, prompt: str, writer: Writer, abort: AbortToken, terms: _Terms) -> Result:
    _stop_on_signals(abort, writer)
    async with _session(setup, writer.emit, terms) as session:
        return await session.ask(prompt, abort, terms.attach, named=terms.typed)


@asynccontextmanager
async def _session(setup: Setup, emit: Emit, terms: _Terms) -> AsyncIterator[Session]:
    from orchestrator.events import Notice
    from orchestrator.wiring import Models, open_session

    terms.tape.notify = lambda level, message, hint: emit(Notice("parent", 0.0, level, message, hint))
    models = Models(setup, terms.tape)
    session = None
    try:
        session = open_session(setup, models, emit, mode=terms.mode, approver=terms.approver)
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        gc.enable()
        yield session
    finally:
        if session is not None:
            await session.aclose()
        await models.aclose()
        terms.tape.close()


def _only_read(setup: Setup) -> None:
    """From here on the kernel keeps this process and what it starts from writing anywhere but its own folders.

    Not where there are hooks: they run as the user, and what they write is their business.
    """
    from orchestrator.workbench import hook_files

    config = setup.loaded.config
    hooks = config.hooks or hook_files(setup.places, setup.workspace, trusted=setup.trusted)
    if hooks or not config.sandbox.enabled:
        return
    from orchestrator.sandbox import confine_to_reading

    confine_to_reading((setup.places.state, setup.places.cache))


def _approver(
    options: argparse.Namespace, suspended: Callable[[], AbstractContextManager[None]], mode: Mode
) -> Approver | None:
    """Who is asked: the user at the terminal, unless the run is headless."""
    if mode == "plan":
        return None
    from orchestrator.headless_approval import HeadlessApprover

    if options.on_ask or not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        return HeadlessApprover(options.on_ask or "deny")
    from orchestrator.permissions import QueuedApprover
    from orchestrator.ui.approval import TerminalApprover

    return QueuedApprover(TerminalApprover(sys.stdin, sys.stderr, suspended))


# --- chat ------------------------------------------------------------------------------------------------------------


def _chat(options: argparse.Namespace) -> int:
    import asyncio

    if sys.stdin is None:
        from orchestrator.errors import UsageError

        raise UsageError("standard input is closed", 'ask one question: orch ask "where is NAME used"')
    asyncio.run(_talk(options, _setup(options)))
    return 0


async def _talk(options: argparse.Namespace, setup: Setup) -> None:
    from orchestrator.chat_commands import chat_commands, greeting
    from orchestrator.ui.chat import converse, line_reader

    talk = _Talk(options, setup)
    read = line_reader(sys.stdin, setup.places.state / "history")
    terms = _Terms(options.mode, _approver(options, talk.suspended, options.mode), _tape(options, setup))
    async with _session(setup, talk.emit, terms) as session:
        talk.say(greeting(session.model, options.mode))
        commands = chat_commands(setup, session, read, talk.say)
        await converse(read, talk.say, lambda prompt: talk.answer(session, prompt), commands)


class _Talk:
    """The screen of an interactive session: each prompt has a writer and a stop of its own."""

    def __init__(self, options: argparse.Namespace, setup: Setup) -> None:
        self._options = options
        self._setup = setup
        self._attach: Sequence[str] = options.attach
        self._writer: Writer | None = None

    def emit(self, event: Event) -> None:
        if self._writer is not None:
            self._writer.emit(event)

    def suspended(self) -> AbstractContextManager[None]:
        return nullcontext() if self._writer is None else self._writer.suspended()

    def say(self, text: str) -> None:
        from orchestrator.safe_text import safe_text

        if text:
            print(safe_text(text), file=sys.stderr, flush=True)

    def _taken(self) -> Sequence[str]:
        """What `--attach` names goes with the first prompt."""
        attach, self._attach = self._attach, ()
        return attach

    async def answer(self, session: Session, prompt: str) -> None:
        from orchestrator.abort import AbortToken
        from orchestrator.errors import UsageError
        from orchestrator.headless import report_error

        abort = AbortToken()
        self._writer = writer = _writer(self._options, self._setup, abort)
        forget = _stop_on_signals(abort, writer)
        try:
            writer.finish(await session.ask(prompt, abort, self._taken()))
        except UsageError as error:
            report_error(error, sys.stderr)
        finally:
            forget()
            writer.close()
            self._writer = None


def _stop_on_signals(abort: AbortToken, writer: Writer) -> Callable[[], None]:
    """The first Ctrl+C, SIGTERM or SIGHUP stops the tree and gives the partial result; the second leaves at once.

    Gives the function that ends this.
    """
    import asyncio
    import signal

    def stop(name: str) -> None:
        if abort.triggered:
            writer.close()
            os._exit(130)
        abort.trigger(name)

    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, stop, number.name)

    def forget() -> None:
        for number in numbers:
            loop.remove_signal_handler(number)

    return forget


def _question(words: Sequence[str], stdin: TextIO | None, what: str) -> str:
    from orchestrator.errors import UsageError

    if list(words) != ["-"]:
        text = " ".join(words)
    elif stdin is None:
        raise UsageError(f"the {what} is to be read from standard input, which is closed", "give it as an argument")
    else:
        text = stdin.read()
    if not text.strip():
        example = 'orch ask "where is NAME used"' if what == "question" else 'orch run "make the tests of NAME pass"'
        raise UsageError(f"the {what} is empty", f"say what you want: {example}")
    return text.strip()


def _writer(options: argparse.Namespace, setup: Setup, abort: AbortToken) -> Writer:
    from orchestrator.headless import open_writer
    from orchestrator.ui.terminal import detect_terminal

    return open_writer(
        options.output,
        stdout=sys.stdout,
        stderr=sys.stderr,
        quiet=options.quiet,
        verbose=options.verbose,
        terminal=detect_terminal(sys.stdout, sys.stderr, setup.env),
        workspace=setup.workspace,
        environ=setup.env,
        on_closed=lambda: abort.trigger("the reader of the events has gone"),
    )


def _setup(options: argparse.Namespace) -> Setup:
    from pathlib import Path

    from orchestrator.command_line import settings
    from orchestrator.wiring import read_setup

    return read_setup(
        Path(options.workspace),
        os.environ,
        settings(options),
        trust_folder=options.trust,
        use_cache=not options.no_cache,
    )


# --- roles, tools, doctor, config ------------------------------------------------------------------------------------


def _roles(options: argparse.Namespace) -> int:
    from pathlib import Path

    from orchestrator import role_commands as commands

    setup = _setup(options)
    match options.action:
        case "show":
            denied = setup.loaded.config.tools.deny
            return _show(options, commands.roles_show(setup.roles(), options.name, setup.toolbox.read_only, denied))
        case "new":
            return _show(options, commands.roles_new(options.name, setup.workspace))
        case "check" if options.files:
            paths = [Path(name) for name in options.files]
            known: dict[str, Any] = {"workspace": setup.workspace, "places": setup.places}
            return _show(options, commands.roles_check_files(paths, tools=setup.toolbox.read_only, **known))
        case "check":
            return _show(options, commands.roles_check(setup.roles()))
        case _:
            return _show(options, commands.roles_list(setup.roles()))


def _tools(options: argparse.Namespace) -> int:
    from orchestrator import role_commands as commands

    toolbox = _setup(options).toolbox
    tools = [toolbox.get(name) for name in toolbox.names]
    if options.action == "show":
        return _show(options, commands.tools_show(tools, options.name))
    return _show(options, commands.tools_list(tools))


def _doctor(options: argparse.Namespace) -> int:
    from orchestrator.doctor import examine

    return _show(options, examine(_setup(options)))


def _config(options: argparse.Namespace) -> int:
    from orchestrator.doctor import configuration

    return _show(options, configuration(_setup(options)))


def _permissions(options: argparse.Namespace) -> int:
    from orchestrator.permission_commands import permissions_command

    setup = _setup(options)
    forget = options.action == "forget"
    output = permissions_command(
        options.action or "list",
        (options.rule or "") if forget else "",
        forget_all=forget and options.all,
        loaded=setup.loaded,
        workspace=setup.workspace,
        places=setup.places,
        tool_names=setup.toolbox.names,
    )
    return _show(options, output)


# --- undo, redo, diff ------------------------------------------------------------------------------------------------


def _undo(options: argparse.Namespace) -> int:
    from orchestrator import checkpoint_commands as commands

    setup = _setup(options)
    if options.command == "diff":
        output = commands.diff_command(setup.places, setup.workspace, session=options.session)
        if options.output == "text" and sys.stdout is not None and not sys.stdout.isatty():
            return _say(output.text, output.exit_code)  # as it is: somebody may want to apply it
        return _show(options, output)
    sure = options.yes or options.dry_run
    ask = commands.asker(sys.stdin, sys.stderr, yes=sure, what=options.command)
    take = commands.undo_command if options.command == "undo" else commands.redo_command
    return _show(options, take(setup.places, setup.workspace, commands.Wanted(options.session, options.dry_run, ask)))


def _show(options: argparse.Namespace, output: Output) -> int:
    import json

    from orchestrator.safe_text import safe_text

    return _say(safe_text(output.text) if options.output == "text" else json.dumps(output.data), output.exit_code)


_COMMANDS = {
    "ask": _ask,
    "run": _run_task,
    "chat": _chat,
    "roles": _roles,
    "tools": _tools,
    "doctor": _doctor,
    "config": _config,
    "permissions": _permissions,
    "undo": _undo,
    "redo": _undo,
    "diff": _undo,
}


if __name__ == "__main__":
    sys.exit(main())
