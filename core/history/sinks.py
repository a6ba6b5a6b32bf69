"""Where notes go."""

from __future__ import annotations

from typing import Final, Protocol

import msgspec

from core.errors import UsageError
from core.history.folder import NOTES, Folder, file_name
from core.text import clean_line

FILES: Final = "files"
COGNEE: Final = "cognee"
SINKS: Final = (FILES, COGNEE)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """One note on its way.

    Attributes:
        session: id of the session; a sink has at most one note of each.
        note: the whole note, Markdown with its front matter.
    """

    session: str
    note: str


class Sink(Protocol):
    """A place that keeps notes. Methods may block: they are called in a thread, one at a time.

    All raise FileError or ServerError when it cannot be done; nothing has changed then.
    """

    @property
    def name(self) -> str:
        """Its name, under which is recorded what it has."""
        ...

    def holds(self, session: str) -> bool:
        """Whether what was put there is still there."""
        ...

    def put(self, delivery: Delivery) -> None:
        """Take a note, in place of an earlier one of the same session; when this returns it is there for good."""
        ...

    def drop(self, session: str) -> None:
        """Forget the note of a session; there need not be one."""
        ...

    def finish(self) -> None:
        """The run has come to its end: do what is done once for all notes."""
        ...

    def close(self) -> None:
        """No more notes come."""
        ...


class FilesSink:
    """Markdown files in the output folder, one a session."""

    name = FILES

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def holds(self, session: str) -> bool:
        """Whether the file is there, whatever has been written into it since."""
        return (self._folder.path / note_name(session)).is_file()

    def put(self, delivery: Delivery) -> None:
        """Write the file as a whole. Raises FileError."""
        self._folder.write(note_name(delivery.session), delivery.note)

    def drop(self, session: str) -> None:
        """Remove the file. Raises FileError."""
        self._folder.remove(note_name(session))

    def finish(self) -> None:
        """Nothing: each file is there for good."""

    def close(self) -> None:
        """Nothing."""


def open_sink(name: str, folder: Folder) -> Sink:
    """The sink `name`; to be closed.

    Raises:
        UsageError: there is none of that name, or its package is not installed.
    """
    if name == FILES:
        return FilesSink(folder)
    if name == COGNEE:
        from core.history.cognee_sink import CogneeSink  # noqa: PLC0415 - an optional extra that takes 9 s to load

        return CogneeSink()
    raise UsageError(f"there is no sink {clean_line(name, 60)!r}", f"Use one of: {', '.join(SINKS)}.")


def note_name(session: str) -> str:
    """The file of a session's note, relative to the output folder."""
    return f"{NOTES}/{file_name(session, 'md')}"
