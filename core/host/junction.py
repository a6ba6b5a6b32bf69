"""Where several lines meet: each root session is told of by one of them at a time, and each fact once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from core.host.once import Once
from core.host.ownership import Ownership
from core.ledger import observations as seen
from core.opencode.sessions import remember
from core.opencode.sink import ConnectionState, Peers, Sink

_REQUESTS: Final = 1_000


class Way(Protocol):
    """A line, as the junction sees it."""

    @property
    def is_live(self) -> bool:
        """Whether it brings events at present."""
        ...

    def root_of(self, session: str) -> str | None:
        """Root session above an agent session; None when it is not known there."""
        ...

    def read_anew(self, root: str) -> None:
        """Read a root session back and tell all of it again."""
        ...


class Junction:
    """Passes on to the host what the owner of each root session tells, unless it was told before.

    Args:
        host: is told.
        clock: ms since the epoch.
    """

    def __init__(self, host: Sink, clock: Callable[[], int]) -> None:
        self._host = host
        self._clock = clock
        self._lines: list[Way] = []
        self._owners: Ownership[Way] = Ownership(lambda line: line.is_live)
        self._told: dict[str, Once] = {}
        self._orphans: set[str] = set()
        """Root sessions whose process ended at work: when they rest, so do all their sub-agents."""
        self._loading: dict[str, set[Way]] = {}
        self._asked: dict[str, Way] = {}

    # What the manager of the lines asks

    def add(self, line: Way) -> None:
        """A line more; it speaks through a :class:`Side`."""
        self._lines.append(line)

    def drop(self, line: Way) -> None:
        """A line is gone for good: what it had goes to whoever can read what it left behind."""
        self._lines.remove(line)
        for root in list(self._loading):
            self.loading(line, root, on=False)
        for root, rival in self._owners.drop(line):
            live = sorted((other for other in self._lines if other.is_live), key=lambda other: other is not rival)
            heir = next(iter(live), None)
            if heir is None:
                self._rest(root)
            else:
                self._orphans.add(root)
                self._owners.give(root, heir)
                heir.read_anew(root)

    def owner(self, root: str) -> Way | None:
        """The line a root session belongs to."""
        return self._owners.owner(root)

    def of(self, line: Way) -> list[str]:
        """Root sessions that belong to a line."""
        return self._owners.of(line)

    def asker(self, request: str) -> Way | None:
        """The line of the process that waits for the answer to a request."""
        return self._asked.get(request)

    # What the lines tell

    def claim(self, line: Way, root: str) -> bool:
        """See :class:`core.opencode.sink.Peers`."""
        return self._owners.works(line, root)

    def missing(self, line: Way, root: str) -> None:
        """See :class:`core.opencode.sink.Peers`: the processes do not share a database after all."""
        if self._owners.owner(root) is line:
            self._owners.forget(root)
            self._rest(root)

    def observe(self, line: Way, root: str, told: seen.Observation) -> None:
        """A fact, from whichever line."""
        if not root:
            self._host.observe(root, told)
            return
        once = self._told.setdefault(root, Once())
        is_deletion = isinstance(told, seen.SessionDeleted)  # true whoever says so: they share the database
        if _is_busy(told) and self._owners.works(line, root):
            line.read_anew(root)
        if once.knows(told):
            return
        if is_deletion or self._owners.is_owner(line, root) or (self._owners.rests(root) and _lasts(told)):
            once.note(told)
            self._pass_on(line, root, told)
        elif _lasts(told):
            self._owners.passed_over(line, root)

    def loading(self, line: Way, root: str, *, on: bool) -> None:
        """A line begins or ends to read a root session's history."""
        readers = self._loading.setdefault(root, set())
        before = bool(readers)
        (readers.add if on else readers.discard)(line)
        if not readers:
            del self._loading[root]
        if bool(readers) != before:
            self._host.loading(root, bool(readers))

    # How

    def _pass_on(self, line: Way, root: str, told: seen.Observation) -> None:
        if isinstance(told, seen.PermissionAsked):
            remember(self._asked, told.id, line, _REQUESTS)
        self._host.observe(root, told)
        if told.session != root:
            return
        if _is_busy(told):
            self._owners.busy(root)
            self._orphans.discard(root)
        elif isinstance(told, seen.StatusChanged):
            if root in self._orphans:
                self._rest(root)
            if (rival := self._owners.idle(root)) is not None:
                self._owners.give(root, rival)
                rival.read_anew(root)
        elif isinstance(told, seen.SessionDeleted):
            self._owners.forget(root)
            self._told[root] = Once()
            self._told[root].note(told)

    def _rest(self, root: str) -> None:
        """The process that worked in a root session is gone, so nothing of it is at work any more."""
        self._orphans.discard(root)
        once = self._told.setdefault(root, Once())
        for session in sorted(once.busy, key=lambda session: session == root):
            told = seen.StatusChanged(t=self._clock(), session=session, state="idle")
            once.note(told)
            self._host.observe(root, told)


class Side:
    """Implements :class:`core.opencode.sink.Sink` for one line.

    Args:
        junction: where it leads to.
        line: whose side it is.
        host: told what every line may tell.
        connection: told the state of the way to this server.
    """

    def __init__(self, junction: Junction, line: Way, host: Sink, connection: Callable[..., None]) -> None:
        self._junction = junction
        self._line = line
        self._host = host
        self._connection = connection

    def peers(self, attached_at: Callable[[], int]) -> Peers:
        """For the follower of this line."""
        line, junction = self._line, self._junction
        return Peers(
            claim=lambda root: junction.claim(line, root),
            missing=lambda root: junction.missing(line, root),
            attached_at=attached_at,
        )

    def root(self, info: seen.SessionInfo, updated: int) -> None:
        """See :class:`core.opencode.sink.Sink`."""
        self._host.root(info, updated)

    def loading(self, root: str, on: bool) -> None:
        """See :class:`core.opencode.sink.Sink`."""
        self._junction.loading(self._line, root, on=on)

    def activity(self, root: str, updated: int) -> None:
        """See :class:`core.opencode.sink.Sink`."""
        self._host.activity(root, updated)

    def observe(self, root: str, observation: seen.Observation) -> None:
        """See :class:`core.opencode.sink.Sink`."""
        self._junction.observe(self._line, root, observation)

    def connection(self, state: ConnectionState, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        """See :class:`core.opencode.sink.Sink`."""
        self._connection(self._line, state, detail, attempt, retry_at)

    def warn(self, code: str, message: str, root: str = "") -> None:
        """See :class:`core.opencode.sink.Sink`; of a session that another process has nothing is said."""
        if not root or self._junction.owner(root) in (None, self._line):
            self._host.warn(code, message, root)


def _is_busy(told: seen.Observation) -> bool:
    return isinstance(told, seen.StatusChanged) and told.state == "busy"


def _lasts(told: seen.Observation) -> bool:
    """Whether it is written in the database, for every process to read; what one is doing now is not."""
    return not isinstance(told, seen.StatusChanged | seen.SessionInfo | seen.PermissionAsked | seen.PermissionAnswered)
