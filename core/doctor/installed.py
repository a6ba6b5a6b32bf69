"""Checks of what `init` puts into place."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from core.doctor.lines import Line, ok, warn
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings
from core.installing.files import Found, look
from core.installing.marks import release
from core.installing.places import Place, all_places
from core.installing.present import MODULES, modules_are_there
from core.text import clean_line

CLOCK_SECONDS: Final = 2.0
"""How much the start of a process and the time of a file may differ though both happened at once."""
_INIT = "Run `ledger-tui init`, then restart OpenCode."


def plugin(surroundings: Surroundings, way: Reach) -> Iterable[Line]:
    """The plugin on disk and, where a door tells, the one that OpenCode has loaded."""
    found = [(place, look(place.plugin)) for place in _places(surroundings)]
    missing = warn("plugin", "not installed: notes are patched in from outside, and may come late", _INIT)
    yield from _states("plugin", surroundings.version, found, missing)
    if sum(one.state in ("ours", "edited") for _, one in found) > 1:
        yield ok("plugin", "installed more than once; OpenCode loads each, and a call is still told once")
    for door in way.doors:
        if door.shim and door.shim != surroundings.version:
            text = f"OpenCode (process {door.pid}) has loaded version {door.shim}; this is {surroundings.version}"
            yield warn("plugin", text, _INIT)
    yield from _started_before([one.path for _, one in found if one.state in ("ours", "edited")], way)


def _started_before(plugins: Sequence[Path], way: Reach) -> Iterable[Line]:
    """Servers that were running when the plugin came; those without a way in are told of under that name."""
    servers = {server.pid for server in way.found} - {door.pid for door in way.doors}
    with contextlib.suppress(OSError, ValueError):
        oldest = min(path.stat().st_mtime for path in plugins)
        for process in way.here:
            if process.pid in servers and 0 < process.started < oldest - CLOCK_SECONDS:
                text = f"OpenCode (process {process.pid}) was started before it was there, and does without"
                yield warn("plugin", text, "Restart OpenCode.")


def agent_file(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """The file of the agent that extracts."""
    found = [(place, look(place.agent)) for place in _places(surroundings)]
    missing = warn("agent file", "not installed: an agent made for other work extracts", _INIT)
    yield from _states("agent file", surroundings.version, found, missing)


def modules(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """What OpenCode itself fetches beside any plugin; seen with 1.18.33: 10 to 44 s, offline about 70 s each time."""
    places = [place for place in _places(surroundings) if look(place.plugin).state in ("ours", "edited")]
    if not places:
        yield ok("modules", "not checked: the plugin is not installed")
    for place in places:
        name = clean_line(str(place.root / MODULES), 300)
        if modules_are_there(place.root):
            yield ok("modules", name)
        else:
            text = f"{name} lacks what OpenCode fetches at its first start: half a minute, offline a minute each time"
            yield warn("modules", text, "Start opencode here once with a network.")


def _places(surroundings: Surroundings) -> list[Place]:
    return all_places(surroundings.directory, surroundings.environ)


def _states(check: str, version: str, found: list[tuple[Place, Found]], missing: Line) -> Iterable[Line]:
    there = [(place, one) for place, one in found if one.state != "missing"]
    if not there:
        yield missing
    for place, one in there:
        flag = " --global" if place.scope == "global" else ""
        yield _state(check, version, one, f"ledger-tui init{flag}")


def _state(check: str, version: str, found: Found, command: str) -> Line:
    name = clean_line(str(found.path), 300)
    if found.state == "foreign":
        return warn(check, f"{name}: {found.why}", f"Move it away, then run `{command}`.")
    if release(found.version) > release(version):
        return warn(check, f"{name} is of version {found.version}; this is {version}", "Update ledger-tui.")
    if found.version != version and found.state == "edited":
        text = f"{name} is of version {found.version}, edited since; this is {version}"
        return warn(check, text, f"Move it away, run `{command}`, and carry your edits over.")
    if found.version != version:
        fix = f"Run `{command}`, then restart OpenCode."
        return warn(check, f"{name} is of version {found.version}; this is {version}", fix)
    if found.state == "edited":
        return warn(check, f"{name}, {found.version}, edited since", "Nothing, if that was you and it works.")
    return ok(check, f"{name}, {found.version}")


def agent_is_there(surroundings: Surroundings) -> bool:
    """Whether OpenCode would load the ledger's own agent at its next start."""
    return any(look(place.agent).state in ("ours", "edited") for place in _places(surroundings))


def plugin_is_there(surroundings: Surroundings) -> bool:
    """Whether OpenCode loads the plugin from anywhere."""
    states = {look(place.plugin).state for place in _places(surroundings)}
    return bool(states & {"ours", "edited"})
