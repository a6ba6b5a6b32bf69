"""The JSON of a part, a message or a file. JavaScript wrote it, whose texts may be cut within a character."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

NOT_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises for contents that are no JSON, or nested too deep."""

_ESCAPE: Final = re.compile(
    rb"\\(?:ud[89ab][\da-f]{2}(?:\\ud[c-f][\da-f]{2})?|ud[c-f][\da-f]{2}|.)", re.IGNORECASE | re.DOTALL
)
_PAIR_BYTES: Final = 12


def read_object(data: bytes | None) -> dict[str, Any] | None:
    """The object in `data`, or None; half a character, as a cut text ends with, becomes U+FFFD."""
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except NOT_JSON:
        if b"\\ud" not in data and b"\\uD" not in data:
            return None
    try:
        return msgspec.json.decode(_ESCAPE.sub(_whole, data), type=dict[str, Any])
    except NOT_JSON:
        return None


def _whole(escape: re.Match[bytes]) -> bytes:
    found = escape[0]
    is_half = len(found) < _PAIR_BYTES and found[1:3].lower() == b"ud"
    return b"\\ufffd" if is_half else found
