"""`ledger-tui init`: put into place what OpenCode needs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ledger_tui import options
from ledger_tui.output import complain, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core.installing.install import Deed
    from core.installing.places import Place

HELP = "install the plugin and the extraction agent that OpenCode loads for a project"
EXAMPLES = """\
Writes .opencode/plugins/ledger.js and .opencode/agent/ledger-extractor.md, and nothing else. With the plugin, notes
reach the model in the very next request, and `opencode` without --port is found. A file that ledger-tui did not write,
or that you have edited, is never overwritten; `ledger-tui uninit` takes away exactly what was written.

examples:
  ledger-tui init                           for the project in the current folder
  ledger-tui init --global                  for all projects: in OpenCode's configuration folder
  ledger-tui init --model openai/gpt-5-mini --dry-run
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's own flags."""
    add_place(parser)
    parser.add_argument(
        "--model",
        metavar="PROVIDER/MODEL",
        help="model of the extraction agent (default: the server's small_model; a model set before is kept)",
    )


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add the flags that `uninit` takes too."""
    parser.add_argument(
        "--global",
        dest="everywhere",
        action="store_true",
        help="in $OPENCODE_CONFIG_DIR or else ~/.config/opencode (default: in the project's .opencode)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")


def run(args: argparse.Namespace) -> int:
    """Install, and say what was done."""
    from core.installing import telling, texts  # noqa: PLC0415
    from core.installing.files import look  # noqa: PLC0415
    from core.installing.install import install  # noqa: PLC0415

    place, others = places(args)
    if caution := telling.caution(place):
        complain(caution)
    version = texts.program_version()
    deeds = install(place, plugin=texts.plugin_text(version), version=version, model=args.model, dry_run=args.dry_run)
    tell(deeds, dry_run=args.dry_run)
    for other in others:
        if look(other.plugin).state in ("ours", "edited"):
            say(f"note: the plugin is in {other.root} too; one of the two is enough")
    if not args.dry_run:
        for line in telling.installed_lines(place, deeds):
            say(line)
    return 0


def places(args: argparse.Namespace) -> tuple[Place, list[Place]]:
    """The place that is meant, and the others from which OpenCode loads plugins for the project."""
    from core.installing.places import all_places, global_place, project_place  # noqa: PLC0415

    folder = options.directory(args)
    place = global_place() if args.everywhere else project_place(folder)
    return place, [other for other in all_places(folder) if other.root != place.root]


def tell(deeds: Iterable[Deed], *, dry_run: bool) -> None:
    """A line for each file and folder."""
    from core.installing.telling import deed_line  # noqa: PLC0415

    for deed in deeds:
        say(deed_line(deed, dry_run=dry_run))
