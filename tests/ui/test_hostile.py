"""What reaches the terminal when every text is hostile."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

from ledger_tui.widgets.brush import Brush
from tests.ui.example import example
from tests.ui.hostile import HOSTILE, hostile
from tests.ui.stage import stage

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]

HARMLESS = re.compile(
    r"\x1b\[[0-9;:]*m"  # colours
    r"|\x1b\[\d*;?\d*H"  # cursor position
    r"|\x1b\[\?\d+(?:[hl]|\$p)|\x1b\[[<>]\d*u"  # modes and questions about them
)
"""What Textual's own driver writes: modes, positions, colours, questions about the terminal."""


@pytest.mark.parametrize(
    "keys",
    [
        "1",
        "2",
        "3",
        "4",
        "5",
        "2 enter o G",
        "1 g enter o",
        "4 g enter",
        "4 k o",
        "4 e",
        "v",
        "v o",
        "w",
        "5 g enter",
        "2 e",
        "s",
        "ctrl+p",
        "?",
        "2 d",
        "2 / [",
    ],
)
@pytest.mark.parametrize("size", [(120, 40), (60, 20)])
async def test_no_control_character_is_drawn(keys: str, size: tuple[int, int]) -> None:
    async with stage(hostile(), size=size) as play:
        play.host.refuse = HOSTILE
        await play.press(*keys.split())
        for line in play.lines():
            assert line.isprintable(), ascii(line)
            assert cell_len(line) == size[0]


@pytest.mark.parametrize("keys", ["2 enter", "2 enter o", "1 g enter", "4 g enter", "4 o", "w", "5 enter", "?"])
async def test_nothing_breaks_the_frame(keys: str) -> None:
    async with stage(hostile(), size=(60, 20)) as play:
        await play.press(*keys.split())
        assert {line[-1] for line in play.lines()[1:-2]} <= set("│┃")


async def test_markup_is_shown_as_it_is() -> None:
    async with stage(example(title="[red]not red[/red] [/")) as play:
        assert "[red]not red[/red] [/" in play.text()


async def test_toasts_do_not_read_markup() -> None:
    async with stage() as play:
        play.app.notify("[/ [red]")
        await play.pilot.pause()
        assert [toast.markup for toast in play.app._notifications] == [False]


def test_the_brush_is_a_second_defence() -> None:
    strip = Brush("ledger-dark").strip([(HOSTILE, "text"), ("\x1b[2J", "no such style")], 30)
    assert strip.cell_length == 30 and strip.text.isprintable()


def test_the_driver_writes_nothing_of_it() -> None:
    """The real thing: a terminal's bytes, while hostile text is on every screen."""
    keys = [
        "1",
        "2",
        "\r",
        "o",
        "\x1b",
        "d",
        "e",
        "\x1b",
        "3",
        "4",
        "o",
        "\x1b",
        "v",
        "\x1b",
        "w",
        "\x1b",
        "5",
        "s",
        "\x1b",
        "q",
    ]
    written, status = _in_a_terminal([key.encode() for key in keys])
    assert os.waitstatus_to_exitcode(status) == 0, written[-3_000:].decode(errors="replace")
    text = written.replace(b"\x1b]22;default\x07", b"").decode()
    assert "\x1b[31mred" not in text
    rest = HARMLESS.sub("", text)
    assert "Receipt" in rest and "Escalation" in rest
    strange = {character for character in rest if not character.isprintable()} - {"\r", "\n"}
    assert not strange, ascii(strange)


def _in_a_terminal(keys: list[bytes]) -> tuple[bytes, int]:
    """All that the program wrote, and how it ended."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [sys.executable, str(HERE.with_name("hostile_child.py")), str(ROOT)])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    written = _until(fd, b"Escalation", 60)
    for key in keys:
        os.write(fd, key)
        written += _until(fd, b"", 0.4)
    written += _until(fd, b"", 20)
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    return written, status


def _until(fd: int, marker: bytes, seconds: float) -> bytes:
    """Read until the marker came, or nothing more comes for so long."""
    got = b""
    while select.select([fd], [], [], seconds)[0]:
        try:
            piece = os.read(fd, 65_536)
        except OSError:
            break
        if not piece:
            break
        got += piece
        if marker and marker in got:
            break
    return got
