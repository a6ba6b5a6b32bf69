"""A server that speaks OpenCode's HTTP and event stream from a recording; its clients cannot tell the difference."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from core.clock import now_ms
from core.demo.own import OwnTurns
from core.demo.pace import Pace
from core.demo.player import Player
from core.demo.recording import Recorded
from core.demo.routes import Routes
from core.demo.sender import Sender
from core.demo.state import Info, State
from core.loopback import Limits, LoopbackServer

LEAD_IN_SECONDS: Final = 0.7
"""From the first listener to the first event, so that the listener has read what there is (nothing) before."""
_LIMITS: Final = Limits(body_bytes=64 * 1024 * 1024, handlers=64)


class ReplayServer:
    """Serves one recording on loopback; it starts to play when the first event stream is opened, and stays at the end.

    Args:
        events: what to play, in order; a generator is asked for the next event when it is due.
        answers: what prompts in a client's own sessions are answered, in order.
        speed: multiple of the recorded speed; 0 pauses, infinity plays as fast as it is read.
        directory: of the recorded project; by default that of the first session recorded.
        move_times: tell times as if everything happened now.
        hold_turns: begin no turn before a note could be put into the call before it, as a real server does.
        lead_in: seconds between the first listener and the first event.
        clock: ms since the epoch.
    """

    def __init__(
        self,
        events: Iterable[Recorded],
        answers: Iterable[str] = (),
        speed: float = 1.0,
        *,
        directory: str | None = None,
        move_times: bool = True,
        hold_turns: bool = True,
        lead_in: float = LEAD_IN_SECONDS,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        known = events if isinstance(events, Sequence) else ()
        self.directory = directory if directory is not None else _directory(known)
        self._lead_in = lead_in
        self._sender = Sender(clock)
        self._pace = Pace(speed)
        self._answering = Pace(_answering(speed))
        self._player = Player(events, self._pace, self._sender, move=move_times, hold=hold_turns)
        own = OwnTurns(self._sender, self._answering, iter(answers), directory=self.directory, model=_model(known))
        self._routes = Routes(self._sender, own, self._player)
        self._http = LoopbackServer(self._routes.answer, limits=_LIMITS)
        self._playing: asyncio.Task[None] | None = None

    @property
    def state(self) -> State:
        """What clients are told over HTTP."""
        return self._sender.state

    @property
    def toasts(self) -> list[Info]:
        """Messages that clients wanted shown, as they sent them."""
        return self._routes.toasts

    @property
    def patches(self) -> list[Info]:
        """Parts that clients changed, as they sent them."""
        return self._routes.patches

    @property
    def url(self) -> str:
        """Base address; known after the start."""
        return self._http.url

    @property
    def speed(self) -> float:
        """Multiple of the recorded speed."""
        return self._pace.speed

    def set_speed(self, speed: float) -> None:
        """Play at another speed from now on; 0 pauses. Raises ValueError when it is negative or no number."""
        self._pace.speed = speed
        self._answering.speed = _answering(speed)

    @property
    def finished(self) -> asyncio.Event:
        """Set when the last event was sent."""
        return self._player.finished

    async def played(self) -> None:
        """Wait until the last event was sent and every listener has taken it."""
        await self._player.finished.wait()
        await self._sender.hub.room(0)

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        await self._http.start()
        self._playing = asyncio.create_task(self._play(), name="replay")

    async def stop(self) -> None:
        """Stop playing and close all connections."""
        if self._playing is not None:
            self._playing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._playing
        await self._http.stop()

    async def __aenter__(self) -> ReplayServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _play(self) -> None:
        await self._sender.hub.opened.wait()
        await asyncio.sleep(self._lead_in)
        await self._player.run()


def _answering(speed: float) -> float:
    """How fast the clients' own prompts are answered: as fast as all the rest, but a pause is none for them."""
    return speed or 1.0


def _directory(events: Sequence[Recorded]) -> str:
    """Directory of the first session that tells one."""
    for recorded in events:
        info = recorded.event["properties"].get("info")
        if isinstance(info, dict) and isinstance(info.get("directory"), str):
            return str(info["directory"])
    return ""


def _model(events: Sequence[Recorded]) -> tuple[str, str]:
    """Provider and model of the first assistant message."""
    for recorded in events:
        info = recorded.event["properties"].get("info")
        if isinstance(info, dict) and isinstance(info.get("modelID"), str):
            return str(info.get("providerID")), info["modelID"]
    return "recorded", "recorded"
