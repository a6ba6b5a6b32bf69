from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ledger_tui.clipboard import copy, native_tool


class Terminal:
    """Stands for the application: remembers what was sent by OSC 52."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def copy_to_clipboard(self, text: str) -> None:
        self.sent.append(text)


def tool(folder: Path, name: str, script: str) -> dict[str, str]:
    """An environment in which `name` is this script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin", "WAYLAND_DISPLAY": "w"}


def test_the_desktop_s_own_tool_is_preferred_but_not_over_ssh(tmp_path: Path) -> None:
    environ = tool(tmp_path, "wl-copy", "cat")
    assert native_tool(environ) == ("wl-copy",)
    assert native_tool({**environ, "SSH_TTY": "/dev/pts/1"}) is None
    assert native_tool({"PATH": str(tmp_path)}) is None, "no display"


async def test_copying_with_a_tool(tmp_path: Path) -> None:
    out = tmp_path / "copied"
    environ = tool(tmp_path, "wl-copy", f"cat > {out}")
    terminal: Any = Terminal()
    assert await copy(terminal, "é\nfact", "1 fact", environ) == "Copied 1 fact with wl-copy."
    assert out.read_text() == "é\nfact" and terminal.sent == []


@pytest.mark.parametrize("script", ["exit 1", "exec 0<&-; exit 3"])
async def test_a_tool_that_fails_is_replaced_by_the_terminal(tmp_path: Path, script: str) -> None:
    terminal: Any = Terminal()
    said = await copy(terminal, "fact", "1 fact", tool(tmp_path, "wl-copy", script))
    assert "OSC 52" in said and terminal.sent == ["fact"]


async def test_a_tool_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledger_tui.clipboard.TIMEOUT_SECONDS", 0.05)
    terminal: Any = Terminal()
    said = await copy(terminal, "fact", "1 fact", tool(tmp_path, "wl-copy", "exec sleep 60"))
    assert "OSC 52" in said and terminal.sent == ["fact"]
