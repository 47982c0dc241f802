"""The command line: flags in, one exit code out. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import argparse

    from orchestrator.abort import AbortToken
    from orchestrator.headless import Writer
    from orchestrator.result import Result
    from orchestrator.role_commands import Output
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
        parser().print_help(sys.stderr)
        return 2
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


# --- ask -------------------------------------------------------------------------------------------------------------


def _ask(options: argparse.Namespace) -> int:
    import asyncio

    from orchestrator.abort import AbortToken

    setup = _setup(options)
    question = _question(options.question, sys.stdin)
    abort = AbortToken()
    writer = _writer(options, setup, abort)
    try:
        return writer.finish(asyncio.run(_answer(setup, question, writer, abort)))
    finally:
        writer.close()


async def _answer(setup: Setup, question: str, writer: Writer, abort: AbortToken) -> Result:
    from orchestrator.wiring import Models, open_session

    _stop_on_signals(abort, writer)
    models = Models(setup)
    try:
        session = open_session(setup, models, abort, writer.emit)
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        gc.enable()
        return await session.ask(question)
    finally:
        await models.aclose()


def _stop_on_signals(abort: AbortToken, writer: Writer) -> None:
    """The first Ctrl+C, SIGTERM or SIGHUP stops the tree and gives the partial result; the second leaves at once."""
    import asyncio
    import signal

    def stop(name: str) -> None:
        if abort.triggered:
            writer.close()
            os._exit(130)
        abort.trigger(name)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number.name)


def _question(words: Sequence[str], stdin: TextIO | None) -> str:
    from orchestrator.errors import UsageError

    if list(words) != ["-"]:
        text = " ".join(words)
    elif stdin is None:
        raise UsageError("the question is to be read from standard input, which is closed", "give it as an argument")
    else:
        text = stdin.read()
    if not text.strip():
        raise UsageError("the question is empty", 'ask something: orch ask "where is NAME used"')
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


def _show(options: argparse.Namespace, output: Output) -> int:
    import json

    from orchestrator.safe_text import safe_text

    return _say(safe_text(output.text) if options.output == "text" else json.dumps(output.data), output.exit_code)


_COMMANDS = {"ask": _ask, "roles": _roles, "tools": _tools, "doctor": _doctor, "config": _config}


if __name__ == "__main__":
    sys.exit(main())
