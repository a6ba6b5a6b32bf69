"""Checks of what `init` puts into place."""

from __future__ import annotations

from collections.abc import Iterable

from core.doctor.lines import Line, ok, warn
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings
from core.installing.files import Found, look
from core.installing.marks import release
from core.installing.places import Place, all_places
from core.text import clean_line

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


def agent_file(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """The file of the agent that extracts."""
    found = [(place, look(place.agent)) for place in _places(surroundings)]
    missing = warn("agent file", "not installed: an agent made for other work extracts", _INIT)
    yield from _states("agent file", surroundings.version, found, missing)


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
    if found.version != version:
        fix = f"Run `{command}`, then restart OpenCode."
        return warn(check, f"{name} is of version {found.version}; this is {version}", fix)
    if found.state == "edited":
        return warn(check, f"{name}, {found.version}, edited since", "Nothing, if that was you and it works.")
    return ok(check, f"{name}, {found.version}")


def plugin_is_there(surroundings: Surroundings) -> bool:
    """Whether OpenCode loads the plugin from anywhere."""
    states = {look(place.plugin).state for place in _places(surroundings)}
    return bool(states & {"ours", "edited"})
