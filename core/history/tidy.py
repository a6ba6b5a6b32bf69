"""A session from columns that may hold anything."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.history.rows import TITLE_CHARS, Schema, SessionRow
from core.history.v1 import as_int
from core.text import clean_line, mask_line

_DIRECTORY_CHARS: Final = 4_096
_NAME_CHARS: Final = 200


def session_row(
    *,
    id: object,
    title: object,
    directory: object,
    parent: object,
    schema: Schema,
    created: object,
    updated: object,
    archived: object,
) -> SessionRow:
    """The row, its texts cleaned; counts, cost, tokens, model and agent are left to be filled in."""
    born = as_int(created)
    return SessionRow(
        id=str(id),
        title=mask_line(_text(title), TITLE_CHARS),
        directory=_directory(_text(directory)),
        parent=_text(parent),
        schema=schema,
        time_created=born,
        time_updated=as_int(updated) or born,
        archived=bool(as_int(archived)),
    )


@lru_cache(maxsize=256)
def name(value: str) -> str:
    """A name, of a model or an agent, as one line."""
    return clean_line(value, _NAME_CHARS)


@lru_cache(maxsize=256)
def _directory(value: str) -> str:
    return clean_line(value, _DIRECTORY_CHARS)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
