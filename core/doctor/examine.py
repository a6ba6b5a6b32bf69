"""Running the checks: side by side, each in a thread of its own, none longer than it may.

A check that raises is a failed line with the reason; one that hangs (a dead network drive, a program that does not
answer) is left behind in its thread, which does not keep the program from ending.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from core.doctor import disk, hooks, installed, machine, server
from core.doctor.lines import Line, fail
from core.doctor.reach import Reach, reach
from core.doctor.surroundings import Surroundings
from core.errors import LedgerError
from core.text import clean_line

SECONDS: Final = 5.0
"""For one check. The way to OpenCode is looked for first, in as much again."""

T = TypeVar("T")
Answer = Iterable[Line] | Awaitable[Iterable[Line]]
Check = Callable[[Surroundings, Reach], Answer]

CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("python", machine.python),
    ("textual", machine.textual),
    ("terminal", machine.terminal),
    ("tmux", machine.tmux),
    ("settings", machine.settings),
    ("opencode", server.opencode),
    ("way in", server.way_in),
    ("auth", server.auth),
    ("agent", server.agent),
    ("model", server.model),
    ("snapshot", server.snapshot),
    ("plugin", installed.plugin),
    ("modules", installed.modules),
    ("agent file", installed.agent_file),
    ("hook", hooks.hook),
    ("runtime", disk.runtime),
    ("dump", disk.dump),
    ("state", disk.state),
    ("sessions", disk.sessions),
)
"""In the order of their lines."""


def examine(
    surroundings: Surroundings, *, checks: Sequence[tuple[str, Check]] = CHECKS, seconds: float = SECONDS
) -> list[Line]:
    """The lines of all checks. Takes up to twice `seconds`."""
    search = _Work(lambda: asyncio.run(_within(reach(surroundings), seconds)))
    found = search.result(time.monotonic() + seconds)
    way = found.value if isinstance(found.value, Reach) else Reach(problem=found.problem or "no answer in time")
    works = [(name, _Work(_bound(check, surroundings, way, seconds))) for name, check in checks]
    deadline = time.monotonic() + seconds
    lines: list[Line] = []
    for name, work in works:
        ended = work.result(deadline)
        if ended.value is None:
            fix = "" if ended.problem else "Run it again: what was asked may be busy, or not have started up yet."
            lines.append(fail(name, f"could not be checked: {ended.problem or 'no answer in time'}", fix))
        else:
            lines.extend(ended.value)
    return lines


class _Ended(NamedTuple):
    """Neither a value nor a problem: it has not ended in time."""

    value: Any = None
    problem: str = ""


class _Work:
    """One function in one thread."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._ended = _Ended()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self, deadline: float) -> _Ended:
        """What came of it by then."""
        self._thread.join(max(0.0, deadline - time.monotonic()))
        return self._ended

    def _run(self) -> None:
        try:
            self._ended = _Ended(value=self._function())
        except TimeoutError:
            pass
        except LedgerError as error:
            self._ended = _Ended(problem=clean_line(str(error), 500))
        except BaseException as error:
            self._ended = _Ended(problem=clean_line(f"{type(error).__name__}: {error}", 500))


def _bound(check: Check, surroundings: Surroundings, way: Reach, seconds: float) -> Callable[[], list[Line]]:
    def run() -> list[Line]:
        answer = check(surroundings, way)
        if isinstance(answer, Awaitable):
            answer = asyncio.run(_within(answer, seconds))
        return list(answer)

    return run


async def _within(work: Awaitable[T], seconds: float) -> T:
    """Its result; a little before the time is over it is cancelled, so that it can tidy up. Raises TimeoutError."""
    async with asyncio.timeout(seconds * 0.9):
        return await work
