"""Where OpenCode's databases are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from core.errors import FileError
from core.text import clean_line

_MAIN: Final = "opencode.db"
_CHANNELS: Final = "opencode-*.db"
"""Builds other than the released one keep a database of their own: opencode-dev.db and the like."""


def data_folder(environ: Mapping[str, str]) -> Path:
    """OpenCode's data folder: `$XDG_DATA_HOME/opencode`, by default `~/.local/share/opencode`."""
    base = environ.get("XDG_DATA_HOME")
    if base:
        return Path(base).expanduser().absolute() / "opencode"
    home = environ.get("HOME")
    return (Path(home) if home else Path.home()).absolute() / ".local" / "share" / "opencode"


def find_databases(explicit: Path | None = None, environ: Mapping[str, str] | None = None) -> list[Path]:
    """The databases to read, the released OpenCode's first, then those of other channels by name.

    `explicit` goes before `OPENCODE_DB`, and that before the data folder. Either may name a folder, whose databases are
    taken; a relative `OPENCODE_DB` is relative to the data folder, as OpenCode has it. Where a folder holds no
    database, but sessions as JSON files, the folder itself is the answer.

    Raises:
        FileError: there is none.
    """
    variables = os.environ if environ is None else environ
    named = variables.get("OPENCODE_DB", "")
    if explicit is not None:
        return _at(explicit.expanduser().absolute(), "Name OpenCode's database with --db.")
    if named and named != ":memory:":
        return _at(data_folder(variables) / Path(named).expanduser(), "It is what OPENCODE_DB names.")
    return _at(data_folder(variables), "Name OpenCode's database with --db, or run OpenCode first.")


def _at(place: Path, hint: str) -> list[Path]:
    shown = clean_line(str(place), 300)
    try:
        if place.is_dir():
            found = _in_folder(place)
            if not found:
                raise FileError(f"no {_MAIN}, {_CHANNELS} or storage/session in {shown}", hint)
            return found
        if not place.exists():
            raise FileError(f"{shown} does not exist", hint)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {shown}: {getattr(error, 'strerror', None) or error}", hint) from error
    return [place]


def _in_folder(folder: Path) -> list[Path]:
    main = folder / _MAIN
    found = [main] if main.is_file() else []
    found += sorted(path for path in folder.glob(_CHANNELS) if path.is_file())
    if not found and (folder / "storage" / "session").is_dir():
        return [folder]
    return found
