"""`ledger-tui uninit`: take away what `init` wrote."""

from __future__ import annotations

import argparse

from ledger_tui.commands import init
from ledger_tui.output import say

HELP = "remove what `init` has written, and nothing else"
EXAMPLES = """\
Files that you have edited, or that ledger-tui did not write, are kept and named. Folders go when init had to make them
and they are empty.

examples:
  ledger-tui uninit
  ledger-tui uninit --global --dry-run
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    init.add_place(parser)


def run(args: argparse.Namespace) -> int:
    """Remove, and say what was done."""
    from core.installing.files import look  # noqa: PLC0415
    from core.installing.install import uninstall  # noqa: PLC0415
    from core.installing.telling import restart_line  # noqa: PLC0415

    place, others = init.places(args)
    deeds = uninstall(place, dry_run=args.dry_run)
    init.tell(deeds, dry_run=args.dry_run)
    for other in others:
        if look(other.plugin).state in ("ours", "edited"):
            flag = " --global" if other.scope == "global" else ""
            say(f"note: the plugin stays in {other.root}; `ledger-tui uninit{flag}` is for that")
    plugin_stays = any(deed.path == place.plugin and deed.what == "kept" for deed in deeds)
    if any(deed.changes for deed in deeds) and not args.dry_run and not plugin_stays:
        say(restart_line(place, "OpenCode does without it when it starts next.", "to be rid of it"))
    return 0
