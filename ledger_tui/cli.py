"""The command line: which sub-command, and how each way of ending becomes an exit code.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 server unreachable or refused, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP,
141 the reader of the output went away. A failure is one line on standard error; `LEDGER_DEBUG=1` adds the traceback.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from core.errors import LedgerError, OutputClosed, UsageError
from ledger_tui import options
from ledger_tui.commands import (
    config,
    dashboard,
    demo,
    doctor,
    facts,
    headless,
    history,
    init,
    record,
    replay,
    uninit,
    watch,
)

COMMANDS = {
    "init": init,
    "uninit": uninit,
    "doctor": doctor,
    "demo": demo,
    "headless": headless,
    "replay": replay,
    "record": record,
    "watch": watch,
    "facts": facts,
    "history": history,
    "config": config,
}

USED = {
    **dict.fromkeys(("init", "uninit"), ("--directory",)),
    **dict.fromkeys(("demo", "replay", "watch", "config"), options.SETTINGS),
    "facts": ("--session", "--directory"),
    "history": (),
    "doctor": tuple(flag for flag in options.ALL if flag not in ("--session", "--latest")),
}
"""The common flags that mean something to a command, where not all of them do."""

INTERRUPTED = 130

_DESCRIPTION = """\
Runs beside an OpenCode session, remembers what the agent has established, and puts it in front of the agent when it is
about to look again. Without a command: the dashboard.
"""
_EXAMPLES = """\
examples:
  ledger-tui init                 once in a project, and then:
  opencode                        in one terminal, and in another one in the same folder:
  ledger-tui                      the dashboard
  ledger-tui --server 4096 --latest
  ledger-tui demo                 the dashboard on a recorded session

Every command explains itself: ledger-tui COMMAND --help
"""
_REWORDED = (
    (re.compile(r"argument ([\w-]+): expected one argument"), r"\1 needs a value"),
    (re.compile(r"argument ([\w-]+): invalid float value: (.*)"), r"\1: \2 is not a number"),
    (re.compile(r"the following arguments are required: (.*)"), r"not given: \1"),
)
_INVALID_CHOICE = re.compile(r"argument (?P<what>\w+): invalid choice: '(?P<word>.*)' \(choose from (?P<choices>.*)\)")


class Parser(argparse.ArgumentParser):
    """An argument parser that raises what it finds wrong, in one line."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Raise the message as a wrong use."""
        found = _INVALID_CHOICE.match(message)
        hint = f"`{self.prog} --help` shows how it is used."
        if found:
            nearest = difflib.get_close_matches(found["word"], re.findall(r"\w+", found["choices"]), n=1)
            message = f"there is no {found['what'].lower()} {found['word']!r}"
            hint = f"Did you mean {nearest[0]}? {hint}" if nearest else hint
        for pattern, words in _REWORDED:
            message = pattern.sub(words, message)
        raise UsageError(message, hint)

    def refuse(self, stranger: str) -> NoReturn:
        """Raise that an argument is none of this parser's."""
        flags = [
            flag for action in self._actions if action.help is not argparse.SUPPRESS for flag in action.option_strings
        ]
        name = stranger.partition("=")[0]
        hint = f"`{self.prog} --help` shows how it is used."
        if not name.startswith("-"):
            raise UsageError(f"{stranger!r} is an argument too many", hint)
        if name in flags:
            raise UsageError(f"{name} belongs after the command", hint)
        nearest = difflib.get_close_matches(name, flags, n=1)
        raise UsageError(f"there is no flag {name}", f"Did you mean {nearest[0]}? {hint}" if nearest else hint)

    def chosen(self, args: argparse.Namespace) -> Parser:
        """The parser of the sub-command that `args` names; this one where they name none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                below = action.choices.get(getattr(args, action.dest))
                return below.chosen(args) if isinstance(below, Parser) else self
        return self


class Version(argparse.Action):
    """Prints the version of the installed package."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print and end."""
        from importlib.metadata import version  # noqa: PLC0415 - 20 ms that only this needs

        if sys.stdout is not None:
            sys.stdout.write(f"ledger-tui {version('ledger-tui')}\n")
        parser.exit(0)


def build() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(prog="ledger-tui", description=_DESCRIPTION, epilog=_EXAMPLES)
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    options.add_resume(parser)
    options.add_common(parser, first=True)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=Parser)
    for name, module in COMMANDS.items():
        text = module.HELP
        described = text[0].upper() + text[1:] + "."
        command = commands.add_parser(name, help=text, description=described, epilog=module.EXAMPLES)
        module.arguments(command)
        options.add_common(command, USED.get(name, options.ALL), words=getattr(module, "COMMON_HELP", {}))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, OutputClosed):
        _lead_nowhere()
        return OutputClosed.exit_code
    except OSError as error:
        _lead_nowhere()
        return _failed(error, f"cannot write to standard output: {error.strerror}. Make room, or write elsewhere.", 1)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        parser = build()
        args, strangers = parser.parse_known_args(arguments)
        if strangers:
            parser.chosen(args).refuse(strangers[0])
        run: Callable[[argparse.Namespace], int] = (COMMANDS.get(args.command) or dashboard).run
        return run(args)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BrokenPipeError, OutputClosed):
        raise
    except LedgerError as error:
        return _failed(error, str(error), error.exit_code)
    except Exception as error:
        return _failed(error, _unexpected(error), 1)


def _unexpected(error: Exception) -> str:
    return f"unexpected {type(error).__name__}: {error}. LEDGER_DEBUG=1 shows where; please report it."


def _failed(error: Exception, text: str, code: int) -> int:
    from ledger_tui.output import complain  # noqa: PLC0415

    if os.environ.get("LEDGER_DEBUG"):
        import traceback  # noqa: PLC0415

        traceback.print_exception(error)
    complain(text)
    return code


def _lead_nowhere() -> None:
    """Keep the interpreter from complaining when it flushes standard output at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
