"""A terminal for one program: tmux with a single pane, whose screen a test reads and whose keys it presses."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest


def need_tmux() -> None:
    """Skip the test where there is no tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")


@dataclass
class Terminal:
    """A tmux server of our own with one pane; use as a context manager.

    Attributes:
        command: what runs in the pane; the pane ends with it.
        size: columns and lines.
    """

    command: list[str]
    folder: Path
    environment: dict[str, str]
    size: tuple[int, int] = (100, 30)
    place: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="shim-tmux-", dir="/tmp")))

    def tmux(self, *arguments: str) -> str:
        """Run a tmux command; its output."""
        command = ["tmux", "-u", "-S", str(self.place / "s"), "-f", "/dev/null", *arguments]
        done = subprocess.run(command, capture_output=True, check=False, env=self.environment)
        return done.stdout.decode(errors="replace")

    def __enter__(self) -> Terminal:
        columns, lines = map(str, self.size)
        self.tmux("new-session", "-d", "-x", columns, "-y", lines, "-c", str(self.folder), *self.command)
        return self

    def __exit__(self, *_: object) -> None:
        self.tmux("kill-server")
        shutil.rmtree(self.place)

    @property
    def screen(self) -> str:
        """What is on the screen now, one line of text each; empty when the program has ended."""
        return self.tmux("capture-pane", "-p")

    @property
    def is_open(self) -> bool:
        """Whether the program still runs."""
        return bool(self.tmux("list-panes"))

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names, for example `Enter`, or letters."""
        self.tmux("send-keys", *keys)

    async def shows(self, *texts: str, seconds: float = 60) -> str:
        """Wait until all of `texts` are on the screen at the same time; the screen.

        Raises:
            AssertionError: with the screen, when that does not come about in `seconds`.
        """
        return await self.until(lambda screen: all(text in screen for text in texts), " and ".join(texts), seconds)

    async def until(self, holds: Callable[[str], bool], what: str, seconds: float = 60) -> str:
        """Wait until `holds` accepts the screen, looked at ten times a second; the screen. Raises as `shows`."""
        end = time.monotonic() + seconds
        while not holds(screen := self.screen):
            assert self.is_open, f"the program ended before {what!r} came:\n{screen}"
            assert time.monotonic() < end, f"{what!r} did not come in {seconds} s:\n{screen}"
            await asyncio.sleep(0.1)
        return screen

    async def ends(self, seconds: float = 60) -> None:
        """Wait until the program has ended. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while self.is_open:  # noqa: ASYNC110 - tmux gives no event to wait for
                await asyncio.sleep(0.1)

    async def enter(self, text: str) -> None:
        """Type a line once OpenCode's box is there to take it, and send it."""
        await self.shows("ctrl+p")
        self.tmux("send-keys", "-l", text)
        await self.shows(text)
        self.press("Enter")
