"""`replay` as a command: whatever way the recording comes in, the same bytes come out."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pytest

from tests.unit.test_cli import SCRIPT, Shell, complaint


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


DATA = Path(__file__).parents[1] / "data" / "opencode" / "probes.jsonl.gz"


def piped(shell: Shell, file: str, data: bytes) -> bytes:
    done = subprocess.run(
        [SCRIPT, "replay", file],
        cwd=shell.folder,
        env=shell.environ,
        input=data,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize("file", ["-", "/dev/stdin"])
def test_pipes_give_the_same_bytes(shell: Shell, file: str) -> None:
    packed = DATA.read_bytes()
    lines = gzip.decompress(packed)
    capture = b"".join(b"data: " + line + b"\n\n" for line in lines.splitlines())
    expected = shell("replay", str(DATA)).out.encode()
    assert expected
    for data in (packed, lines, capture):
        assert piped(shell, file, data) == expected


def test_a_file_of_that_name_is_reached_by_its_folder(shell: Shell) -> None:
    (shell.folder / "-").write_bytes(DATA.read_bytes())
    assert shell("replay", "./-") == shell("replay", str(DATA))


def test_nothing_in_it_names_what_was_read(shell: Shell) -> None:
    assert "standard input holds no event." in complaint(shell("replay", "-"), 1)
    (shell.folder / "empty.jsonl").touch()
    assert "empty.jsonl holds no event." in complaint(shell("replay", "empty.jsonl"), 1)
