"""A recorded event stream, with the pauses it is to be played with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from core.ledger.effects import EXTRACTION_TITLE
from core.opencode.recorded import RecordedFrames, open_recording

Event = dict[str, Any]

MAX_PAUSE_MS: Final = 3_000
"""Longer pauses are cut to this."""
_SERVERS_OWN: Final = ("server.", "plugin.", "catalog.", "reference.", "integration.", "installation.")
"""Events about the recorded server itself: the replaying one sends its own."""
_ID_BITS: Final = 36
"""An event's id begins with its time: these low bits of the ms, then a 12-bit counter, in 12 hex digits (1.18.33)."""
_MAX_FRAME_BYTES: Final = 64 * 1024 * 1024


class Recorded(msgspec.Struct, frozen=True):
    """One event of a recording.

    Attributes:
        pause: ms since the event before it, at the recorded speed; 0 to MAX_PAUSE_MS.
        t: when it happened, ms since the epoch.
        event: as `/event` sends it.
    """

    pause: int
    t: int
    event: Event


def load(path: Path) -> list[Recorded]:
    """Read a recording: JSON lines or an SSE capture, gzip allowed. Lines that are no event are left out.

    Raises:
        FileError: the file cannot be read.
    """
    return timed(_events(RecordedFrames(open_recording(path), _MAX_FRAME_BYTES)))


def timed(events: Iterable[Event]) -> list[Recorded]:
    """Give events their pauses; those of the recorded server itself and of a ledger's own sessions are left out."""
    kept = _without_own([event for event in events if not str(event["type"]).startswith(_SERVERS_OWN)])
    base = next(filter(None, map(_told_time, kept)), 0)
    recorded: list[Recorded] = []
    last = 0
    for event in kept:
        t = max(last, _id_time(event, base) or last)
        pause = min(t - last, MAX_PAUSE_MS) if last else 0
        recorded.append(Recorded(pause, t, event))
        last = t
    return recorded


def session_of(event: Event) -> str:
    """The session an event is about; empty when it is about none."""
    properties = event["properties"]
    info = properties.get("info")
    own = info.get("id") if isinstance(info, dict) and event["type"].startswith("session.") else None
    session = own or properties.get("sessionID")
    return session if isinstance(session, str) else ""


def _events(frames: Iterable[bytes]) -> Iterator[Event]:
    for frame in frames:
        try:
            event = json.loads(frame)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            event = event.get("payload", event)
        if isinstance(event, dict) and isinstance(event.get("type"), str) and event["type"] != "sync":
            properties = event.get("properties")
            yield {**event, "properties": properties if isinstance(properties, dict) else {}}


def _without_own(events: list[Event]) -> list[Event]:
    infos = [event["properties"].get("info") for event in events if event["type"].startswith("session.")]
    own = {info.get("id") for info in infos if isinstance(info, dict) and info.get("title") == EXTRACTION_TITLE}
    return [event for event in events if session_of(event) not in own]


def _told_time(event: Event) -> int:
    """A time the event tells in full, ms since the epoch; 0 when it tells none."""
    properties = event["properties"]
    told = properties.get("time")
    info = properties.get("info")
    if isinstance(info, dict) and isinstance(info.get("time"), dict):
        told = info["time"].get("updated") or info["time"].get("created")
    return int(told) if isinstance(told, int | float) else 0


def _id_time(event: Event, base: int) -> int:
    """The time in the event's id, completed with the high bits of `base`, which is less than a year away; else 0."""
    digits = str(event.get("id", ""))[4:16]
    try:
        low = int(digits, 16) >> 12
    except ValueError:
        return 0
    half = 1 << (_ID_BITS - 1)
    return base + (low - base + half) % (1 << _ID_BITS) - half
