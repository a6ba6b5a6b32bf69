"""Reading a dump file that anybody may have written: ours, the original plugin's, a damaged or a hostile one.

Entries are decoded one by one, so that a bad one costs only itself, a huge file neither memory nor a long pause of the
other threads, and a file that is cut off still gives what came before the cut.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from core.store.entries import DumpEntry
from core.text import clean, clean_line, clip

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_ITEMS: Final = 10_000
"""Entries looked at, good or bad."""

_FACT_CHARS: Final = 4_000
_TOPIC_CHARS: Final = 300
_LINE_CHARS: Final = 1_000
_LAST_MS: Final = 253_402_300_799_000
"""The end of the year 9999: later times cannot be shown."""
_SECONDS_BELOW: Final = 100_000_000_000
"""A number below this is taken for seconds; as ms it would lie before April 1973."""
_MAX_STEP: Final = 10**9
_SPACE: Final = re.compile(r"[ \t\r\n]*")


class DumpContents(msgspec.Struct, frozen=True, kw_only=True):
    """What a file held.

    Attributes:
        entries: the good entries, in the file's order; text is cleaned and clipped, ids are never empty.
        skipped: entries that were none.
        state: `partial`: there is more than is taken; `damaged`: it cannot be read, or only up to some place.
        problem: what is wrong with the file as a whole, one sentence; empty when nothing is.
    """

    entries: tuple[DumpEntry, ...] = ()
    skipped: int = 0
    state: Literal["whole", "partial", "damaged", "missing"] = "whole"
    problem: str = ""


class _Damaged(Exception):  # noqa: N818 - says how a file ends
    """From here on the file is not what it should be."""


def read_dump(path: Path, max_bytes: int = MAX_BYTES) -> DumpContents:
    """Read a dump file; links are followed. Never raises for what is in the file system or in the file."""
    try:
        data = _bytes(path, max_bytes + 1)
    except FileNotFoundError:
        return DumpContents(state="missing", problem="There is no such file.")
    except OSError as error:
        return DumpContents(state="damaged", problem=f"It cannot be read: {error.strerror or type(error).__name__}.")
    except ValueError:
        return DumpContents(state="damaged", problem="It cannot be read: the path is not valid.")
    if not data.strip():
        return DumpContents(state="damaged", problem="It is empty.")
    contents = _decode(data[:max_bytes].decode("utf-8-sig", "replace"))
    if len(data) > max_bytes:
        size = f"{max_bytes / (1024 * 1024):g} MiB"
        problem = f"It is larger than {size}; only the first {size} were read."
        return msgspec.structs.replace(contents, state="partial", problem=problem)
    return contents


def _bytes(path: Path, limit: int) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(file, "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise OSError(None, "it is not a plain file")
        return source.read(limit)


def _decode(text: str) -> DumpContents:
    found: dict[tuple[str, str], DumpEntry] = {}
    skipped = looked_at = 0
    state: Literal["whole", "partial", "damaged"] = "whole"
    problem = ""
    try:
        for topic, item in _items(text):
            if looked_at == MAX_ITEMS:
                state, problem = "partial", f"It holds more than {MAX_ITEMS:,} entries; the rest was not read."
                break
            looked_at += 1
            entry = _entry(item, topic)
            if entry is None or (entry.session, entry.id) in found:
                skipped += 1
            else:
                found[entry.session, entry.id] = entry
    except _Damaged as damage:
        state, problem = "damaged", f"{damage} after {looked_at} {'entry' if looked_at == 1 else 'entries'}."
    return DumpContents(entries=tuple(found.values()), skipped=skipped, state=state, problem=problem)


# --- the file's outer form -------------------------------------------------------------------------------------------


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 20 else float(digits)


_DECODER: Final = json.JSONDecoder(parse_int=_integer)


def _items(text: str) -> Iterator[tuple[str, object]]:
    """The entries of an array, or of an object of arrays by topic, each with that topic (else empty)."""
    at = _skip(text, 0)
    if text.startswith("[", at):
        at = yield from _array(text, at + 1, "")
    elif text.startswith("{", at):
        at = yield from _object(text, at + 1)
    else:
        raise _Damaged("It is not a JSON array of findings: it makes no sense")
    if _skip(text, at) != len(text):
        raise _Damaged("Something else follows the end of the list")


def _array(text: str, at: int, topic: str) -> Generator[tuple[str, object], None, int]:
    at = _skip(text, at)
    if text.startswith("]", at):
        return at + 1
    while True:
        value, at = _value(text, at)
        yield topic, value
        more, at = _comma_or(text, at, "]")
        if not more:
            return at


def _object(text: str, at: int) -> Generator[tuple[str, object], None, int]:
    single: dict[str, object] = {}
    at = _skip(text, at)
    more = not text.startswith("}", at)
    at += 0 if more else 1
    while more:
        key, at = _value(text, at)
        if not isinstance(key, str) or not text.startswith(":", at):
            raise _Damaged("It is damaged")
        at = _skip(text, at + 1)
        if text.startswith("[", at):
            at = yield from _array(text, at + 1, key)
        else:
            single[key], at = _value(text, at)
        more, at = _comma_or(text, at, "}")
    if single:
        yield "", single
    return at


def _comma_or(text: str, at: int, end: str) -> tuple[bool, int]:
    at = _skip(text, at)
    if text.startswith(",", at):
        return True, at + 1
    if text.startswith(end, at):
        return False, at + 1
    raise _Damaged("It is cut off or damaged")


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, at))
    except (ValueError, RecursionError) as error:
        raise _Damaged("It is cut off or damaged") from error
    return value, _skip(text, end)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


# --- one entry -------------------------------------------------------------------------------------------------------


def _entry(item: object, topic: str) -> DumpEntry | None:
    """The entry, cleaned; None when it is none."""
    if isinstance(item, str):
        item = {"fact": item}
    if not isinstance(item, dict):
        return None
    fact, topic = item.get("fact"), item.get("topic", topic)
    time, step = _time(item.get("establishedAt", 0)), _step(item.get("sourceStep", 0))
    if not isinstance(fact, str) or not isinstance(topic, str) or time is None or step is None:
        return None
    fact, topic = clip(clean(fact).strip(), _FACT_CHARS), clean_line(topic, _TOPIC_CHARS)
    if not fact or not topic:
        return None
    return DumpEntry(
        fact=fact,
        topic=topic,
        established_at=time,
        source_step=step,
        id=_line(item, "id") or _made_up_id(topic, fact),
        pinned=item.get("pinned") is True,
        source="user" if item.get("source") == "user" else "extraction",
        **{key: _line(item, key) for key in ("session", "origin", "call", "title", "directory")},
    )


def _line(item: dict[str, object], key: str) -> str:
    value = item.get(key)
    return clean_line(value, _LINE_CHARS) if isinstance(value, str) else ""


def _made_up_id(topic: str, fact: str) -> str:
    return hashlib.blake2b(f"{topic}\0{fact}".encode(), digest_size=6).hexdigest()


def _time(value: object) -> int | None:
    """A number of ms (or of seconds), or an ISO 8601 text, as ms since the epoch; None when it is neither."""
    if value is None:
        return 0
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
        except (ValueError, OverflowError):
            return None
    elif isinstance(value, int | float) and not isinstance(value, bool) and value < _SECONDS_BELOW:
        value = value * 1000
    return _whole(value, _LAST_MS)


def _step(value: object) -> int | None:
    return 0 if value is None else _whole(value, _MAX_STEP)


def _whole(value: object, last: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= last:
        return None
    return int(value)
