"""A ledger that exists only in memory, for the dashboard's tests and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from core.ledger.commands import (
    Accept,
    Add,
    Command,
    Delete,
    Edit,
    ExtractNow,
    Mute,
    Pin,
    Reject,
    ResetMeter,
    Resolve,
    TellAgent,
    Undo,
)
from core.views import Answers, Estimate, FindingView, Pane, Reply, ServerView, SessionItem, SessionView, TopicView
from tests.ui.example import NOW, finding, live_server

PANES: tuple[Pane, ...] = ("status", "steps", "findings", "meters", "extractions", "log", "sessions")


class FakeHost:
    """Implements `core.views.LedgerHost`; records commands and carries the simple ones out."""

    def __init__(self, view: SessionView | None = None, server: ServerView | None = None, *, read_only: bool = False):
        self.server_view = server or live_server()
        self.current = view
        self.commands: list[Command] = []
        self.speeds: list[float] = []
        self.retries = 0
        self.replies: list[tuple[str, Reply]] = []
        self.answers: list[tuple[str, Answers | None]] = []
        self.selections: list[str | None] = []
        self.items: list[SessionItem] = []
        self.refuse = ""
        self._read_only = read_only
        self._revisions: dict[Pane, int] = dict.fromkeys(PANES, 0)
        self._listeners: list[Callable[[], None]] = []
        self.started = self.stopped = 0
        self.views = 0

    @property
    def server(self) -> ServerView:
        return self.server_view

    @property
    def sessions(self) -> Sequence[SessionItem]:
        return self.items

    @property
    def selected(self) -> str | None:
        return self.current.root if self.current else None

    @property
    def read_only(self) -> bool:
        return self._read_only

    def revision(self, pane: Pane) -> int:
        return self._revisions[pane]

    def view(self) -> SessionView | None:
        self.views += 1
        return self.current

    def receipt(self, finding: str) -> FindingView | None:
        if self.current is None:
            return None
        paired = [each for pair in self.current.pairs for each in (pair.old, pair.new)]
        listed = [found for topic in self.current.topics for found in topic.findings]
        every = [*listed, *self.current.held_findings, *paired]
        return next((found for found in every if found.id == finding), None)

    def estimate(self) -> Estimate:
        return Estimate(steps=self.current.earlier if self.current else 0, prompt_chars=23_480, tokens=5_870)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def select(self, root: str | None) -> None:
        self.selections.append(root)

    def reply_permission(self, id: str, reply: Reply) -> None:
        self.replies.append((id, reply))

    def reply_question(self, id: str, answers: Answers | None) -> None:
        self.answers.append((id, answers))

    def retry(self) -> None:
        self.retries += 1

    def set_speed(self, speed: float) -> None:
        self.speeds.append(speed)
        self.serve(msgspec.structs.replace(self.server_view, speed=speed))

    async def start(self) -> None:
        self.started += 1

    async def stop(self) -> None:
        self.stopped += 1

    # -- what tests do to it

    def touch(self, *panes: Pane) -> None:
        """These panes (all when none is named) changed."""
        for pane in panes or PANES:
            self._revisions[pane] += 1
        for listener in list(self._listeners):
            listener()

    def show(self, view: SessionView | None, *panes: Pane) -> None:
        """Replace the view."""
        self.current = view
        self.touch(*panes)

    def change(self, *panes: Pane, **fields: Any) -> None:
        """Replace fields of the view."""
        assert self.current
        self.show(msgspec.structs.replace(self.current, **fields), *panes)

    def serve(self, server: ServerView) -> None:
        """Replace the server."""
        self.server_view = server
        self.touch("status")

    # -- commands

    def command(self, command: Command) -> tuple[str, bool]:
        self.commands.append(command)
        if self.refuse:
            return self.refuse, False
        return self._carry_out(command), True

    def _carry_out(self, command: Command) -> str:
        assert self.current
        match command:
            case Pin(ids=ids, on=on):
                self._each(lambda f: msgspec.structs.replace(f, pinned=on) if f.id in ids else f)
            case Delete(ids=ids):
                self._each(lambda f: None if f.id in ids else f)
            case Accept(ids=ids) | Reject(ids=ids):
                self._decide(ids, accepted=isinstance(command, Accept))
            case Resolve(pair=pair):
                self.change("findings", "extractions", pairs=[one for one in self.current.pairs if one.id != pair])
            case Edit(id=key, fact=fact):
                self._each(lambda f: msgspec.structs.replace(f, fact=fact) if f.id == key else f)
            case Add(fact=fact, topic=topic):
                added = finding(f"f{len(self.commands)}+", fact, topic, 0, NOW, source="user")
                self.change(
                    "findings",
                    topics=(*self.current.topics, TopicView(topic=topic, findings=(added,), cap=5, muted=False)),
                )
            case Mute(topic=topic, on=on):
                topics = [msgspec.structs.replace(t, muted=on) if t.topic == topic else t for t in self.current.topics]
                self.change("findings", topics=topics)
            case Undo():
                return "Took back: delete"
            case ResetMeter() | ExtractNow() | TellAgent():
                return "Extraction of 7 steps is under way."
        return "Done."

    def _decide(self, ids: Sequence[str], *, accepted: bool) -> None:
        assert self.current
        mine = [found for found in self.current.held_findings if found.id in ids]
        rest = [found for found in self.current.held_findings if found.id not in ids]
        added = [
            TopicView(topic=f.topic, findings=(msgspec.structs.replace(f, state="accepted"),), cap=5, muted=False)
            for f in mine
            if accepted
        ]
        topics = (*self.current.topics, *added)
        self.change("findings", "extractions", held_findings=rest, held=len(rest), topics=topics)

    def _each(self, change: Callable[[FindingView], FindingView | None]) -> None:
        assert self.current
        topics = []
        for topic in self.current.topics:
            kept = tuple(new for found in topic.findings if (new := change(found)) is not None)
            topics.append(msgspec.structs.replace(topic, findings=kept))
        self.change("findings", topics=topics, findings=sum(len(topic.findings) for topic in topics))
