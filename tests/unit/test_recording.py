"""`record`: what happens when the state cannot be read back, and the file at the end."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from core import recording
from core.errors import ServerError, Unreachable
from core.host import HostOptions
from core.host.finding_server import Target
from core.opencode.stream import Connected, Frame, Lost
from core.settings import Settings

LOST = Lost(reason="gone", attempt=1, retry_in_ms=1)


class Client:
    """A server without sessions; asking for them raises what is next in `troubles`, if anything."""

    troubles: ClassVar[list[ServerError | None]] = []

    def __init__(self, *_: object, **__: object) -> None:
        self.events = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def health(self) -> str:
        return "1"

    async def sessions(self, *, roots: bool) -> list[Any]:
        if self.troubles and (error := self.troubles.pop(0)) is not None:
            raise error
        return []

    async def statuses(self) -> dict[str, str]:
        return {}


class Events(Client):
    """A stream that brings `items` and ends."""

    items: ClassVar[Sequence[object]] = ()

    async def __aiter__(self) -> AsyncIterator[object]:
        for item in self.items:
            yield item


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    async def found(_: object) -> Target:
        return Target(url="http://127.0.0.1:1", credentials=None, named=True)

    monkeypatch.setattr(recording, "find_server", found)
    monkeypatch.setattr(recording, "Client", Client)
    monkeypatch.setattr("core.recording.stream.EventStream", Events)
    monkeypatch.setattr(Events, "items", (Connected(), Frame(event=b"1"), LOST, Connected(), Frame(event=b"2")))
    monkeypatch.setattr(Client, "troubles", [])


async def record(tmp_path: Path, name: str) -> Path:
    out = tmp_path / name
    await recording.record(HostOptions(directory=tmp_path), Settings(), out)
    return out


async def test_a_server_that_cannot_be_read_after_a_reconnect_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Client, "troubles", [None, Unreachable("It does not answer")])
    assert (await record(tmp_path, "out.jsonl")).read_bytes() == b"1\n2\n"
    assert "could not be read back (It does not answer" in capsys.readouterr().err


async def test_one_that_cannot_be_read_at_the_start_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "troubles", [Unreachable("It does not answer")])
    with pytest.raises(Unreachable):
        await record(tmp_path, "out.jsonl")


async def test_a_packed_file_is_whole_and_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    open_file = recording._opened

    def remembered(out: Path) -> Any:
        opened.append(open_file(out))
        return opened[-1]

    monkeypatch.setattr(recording, "_opened", remembered)
    assert gzip.decompress((await record(tmp_path, "out.jsonl.gz")).read_bytes()) == b"1\n2\n"
    assert opened[0].closed
