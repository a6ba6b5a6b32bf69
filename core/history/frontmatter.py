"""The head of a note: where it comes from. The same session gives the same bytes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from core.history.rows import SessionRow
from core.history.transcript import Bounds
from core.text import clean_line

SOURCE: Final = "opencode"
_DIRECTORY_CHARS: Final = 4_096
_TITLE_CHARS: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 253_402_300_799_000
"""The end of the year 9999."""


def front_matter(row: SessionRow, bounds: Bounds) -> str:
    """YAML between two lines of `---`.

    Always with the keys source, schema, session, started (UTC), directory and bounds (of the transcript the note was
    made from), in this order. Texts are written as JSON strings, which YAML reads as they are, whatever is in them.
    """
    limits = ", ".join(f"{name}: {value}" for name, value in msgspec.structs.asdict(bounds).items())
    lines = (
        f"source: {_quoted(SOURCE, 40)}",
        f"schema: {_quoted(row.schema.value, 40)}",
        f"session: {_quoted(row.id, 200)}",
        f"started: {_quoted(utc(row.time_created), 40)}",
        f"directory: {_quoted(row.directory, _DIRECTORY_CHARS)}",
        f"bounds: {{{limits}}}",
    )
    return "\n".join(("---", *lines, "---", ""))


def document(row: SessionRow, bounds: Bounds, markdown: str) -> str:
    """The whole note: front matter, the session's title as a heading, the sections."""
    title = clean_line(row.title, _TITLE_CHARS) or "Session without a title"
    return f"{front_matter(row, bounds)}\n# {title}\n\n{markdown}"


def utc(ms: int) -> str:
    """`ms` since the epoch as `2026-01-31T23:59:59Z`; times that no calendar has are cut to its ends."""
    moment = _EPOCH + timedelta(milliseconds=max(0, min(ms, _LAST_MS)))
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _quoted(text: str, limit: int) -> str:
    return json.dumps(clean_line(text, limit), ensure_ascii=False)
