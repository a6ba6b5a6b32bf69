"""Reading a configuration file, and changing one value of it without touching the rest."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from core.errors import FileError

MAX_BYTES = 1024 * 1024
"""A larger file is no configuration file."""

_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")


def read(path: Path) -> dict[str, Any]:
    """The file's values; empty when there is no such file.

    Raises:
        FileError: it cannot be read, or is not TOML; the message names the line.
    """
    text = _text(path)
    return {} if text is None else _parsed(path, text)


def change(path: Path, keys: tuple[str, ...], value: Any) -> None:
    """Set one value, keeping comments, order and every other line; the file is replaced as a whole or not at all.

    Args:
        path: the file; it and its folder are created when missing.
        keys: the key, or the table's key and the key in it.
        value: text, number, truth value or list of text.

    Raises:
        FileError: the file cannot be read, understood or written.
    """
    import tomlkit  # noqa: PLC0415 - only this function needs it

    text = _text(path) or ""
    _parsed(path, text)
    try:
        document = tomlkit.parse(text)
        place: Any = document
        for key in keys[:-1]:
            if key not in place:
                place[key] = tomlkit.table()
            place = place[key]
        place[keys[-1]] = value
        changed = tomlkit.dumps(document)
        if "\r\n" in text:
            changed = re.sub(r"\r?\n", "\r\n", changed)
        content = changed.encode()
    except (tomlkit.exceptions.TOMLKitError, UnicodeEncodeError) as error:
        raise FileError(f"cannot change {path}: {error}", "Edit the file by hand.") from error
    replace(path, content)


def replace(path: Path, content: bytes) -> None:
    """Write `content` to a new file beside `path` and move it into place; an existing file's mode is kept.

    A symbolic link stays one: the file it leads to is replaced.

    Raises:
        FileError: it cannot be written.
    """
    target = path.resolve()
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise _failed("write", path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise _failed("write", path, error) from error


def _text(path: Path) -> str | None:
    """The file's text with its line ends as they are; None when there is no such file."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileError(f"{path} is not a regular file", "Move it away; configuration is read from a file there.")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed("read", path, error) from error
    if len(content) > MAX_BYTES:
        raise FileError(f"{path} is larger than 1 MiB", "That is no configuration file; move it away.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}, line {line}: not UTF-8 text", "Save the file as UTF-8.") from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        found = _LINE.search(reason)
        line = int(found[1]) if found else text.count("\n") + 1
        what = _LINE.sub("", reason).replace("(at end of document)", "").strip()
        raise FileError(f"{path}, line {line}: {what}", "Mend that line, or move the file away.") from error
    except RecursionError as error:
        raise FileError(f"{path}: nested too deeply", "Mend the file, or move it away.") from error


def _failed(verb: str, path: Path, error: OSError) -> FileError:
    return FileError(
        f"cannot {verb} {path}: {error.strerror or error}", "Check the permissions of the file and folder."
    )
