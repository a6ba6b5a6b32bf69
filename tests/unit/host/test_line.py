"""The line at its end: what is under way is stopped, and nothing is begun any more."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import NotFound, Unreachable, UsageError
from core.host.finding_server import Target
from core.host.line import Line
from core.host.options import HostOptions
from core.ledger import observations as seen
from core.ledger.effects import Extract
from core.opencode.address import Credentials
from core.opencode.records import SessionHead
from core.settings import Settings
from tests.unit.host.lining import TARGET, company


class Owner:
    """A host that only takes down what it is told."""

    def __init__(self, tmp_path: Path) -> None:
        self.options = HostOptions(directory=tmp_path, state_dir=tmp_path)
        self.settings = Settings()
        self.clock: Callable[[], int] = lambda: 1
        self.told: list[seen.Observation] = []
        self.on_told: Callable[[], None] = lambda: None

    def tell(self, root: str, told: seen.Observation) -> None:
        self.told.append(told)
        self.on_told()

    def warn(self, code: str, message: str, root: str = "") -> None:
        raise AssertionError(message)


class Runner:
    """Works on each job until it is cancelled, then reports and takes its time to tidy up."""

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.begun: list[str] = []
        self.tidied: list[str] = []

    async def run(self, job: Extract) -> None:
        self.begun.append(job.id)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            self.tidied.append(job.id)
            failed = seen.ExtractionFailed(t=1, session=job.session, id=job.id, error="stopped")
            self.owner.tell(job.session, failed)


def job(id: str) -> Extract:
    return Extract(t=1, session="ses_1", id=id, steps=(), known=())


def line(tmp_path: Path) -> tuple[Line, Runner, Owner]:
    owner: Any = Owner(tmp_path)
    line = Line(owner, TARGET, company(owner))
    line._runner = runner = Runner(owner)  # type: ignore[assignment]
    return line, runner, owner


async def test_what_the_end_of_one_extraction_would_begin_is_not_begun(tmp_path: Path) -> None:
    line_, runner, owner = line(tmp_path)

    def begin_more() -> None:
        line_.extract(job("x3"))
        line_.connected()

    line_.extract(job("x1"))
    line_.extract(job("x2"))
    await asyncio.sleep(0)
    owner.on_told = begin_more
    await line_.stop()
    assert sorted(runner.tidied) == runner.begun == ["x1", "x2"]
    owner.on_told = lambda: None
    await asyncio.sleep(0)
    assert {told.id for told in owner.told if isinstance(told, seen.ExtractionFailed)} == {"x1", "x2", "x3"}


class Sessions:
    """A server of which only sessions are asked."""

    def __init__(self, found: SessionHead | Exception) -> None:
        self.found = found

    async def session(self, id: str) -> SessionHead:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.mark.parametrize(
    ("found", "error", "says"),
    [
        (SessionHead(id="ses_1", parent="ses_0"), UsageError, "--session ses_0"),
        (SessionHead(id="ses_1", directory="/elsewhere"), UsageError, "--directory /elsewhere"),
        (NotFound("no session ses_1"), NotFound, "no session ses_1"),
    ],
)
async def test_a_session_that_cannot_be_followed_is_refused(
    tmp_path: Path, found: SessionHead | Exception, error: type[Exception], says: str
) -> None:
    line_, _, _ = line(tmp_path)
    line_._client = Sessions(found)  # type: ignore[assignment]
    with pytest.raises(error, match=says):
        await line_._check("ses_1")


@pytest.mark.parametrize("there", [True, False])
async def test_a_session_of_the_folder_is_followed_and_a_silent_server_waited_for(tmp_path: Path, there: bool) -> None:
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path)
    line_, _, _ = line(tmp_path)
    found = SessionHead(id="ses_1", directory=str(link))
    line_._client = Sessions(found if there else Unreachable("down"))  # type: ignore[assignment]
    await line_._check("ses_1")


@pytest.mark.parametrize(
    ("changes", "asked"),
    [({"named": False}, False), ({"named": False, "pid": os.getpid()}, True), ({"named": True}, True)],
)
async def test_a_password_is_not_sent_where_the_opencode_that_was_found_has_ended(
    tmp_path: Path, changes: dict[str, Any], asked: bool
) -> None:
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())
        writer.close()

    owner: Any = Owner(tmp_path)
    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        fields: dict[str, Any] = {"url": url, "credentials": Credentials(password="pw"), "pid": 2**22 + 1}
        failed = asyncio.Event()

        def said(line: Line, state: str, *_: object) -> None:
            if state == "reconnecting":
                failed.set()

        line_ = Line(owner, Target(**{**fields, **changes}), company(owner, said=said))
        line_.start()
        async with asyncio.timeout(10):
            await failed.wait()
        await line_.stop()
    assert bool(heard) == asked


async def test_a_second_signal_does_not_leave_an_extraction_behind(tmp_path: Path) -> None:
    line_, runner, _ = line(tmp_path)
    line_.extract(job("x1"))
    await asyncio.sleep(0)
    stopping = asyncio.create_task(line_.stop())
    await asyncio.sleep(0)
    stopping.cancel()
    await asyncio.wait([stopping])
    assert runner.tidied == ["x1"]
