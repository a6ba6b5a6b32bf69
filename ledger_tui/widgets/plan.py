"""Where everything goes: from the size of the terminal to the regions of the widgets. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from textual.geometry import Region

from ledger_tui.actions import PANES

MIN_WIDTH, MIN_HEIGHT = 60, 20
"""The smallest terminal the dashboard is drawn in."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The regions by widget id, and how the panes share the room.

    `mode` is `full` (all panes), `side` or `stack` (Steps and one other), `single` (one), `small` (a sentence).
    """

    mode: str
    regions: dict[str, Region]
    tabs: dict[str, tuple[str, ...]]
    """By visible pane: the panes that share its place, itself included."""


def mode_of(width: int, height: int) -> str:
    """How many panes a terminal of this size takes."""
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        return "small"
    if width >= 100:
        return "full" if height >= 30 else "side"
    return "stack" if width >= 80 and height >= 22 else "single"


def plan(width: int, height: int, *, active: str, other: str, zoomed: bool, banner: bool, session: bool) -> Plan:
    """Lay out the screen.

    Args:
        width: cells.
        height: lines.
        active: the pane that has the keys.
        other: the pane beside or under Steps where only two fit.
        zoomed: the active pane takes the room of all.
        banner: whether there is a banner.
        session: whether there is a session; without one the welcome text takes the room of the panes.
    """
    mode = mode_of(width, height)
    if mode == "small":
        return Plan(mode, {"welcome": Region(0, 0, width, height)}, {})
    head = 2 if mode == "full" else 1
    regions = {"status": Region(0, 0, width, head), "hints": Region(0, height - 1, width, 1)}
    if banner:
        regions["banner"] = Region(0, head, width, 1)
        head += 1
    room = Region(0, head, width, height - head - 1)
    if not session:
        return Plan(mode, regions | {"welcome": room}, {})
    if zoomed or mode == "single":
        return Plan(mode, regions | {active: room}, {active: PANES})
    if mode == "full":
        return Plan(mode, regions | _full(room), {pane: (pane,) for pane in PANES})
    gauges = Region(0, room.bottom - 1, width, 1)
    panes = _two(Region(0, room.y, width, room.height - 1), other, beside=mode == "side")
    return Plan(mode, regions | panes | {"gauges": gauges}, {"steps": ("steps",), other: PANES[1:]})


def _full(room: Region) -> dict[str, Region]:
    """Steps and Findings, Escalation and Extractions, the Log."""
    first = room.height * 11 // 20
    second = max(6, room.height * 4 // 20)
    half = room.width // 2
    middle, last = room.y + first, room.y + first + second
    return {
        "steps": Region(0, room.y, half, first),
        "findings": Region(half, room.y, room.width - half, first),
        "meters": Region(0, middle, half, second),
        "extractions": Region(half, middle, room.width - half, second),
        "log": Region(0, last, room.width, room.height - first - second),
    }


def _two(room: Region, other: str, *, beside: bool) -> dict[str, Region]:
    if beside:
        half = room.width // 2
        return {
            "steps": Region(0, room.y, half, room.height),
            other: Region(half, room.y, room.width - half, room.height),
        }
    first = room.height // 2
    return {
        "steps": Region(0, room.y, room.width, first),
        other: Region(0, room.y + first, room.width, room.height - first),
    }
