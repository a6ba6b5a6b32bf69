"""`headless`: how it ends."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest

from core import headless
from core.errors import Unreachable
from core.host import Host, HostOptions, finding_server, line
from core.jsonlines import JsonLines
from core.opencode.discovery import Found
from core.settings import Settings


def host(tmp_path: Path, **options: object) -> Host:
    where = HostOptions(directory=tmp_path, state_dir=tmp_path, **options)  # type: ignore[arg-type]
    return Host(where, Settings(dump_path=tmp_path / "facts.json"))


async def run(host: Host) -> None:
    async with asyncio.timeout(10):
        await headless.run(host, JsonLines(io.BytesIO()))


async def test_no_server_for_the_folder_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(directory: Path) -> list[Found]:
        return []

    monkeypatch.setattr(finding_server, "discover", nothing)
    with pytest.raises(Unreachable, match="No OpenCode found"):
        await run(host(tmp_path))


async def test_a_fault_of_the_ledger_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, client: object, stream: object, sink: Host, **_: object) -> None:
            self.sink = sink

        async def run(self) -> None:
            self.sink.connection("connecting", "")
            try:
                raise ExceptionGroup("unhandled errors in a TaskGroup", [KeyError("x")])
            finally:
                self.sink.connection("closed", "")

    monkeypatch.setattr(line, "Follower", Broken)
    with pytest.raises(KeyError):
        await run(host(tmp_path, server="http://127.0.0.1:9"))
