"""What was done, or would be, as sentences: for the command line and for the dashboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from core.installing.install import Deed, What
from core.installing.places import Place
from core.installing.present import modules_are_there
from core.installing.running import running

FIRST_START: Final = (
    "At that start OpenCode fetches what it wants beside any plugin (its own node_modules in this folder): that takes "
    "about half a minute, once; without a network over a minute, and again at each start."
)
"""Seen with 1.18.33: 22 to 44 s with a registry in reach, about 70 s without."""

_DID: Final[dict[What, str]] = {
    "written": "wrote",
    "updated": "updated",
    "present": "already there",
    "removed": "removed",
    "absent": "not there",
    "kept": "kept",
}
_WOULD: Final[dict[What, str]] = {
    **_DID,
    "written": "would write",
    "updated": "would update",
    "removed": "would remove",
    "kept": "would keep",
}


def deed_line(deed: Deed, *, dry_run: bool) -> str:
    """A line for one file or folder."""
    name = f"{deed.path}/" if deed.path.is_dir() else str(deed.path)
    detail = f" ({deed.detail})" if deed.detail else ""
    return f"{(_WOULD if dry_run else _DID)[deed.what]:<13}  {name}{detail}"


def installed_lines(place: Place, deeds: Sequence[Deed]) -> list[str]:
    """What an installation that changed something means for OpenCode."""
    if not any(deed.changes for deed in deeds):
        return []
    first = [] if modules_are_there(place.root) else [FIRST_START]
    return [restart_line(place, "OpenCode loads it when it starts next.", "to load it"), *first]


def caution(place: Place) -> str:
    """What to think of before this place is prepared as a project; empty where there is nothing."""
    home = Path.home()
    folders = {Path(place.top.anchor): "the root of the file system", home: "your home folder"}
    name = folders.get(place.top) if place.scope == "project" else None
    if name is None:
        return ""
    return (
        f"caution: {place.top} is {name}, not a project. OpenCode loads the plugin from here only when it works in "
        "this very folder; --directory names a project, --global means all of them."
    )


def restart_line(place: Place, otherwise: str, why: str) -> str:
    """Whether OpenCode, which reads these files only when it starts, has to be started anew; else `otherwise`."""
    found = running(place.top if place.scope == "project" else None)
    if not found:
        return otherwise
    pids = ", ".join(str(process.pid) for process in found)
    where = "" if place.scope == "global" else " here"
    return f"OpenCode runs{where} (process {pids}): restart it {why}."
