"""`ledger-tui history`: past sessions, read from OpenCode's own database."""

from __future__ import annotations

import argparse

from ledger_tui import options
from ledger_tui.commands import history_distil, history_list, history_search, history_show, history_stats

HELP = "past sessions: list, show, search, count up, distil into notes"
EXAMPLES = """\
OpenCode's database is only read: --db names it, else OPENCODE_DB, else all databases of OpenCode's data folder are read
as one. Sessions that the ledger opened for itself are left out.

examples:
  ledger-tui history list --limit 20
  ledger-tui history show ses_dd50 --markdown > session.md
  ledger-tui history search '"no rule" make*'
  ledger-tui history stats --by model --json

Every action explains itself: ledger-tui history ACTION --help
"""

ACTIONS = {
    "list": history_list,
    "show": history_show,
    "search": history_search,
    "stats": history_stats,
    "distil": history_distil,
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their flags."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions", parser_class=type(parser))
    for name, module in ACTIONS.items():
        text = module.HELP
        action = actions.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=module.EXAMPLES
        )
        module.arguments(action)
        options.add_common(action, getattr(module, "USED", ()), words=getattr(module, "COMMON_HELP", {}))
    parser.set_defaults(action="list", **history_list.DEFAULTS)


def run(args: argparse.Namespace) -> int:
    """Carry out one action."""
    code: int = ACTIONS[args.action].run(args)
    return code
