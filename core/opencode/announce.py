"""Telling the sink: observations, root sessions, and warnings that do not repeat themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from core.errors import ServerError
from core.opencode.assemble import Assembler, Told
from core.opencode.events import SessionChanged
from core.opencode.facts import moment
from core.opencode.sink import Sink
from core.text import clean_line

_MAX_WARNINGS: Final = 1_000


class Announcer:
    """Speaks to one sink about the sessions of one assembler."""

    def __init__(self, sink: Sink, assembler: Assembler, now: Callable[[], int]) -> None:
        self._sink = sink
        self._assembler = assembler
        self._now = now
        self._titles: dict[str, str] = {}
        self._warned: set[str] = set()

    def tell(self, told: Iterable[Told]) -> None:
        """Pass observations on."""
        for root, observation in told:
            self._sink.observe(root, observation)

    def show(self, root: str, updated: int, *, anew: bool = False) -> None:
        """Say that a root session is there, the first time, when its title changed, or anew."""
        info = self._assembler.describe(root, self._now())
        if info is not None and (anew or self._titles.get(root) != info.title):
            self._titles[root] = info.title
            self._sink.root(info, updated)

    def noted(self, data: SessionChanged, root: str) -> None:
        """An info arrived: the title may be new, and when the session was last changed is."""
        if data.info is not None:
            updated = moment(data.info.time.updated)
            self.show(root, updated)
            self._sink.activity(root, updated)

    def loading(self, root: str, *, on: bool) -> None:
        """Reading a session's history begins or ends."""
        self._sink.loading(root, on)

    def forget(self, root: str) -> None:
        """A root session is gone."""
        self._titles.pop(root, None)

    def no_such_session(self, id: str) -> None:
        """The session somebody asked for does not exist, or not here."""
        self._sink.warn("no_such_session", f"There is no session {clean_line(id, 80)} in this directory")

    def cannot_read(self, id: str, error: ServerError) -> None:
        """A session cannot be read at present."""
        self.warn_once("session_unreadable", f"Session {self._name(id)} cannot be read: {error}", id)

    def left_out(self, id: str, count: int) -> None:
        """A session has more messages than are read."""
        message = f"Session {self._name(id)}: only its last {count} messages were read"
        self.warn_once("messages_left_out", message, id)

    def warn_once(self, code: str, message: str, session: str = "") -> None:
        """A warning, unless the same was given before."""
        if message not in self._warned and len(self._warned) < _MAX_WARNINGS:
            self._warned.add(message)
            self._sink.warn(code, message, self._assembler.root_of(session) or "")

    def _name(self, id: str) -> str:
        info = self._assembler.describe(id, 0)
        return f'"{info.title}"' if info is not None and info.title else clean_line(id, 80)
