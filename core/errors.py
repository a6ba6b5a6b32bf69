"""Every error a user is meant to read, as one tree.

::

    LedgerError                 exit code 1
    ├── UsageError              exit code 2: a flag, a setting or an argument is wrong
    ├── FileError               exit code 1: a file cannot be read, written or understood
    └── ServerError             exit code 3: the server did not do what was asked
        ├── Unreachable         nothing answers at that address
        ├── Refused             401 or 403: the password is missing or wrong
        ├── NotFound            404: the session, message or part does not exist
        └── WrongServer         something answers, but it is not OpenCode

:class:`OutputClosed` stands apart: it is no failure. Anything else that is raised is a fault of the program itself.
"""

from __future__ import annotations

from typing import ClassVar


class LedgerError(Exception):
    """What failed, on what, and what the user can do about it.

    Attributes:
        message: what failed, on what; no full stop at its end.
        hint: what to do, as one or more sentences; empty when nothing useful can be said.
        exit_code: exit code of a command that ends with this error.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """One line: "message. hint"."""
        message = " ".join(self.message.split()).rstrip(".")
        hint = " ".join(self.hint.split())
        return f"{message}. {hint}" if hint else message


class UsageError(LedgerError):
    """A flag, a setting or an argument is wrong."""

    exit_code: ClassVar[int] = 2


class FileError(LedgerError):
    """A file cannot be read, written or understood."""


class ServerError(LedgerError):
    """The server failed, or what it answered is of no use."""

    exit_code: ClassVar[int] = 3


class Unreachable(ServerError):  # noqa: N818 - a state of the server, named as the user sees it
    """Nothing answers at the server's address, or the answer did not come in time."""


class Refused(ServerError):  # noqa: N818
    """The server answered 401 or 403."""


class NotFound(ServerError):  # noqa: N818
    """The server answered 404: what was asked for does not exist there."""


class WrongServer(ServerError):  # noqa: N818
    """Something answers at that address, but not as OpenCode does."""


class OutputClosed(Exception):  # noqa: N818 - nothing failed: whoever read the output has seen enough
    """Nobody reads standard output any more; the command ends quietly, as a Unix tool does that SIGPIPE ends."""

    exit_code = 141
    """128 + SIGPIPE."""
