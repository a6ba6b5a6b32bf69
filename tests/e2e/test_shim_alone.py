"""The shim in OpenCode's own runtime without OpenCode around it: what it believes, what it sends, what it survives."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.text import clip_middle
from tests.e2e.shim_server import ShimServer, drive, key_of, write_private

CALL = {"args": {"command": "ls"}, "output": "a\n"}


def dead_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        return process.pid


BAD: dict[str, Any] = {
    "garbage": b"\x00\xff{",
    "list": [1, 2],
    "huge": b"{" + b" " * 100_000,
    "version": {"v": 2},
    "port": {"port": 70_000},
    "port text": {"port": "80; rm"},
    "token": {"token": "short"},
    "no pid": {"pid": None},
    "dead": {"pid": dead_pid},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_an_announcement_that_makes_no_sense_is_ignored(
    binary: Path, tmp_path: Path, runtime: Path, bad: Any
) -> None:
    async with ShimServer(runtime, tmp_path / "project") as ledger:
        if isinstance(bad, dict):
            bad = {**ledger.announcement(), **{k: v() if callable(v) else v for k, v in bad.items()}}
        ledger.file.write_bytes(bad if isinstance(bad, bytes) else json.dumps(bad).encode())
        assert await drive(binary, tmp_path, CALL) == ["a\n"]
    assert ledger.after == []


def spoil(file: Path, how: str) -> None:
    """Make a good announcement one that somebody else could have written."""
    folder = file.parent
    kept = file.with_suffix(".kept")
    if how == "readable":
        file.chmod(0o644)
    elif how == "another's":
        os.chown(file, 12345, -1)
    elif how == "symlink":
        file.rename(kept)
        file.symlink_to(kept)
    elif how == "pipe":
        file.unlink()
        os.mkfifo(file, 0o600)
    elif how == "open folder":
        folder.chmod(0o755)
    else:
        folder.rename(folder.with_name("elsewhere"))
        folder.symlink_to(folder.with_name("elsewhere"))


@pytest.mark.parametrize("how", ["readable", "another's", "symlink", "pipe", "open folder", "folder symlink"])
async def test_an_announcement_others_could_have_written_is_ignored(
    binary: Path, tmp_path: Path, runtime: Path, how: str
) -> None:
    if how == "another's" and os.getuid() != 0:
        pytest.skip("only root can give a file away")
    async with ShimServer(runtime, tmp_path / "project") as ledger:
        spoil(ledger.file, how)
        assert await drive(binary, tmp_path, CALL) == ["a\n"]
        assert ledger.after == []


@pytest.mark.parametrize(
    "text", ["x" * 40_000, "é😀" * 20_000, "😀" * 16_380 + "ab" * 33, "\ud83d" * 33_000, "x" * 32_816]
)
async def test_long_outputs_are_cut_as_the_assembler_cuts(
    binary: Path, tmp_path: Path, runtime: Path, text: str
) -> None:
    async with ShimServer(runtime, tmp_path / "project", note=lambda *_: "!") as ledger:
        command = {"args": {"command": text, "content": ["x"] * 10}, "output": text}
        assert await drive(binary, tmp_path, command) == [text + "!"]
    assert ledger.after[0]["output"] == clip_middle(text, 16 * 1024, 16 * 1024)
    assert ledger.after[0]["args"]["command"] == clip_middle(text, 16 * 1024, 16 * 1024)


async def test_each_round_trip_is_told_once(binary: Path, tmp_path: Path, runtime: Path) -> None:
    """With the acknowledgement of a note, else with the next question."""
    notes = iter(["", "", "!", ""])
    async with ShimServer(runtime, tmp_path / "project", note=lambda *_: next(notes), deadline_ms=5000) as ledger:
        await drive(binary, tmp_path, CALL, CALL, CALL, CALL)
    first, second, third, fourth = (body["last_ms"] for body in ledger.after)
    assert first is None and fourth is None
    assert 0 < second < 5000 and 0 < third < 5000
    assert [call for call, ack in ledger.acks.items() if ack["appended"]] == ["call_2"]


async def test_enormous_arguments_leave_what_matters(binary: Path, tmp_path: Path, runtime: Path) -> None:
    async with ShimServer(runtime, tmp_path / "project") as ledger:
        await drive(binary, tmp_path, {"args": {"filePath": "a.bin", "edits": ["x" * 100] * 20_000}, "output": "ok"})
    assert ledger.after[0]["args"] == {"filePath": "a.bin"}


async def test_a_proxy_of_the_user_sees_nothing(binary: Path, tmp_path: Path, runtime: Path) -> None:
    nowhere = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), "http://127.0.0.1:9")
    async with ShimServer(runtime, tmp_path / "project", note=lambda *_: "!") as ledger:
        assert await drive(binary, tmp_path, CALL, **nowhere) == ["a\n!"]
    assert len(ledger.after) == 1


ANSWERS = {
    "not http": b"SSH-2.0-OpenSSH\r\n\r\n",
    "404": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "not json": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    "null": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
    "no text": b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"append": 12}',
    "cut off": b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"append": "x"}',
    "endless": b"HTTP/1.1 200 OK\r\n" + b"x" * 400_000,
    "nothing": b"",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_whatever_the_port_answers_the_output_goes_on(
    binary: Path, tmp_path: Path, runtime: Path, answer: bytes
) -> None:
    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read(65536)
            writer.write(answer)
            await writer.drain()
            writer.close()

    stranger = await asyncio.start_server(reply, "127.0.0.1", 0)
    said = {"v": 1, "port": stranger.sockets[0].getsockname()[1], "token": "0" * 64, "pid": os.getpid()}
    write_private(runtime / f"{key_of(tmp_path / 'project')}.ledger.json", json.dumps(said))
    async with stranger:
        assert await drive(binary, tmp_path, CALL, CALL, CALL, CALL) == ["a\n"] * 4
