"""Text on standard output and standard error, safe for a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

from core.errors import FileError

MAX_ERROR_CHARS = 2000
_ENDS = (".", "!", "?", "…")


def say(text: str) -> None:
    """Write text and a line feed to standard output.

    Raises:
        FileError: the program was started with its standard output closed.
    """
    from core.text import clean  # noqa: PLC0415

    _stdout().write(clean(text) + "\n")


def say_json(value: Any) -> None:
    """Write a value as indented JSON to standard output; everything beyond ASCII is escaped.

    Raises:
        FileError: the program was started with its standard output closed.
    """
    _stdout().write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def complain(text: str) -> None:
    """Write one line to standard error, if there is one; a full stop is added where the last sentence has no end."""
    from core.text import clean_line  # noqa: PLC0415

    if sys.stderr is not None:
        line = clean_line(text, MAX_ERROR_CHARS)
        sys.stderr.write(f"ledger-tui: {line}{'' if line.endswith(_ENDS) else '.'}\n")


def _stdout() -> TextIO:
    if sys.stdout is None:
        raise FileError("standard output is closed", "Start the command with its output led somewhere.")
    return sys.stdout
