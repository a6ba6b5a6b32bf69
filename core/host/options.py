"""What the command line says about where to attach."""

from __future__ import annotations

from pathlib import Path

import msgspec


class HostOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how to attach.

    Attributes:
        directory: the project; absolute.
        server: URL; None: look for a server on loopback.
        password: None: none is sent.
        session: root session to show from the start.
        latest: show the most recently active session without asking.
        replay: the server plays a recording: the screen must say so.
        resume: session with whose findings the followed session begins.
        state_dir: where the ledger keeps its own files; None: the user's state folder.
    """

    directory: Path
    server: str | None = None
    password: str | None = None
    username: str = "opencode"
    session: str | None = None
    latest: bool = False
    replay: bool = False
    resume: str | None = None
    state_dir: Path | None = None
