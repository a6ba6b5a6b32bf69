"""`ledger-tui config`: show and change the settings."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from typing import TYPE_CHECKING, Any

from core.errors import LedgerError, UsageError
from ledger_tui import options
from ledger_tui.output import complain, say, say_json

if TYPE_CHECKING:
    from core.config import Config, Value
    from core.settings import Settings

HELP = "show and change the settings, each with where its value comes from"
EXAMPLES = """\
A value comes from the first of: --set KEY=VALUE, the environment (LEDGER_<KEY>), the project's .opencode/ledger.toml,
the user's file, the default. Names may be written in camelCase. A list is JSON, or items with commas between them.

examples:
  ledger-tui config list
  ledger-tui config get escalation_injections
  ledger-tui config set injectable_extensions parquet,csv --project
  ledger-tui config set keys.pin V
  LEDGER_MAX_FINDINGS=80 ledger-tui config list --json
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their flags."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", parser_class=type(parser))
    for name, text in _ACTIONS.items():
        action = actions.add_parser(name, help=text, description=_sentence(text))
        _ARGUMENTS[name](action)
        options.add_common(action, options.SETTINGS if name != "schema" else ())
    parser.set_defaults(action="list", json=False)


def run(args: argparse.Namespace) -> int:
    """Carry out one action."""
    return _RUN[args.action](args)


def _list(args: argparse.Namespace) -> int:
    config = options.config(args)
    if args.json:
        say_json([_as_json(value) for value in config.values])
    elif sys.stdout is not None and sys.stdout.isatty():
        _table(config)
    else:
        _columns(config)
    return 0


def _get(args: argparse.Namespace) -> int:
    from core.config import shown  # noqa: PLC0415

    value = options.config(args).value(args.key)
    if args.json:
        say_json(_as_json(value))
    else:
        say(shown(value.value))
    return 0


def _set(args: argparse.Namespace) -> int:
    from core.config import assign  # noqa: PLC0415

    folder = options.directory(args)
    path = assign(args.key, args.value, directory=folder, project=args.project)
    with contextlib.suppress(LedgerError):  # what another file holds is not this command's business
        config = options.config(args)
        in_force = config.value(args.key)
        if in_force.where != str(path):
            complain(f"written to {path}, but {in_force.where} is stronger and sets {in_force.key}")
        elif refusal := _refusal(in_force.key, config.settings):
            complain(f"written to {path}, but the dashboard will refuse it: {refusal}")
    return 0


def _refusal(key: str, settings: Settings) -> str:
    """Why the dashboard would not start with this theme or these keys; empty when it would.

    Only said, not refused: to exchange the keys of two actions takes two commands.
    """
    from ledger_tui.keys import keymap  # noqa: PLC0415
    from ledger_tui.theme import check_theme  # noqa: PLC0415

    try:
        if key == "theme":
            check_theme(settings.theme)
        elif key.startswith("keys"):
            keymap(settings.keys)
    except UsageError as error:
        return str(error)
    return ""


def _schema(_args: argparse.Namespace) -> int:
    from core.settings import Settings  # noqa: PLC0415

    say_json(Settings.model_json_schema(by_alias=False))
    return 0


def _as_json(value: Value) -> dict[str, Any]:
    from core.config import plain  # noqa: PLC0415

    bare = "inf" if value.value == math.inf else plain(value.value)
    return {"key": value.key, "value": bare, "source": value.source, "where": value.where}


def _origin(value: Value) -> str:
    return f"{value.source}: {value.where}" if value.where else value.source


def _columns(config: Config) -> None:
    """The same without colours and borders, whole however wide: for pipes and files."""
    from core.config import shown  # noqa: PLC0415

    rows = [(value.key, shown(value.value), _origin(value)) for value in config.values]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for key, value, origin in rows:
        say(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}")


def _table(config: Config) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from core.config import shown  # noqa: PLC0415
    from core.text import clean_line  # noqa: PLC0415

    table = Table("setting", "value", "from", box=None, pad_edge=False, header_style="bold")
    for value in config.values:
        cells = (value.key, shown(value.value), _origin(value))
        style = "dim" if value.source == "default" else ""
        table.add_row(*(Text(clean_line(cell, 400), style=style) for cell in cells))
    Console().print(table)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", default=False, help="as JSON")


def _get_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="the setting's name")
    _list_arguments(parser)


def _set_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="the setting's name, or keys.ACTION")
    parser.add_argument("value", metavar="VALUE", help="its new value")
    parser.add_argument(
        "--project", action="store_true", help="write to the project's .opencode/ledger.toml (default: the user's file)"
    )


def _schema_arguments(_parser: argparse.ArgumentParser) -> None:
    pass


_ACTIONS = {
    "list": "show every setting, its value and where that comes from (default action)",
    "get": "show the value of one setting",
    "set": "write one setting to a file; its comments and other lines stay as they are",
    "schema": "show the JSON schema of all settings, with their documentation",
}
_ARGUMENTS = {"list": _list_arguments, "get": _get_arguments, "set": _set_arguments, "schema": _schema_arguments}
_RUN = {"list": _list, "get": _get, "set": _set, "schema": _schema}
