"""`ledger-tui init`: put into place what OpenCode needs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ledger_tui import options
from ledger_tui.output import say

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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


FIRST_START = (
    "At that start OpenCode fetches what it wants beside any plugin (its own node_modules in this folder): that takes\n"
    "about half a minute, once; without a network over a minute, and again at each start."
)
"""Seen with 1.18.33: 22 to 44 s with a registry in reach, about 70 s without."""


def run(args: argparse.Namespace) -> int:
    """Install, and say what was done."""
    from core.installing import texts  # noqa: PLC0415
    from core.installing.install import install  # noqa: PLC0415

    place, others = places(args)
    version = texts.program_version()
    deeds = install(place, plugin=texts.plugin_text(version), version=version, model=args.model, dry_run=args.dry_run)
    tell(deeds, dry_run=args.dry_run)
    from core.installing.files import look  # noqa: PLC0415

    for other in others:
        if look(other.plugin).state in ("ours", "edited"):
            say(f"note: the plugin is in {other.root} too; one of the two is enough")
    if any(deed.changes for deed in deeds) and not args.dry_run:
        say(restart(place, "OpenCode loads it when it starts next.", "to load it"))
        if not (place.root / "node_modules").is_dir():
            say(FIRST_START)
    return 0


def places(args: argparse.Namespace) -> tuple[Place, list[Place]]:
    """The place that is meant, and the others from which OpenCode loads plugins for the project."""
    from core.installing.places import all_places, global_place, project_place  # noqa: PLC0415

    folder = options.directory(args)
    place = global_place() if args.everywhere else project_place(folder)
    return place, [other for other in all_places(folder) if other.root != place.root]


def tell(deeds: Iterable[Deed], *, dry_run: bool) -> None:
    """A line for each file and folder."""
    for deed in deeds:
        text = (_WOULD if dry_run else _DID)[deed.what]
        detail = f" ({deed.detail})" if deed.detail else ""
        say(f"{text:<13}  {_shown(deed.path)}{detail}")


def restart(place: Place, otherwise: str, why: str) -> str:
    """Whether OpenCode, which reads these files only when it starts, has to be started anew."""
    from core.installing.running import running  # noqa: PLC0415

    found = running(place.top if place.scope == "project" else None)
    if not found:
        return otherwise
    pids = ", ".join(str(process.pid) for process in found)
    where = "" if place.scope == "global" else " here"
    return f"OpenCode runs{where} (process {pids}): restart it {why}."


def _shown(path: Path) -> str:
    return f"{path}/" if path.is_dir() else str(path)


_DID = {
    "written": "wrote",
    "updated": "updated",
    "present": "already there",
    "removed": "removed",
    "absent": "not there",
    "kept": "kept",
}
_WOULD = {
    **_DID,
    "written": "would write",
    "updated": "would update",
    "removed": "would remove",
    "kept": "would keep",
}
