"""Databases of past sessions for the tests of their screens, and waiting for what is read in threads."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from core.paths import state_dir
from core.store.database import DATABASE
from ledger_tui.screens.history import History
from ledger_tui.screens.history_session import Past
from tests.history_data import BASE, Builder, dump, text, tool
from tests.ui.stage import Stage
from tests.unit.ledger.builders import ROOT as KNOWN
from tests.unit.store.journals import Kept

PROJECT = "/home/dev/shop"
"""Folder of the session of the pictures."""
_PATIENCE = 30.0
"""Seconds after which a test gives up waiting; nothing takes that long."""

FACT = "model.ckpt has no header"


def sessions(path: Path) -> Path:
    """Two sessions of the project, the newer one (KNOWN) with every kind of part, and one of another project."""
    with Builder(path) as b:
        b.session("ses_old", BASE, title="Make the parser faster", directory=PROJECT, time_archived=BASE + 1)
        b.message("ses_old", "msg_o1", "user")
        b.part("msg_o1", "prt_o1", text("Profile the \x1b]52;c;aGk=\x07 tokenizer"))
        b.session("ses_far", BASE + 60_000, title="Elsewhere", directory="/home/dev/other")
        b.message("ses_far", "msg_f1", "user")
        b.part("msg_f1", "prt_f1", text("The tokenizer of another project"))
        b.session(KNOWN, BASE + 120_000, title="Figure out [/b] model.ckpt", directory=f"{PROJECT}/deep", cost=0.42,
                  tokens_input=81_000, model=dump({"id": "m1", "providerID": "fake"}))  # fmt: skip
        b.message(KNOWN, "msg_k1", "user", BASE + 120_001)
        b.part("msg_k1", "prt_k1", text("What is in model.ckpt?"))
        b.message(KNOWN, "msg_k2", "assistant", BASE + 120_002)
        b.part("msg_k2", "prt_k2", {"type": "reasoning", "text": "Look at its bytes."}, BASE + 120_003)
        call = tool("bash", {"description": "bytes", "command": "xxd model.ckpt"}, "0000: 803f\nsecond line")
        b.part("msg_k2", "prt_k3", call, BASE + 120_004)
        b.part("msg_k2", "prt_k4", tool("read", {"filePath": "gone.md"}, "no such file", "error"), BASE + 120_005)
        b.part("msg_k2", "prt_k5", {"type": "patch", "files": ["/a.py", "/b.py"]}, BASE + 120_006)
        b.part("msg_k2", "prt_k6", text("It holds raw float32."), BASE + 120_007)
        b.part("msg_k2", "prt_k7", {"type": "riddle"}, BASE + 120_008)
    return path


def known_facts() -> None:
    """Store two facts of KNOWN; the older one had to make room for the newer."""
    store = state_dir() / DATABASE
    store.parent.mkdir(parents=True, exist_ok=True)
    bench = Kept(store, max_findings_per_topic=1)
    bench.learn("model.ckpt is small")
    bench.learn(FACT)
    bench.journal.close()
    Kept.made.remove(bench)


async def until(play: Stage, done: Callable[[], object]) -> None:
    """Wait for what a thread reads."""
    deadline = time.monotonic() + _PATIENCE
    while not done():
        assert time.monotonic() < deadline, play.text()
        await play.pilot.pause(0.01)
    await play.pilot.pause()


async def opened(play: Stage, key: str = "H") -> History:
    """The list, read to its end or in trouble."""
    await play.press(key)
    screen = play.app.screen
    assert isinstance(screen, History)
    await until(play, lambda: not screen.reading)
    return screen


async def read(play: Stage) -> Past:
    """The session under the cursor, read."""
    await play.press("enter")
    screen = play.app.screen
    assert isinstance(screen, Past)
    await until(play, lambda: not screen.reading)
    return screen
