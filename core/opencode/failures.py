"""What went wrong on OpenCode's side, as it words it; and the one error of this package's own."""

from __future__ import annotations

import json

from core.errors import ServerError
from core.text import mask_line

_DETAIL_CHARS = 300


class TooLarge(ServerError):  # noqa: N818 - named like its siblings in core.errors
    """An answer above the limit; ask for less at a time."""


def detail_of(body: bytes) -> str:
    """What the body of an error says, on one harmless line, secrets masked; empty when nothing can be read."""
    try:
        error = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(error, dict):
        return ""
    for source, key in ((error.get("data"), "message"), (error, "message"), (error, "name"), (error, "_tag")):
        if isinstance(source, dict) and isinstance(source.get(key), str):
            return mask_line(source[key], _DETAIL_CHARS)
    return ""
