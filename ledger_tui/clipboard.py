"""Copying: the desktop's own tool where there is one, else the terminal by OSC 52; the answer says which."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App

TIMEOUT_SECONDS = 2.0

_TOOLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
)
"""Variable that must be set, and the command that reads the text from its standard input."""


def native_tool(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """The command that reaches this desktop's clipboard; None over ssh, where it would be the wrong machine's."""
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return None
    path = environ.get("PATH")
    for variable, command in _TOOLS:
        if (not variable or environ.get(variable)) and shutil.which(command[0], path=path):
            return command
    return None


async def copy(app: App[object], text: str, what: str, environ: Mapping[str, str]) -> str:
    """Copy `text` and say how; `what` names it ("2 facts")."""
    command = native_tool(environ)
    if command and await _fed(command, text, environ):
        return f"Copied {what} with {command[0]}."
    app.copy_to_clipboard(text)
    return f"Copied {what} through the terminal (OSC 52), if it permits that."


async def _fed(command: tuple[str, ...], text: str, environ: Mapping[str, str]) -> bool:
    """Whether the tool took the text."""
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=quiet, stderr=quiet, env=dict(environ)
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode("utf-8", "replace")), TIMEOUT_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
    return process.returncode == 0
