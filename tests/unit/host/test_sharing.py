"""Several ledgers on one project: one hosts it, a second watches, and takes over however the first one ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from core import rendezvous
from core.errors import FileError
from core.host.hosting import ProjectLock, seat
from core.host.mirror import FoundHost, Mirror
from core.host.mirrored import Legacy
from core.host.sharing import Sharing
from core.ledger.finding import Finding
from core.ledger.handover import Handover, Kept

HOLD = """
import sys
from pathlib import Path
from core.host.hosting import ProjectLock, seat
lock = ProjectLock(Path(sys.argv[1]))
print(lock.acquire(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@contextmanager
def another_process(project: Path) -> Iterator[subprocess.Popen[str]]:
    """One that hosts the project; gone afterwards."""
    command = [sys.executable, "-c", HOLD, str(project)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "True\n"
            yield process
        finally:
            process.kill()


class Looking:
    """The mirror of a sharer."""

    def __init__(self, owner: Sharer) -> None:
        self.owner = owner
        self.lost = owner.lost
        self.legacy = lambda: owner.known

    def start(self, on_host: FoundHost) -> None:
        self.owner.said.append("mirrors")
        self.owner.on_host = on_host

    async def stop(self) -> None:
        self.owner.said.append("mirrors no more")


class Sharer:
    """What the host is told; also the plugin's side, which the host has."""

    def __init__(self, project: Path, problem: str = "") -> None:
        self.said: list[str] = []
        self.server: dict[str, Any] = {}
        self.text = ""
        self.problem = problem
        self.told = asyncio.Event()
        self.looks = 0
        self.look = asyncio.Event()
        self.lost = asyncio.Event()
        self.known: list[Legacy] = []
        self.on_host: FoundHost = lambda said: None
        side: Any = self
        self.sharing = Sharing(self, project, side, cast(Mirror, Looking(self)), sleep=self.wait)

    async def wait(self, seconds: float) -> None:
        self.looks += 1
        self.look.clear()
        await self.look.wait()

    async def look_again(self) -> None:
        """Let the time between two looks pass."""
        before = self.looks
        async with asyncio.timeout(10):
            while self.looks == before:
                self.look.set()
                await asyncio.sleep(0)

    async def until(self, code: str) -> None:
        async with asyncio.timeout(10):
            while f"warn {code}" not in self.said:
                self.told.clear()
                self.look.set()
                await self.told.wait()

    def watch_only(self, on: bool) -> None:
        self.said.append("watches" if on else "decides")

    def adopt(self, legacy: Legacy) -> None:
        self.said.append(f"adopts {legacy.handover.root}")

    def warn(self, code: str, message: str) -> None:
        self.said.append(f"warn {code}")
        self.text = message
        self.told.set()

    def set_server(self, **changes: Any) -> None:
        self.server.update(changes)

    async def start(self) -> str:
        self.said.append("listens")
        return self.problem

    async def stop(self) -> None:
        self.said.append("closed")


# ---- the lock ----


def test_one_of_two_in_one_process_has_it(project: Path) -> None:
    first, second = ProjectLock(project), ProjectLock(project)
    assert first.acquire() and first.acquire()
    assert not second.acquire()
    first.release()
    first.release()
    assert second.acquire()
    assert not first.acquire()
    second.release()


def test_by_whatever_name_it_is_the_same_project(project: Path) -> None:
    (project.parent / "link").symlink_to(project)
    first, second = ProjectLock(project), ProjectLock(project.parent / "link")
    assert first.acquire()
    assert not second.acquire()
    first.release()


def test_another_project_is_free(project: Path) -> None:
    first, second = ProjectLock(project), ProjectLock(project.parent)
    assert first.acquire() and second.acquire()
    first.release()
    second.release()


def test_a_killed_process_has_it_no_more(project: Path) -> None:
    lock = ProjectLock(project)
    with another_process(project) as process:
        assert not lock.acquire()
        process.kill()
        process.wait()
        assert lock.acquire()
    lock.release()


def test_a_child_of_the_host_does_not_keep_it(project: Path) -> None:
    lock, next_one = ProjectLock(project), ProjectLock(project)
    assert lock.acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        lock.release()
        assert next_one.acquire()
        child.kill()
    next_one.release()


def test_a_link_in_its_place_is_not_followed(project: Path, tmp_path: Path) -> None:
    lock = ProjectLock(project)
    assert lock.acquire()
    lock.release()
    (path,) = (tmp_path / "ledger" / "runtime").glob("*.lock")
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()
    path.symlink_to(tmp_path / "theirs")
    with pytest.raises(FileError, match="lock"):
        lock.acquire()
    assert not (tmp_path / "theirs").exists()


def test_the_holder_is_named(project: Path) -> None:
    lock = ProjectLock(project)
    assert lock.holder() == "another process"
    said = rendezvous.announce("ledger", project, {"port": 4097, "token": "0" * 64})
    assert lock.holder() == f"process {os.getpid()}"
    said.remove()


def test_the_holders_terminal_is_named(project: Path) -> None:
    said = rendezvous.announce("ledger", project, {"port": 4097, "token": "0" * 64, "seat": "tmux pane %3"})
    assert ProjectLock(project).holder() == f"process {os.getpid()} in tmux pane %3"
    said.remove()


def test_the_terminal_of_this_process() -> None:
    assert seat({"TMUX_PANE": "%3"}) == "tmux pane %3"
    assert seat({"TMUX_PANE": "\x1b[2J%3" + "9" * 50}) == "tmux pane %3" + "9" * 7 + "…"


# ---- who hosts ----


WATCHES = ["watches", "warn hosted_elsewhere", "mirrors"]


async def test_the_only_one_hosts(project: Path) -> None:
    only = Sharer(project)
    await only.sharing.start()
    assert only.said == ["listens"]
    await only.sharing.stop()
    assert only.said == ["listens", "mirrors no more", "closed"]


async def test_the_second_watches_and_takes_over(project: Path) -> None:
    first, second = Sharer(project), Sharer(project)
    await first.sharing.start()
    await second.sharing.start()
    assert second.said == WATCHES
    assert second.server == {"host": "another process", "delivery": "off", "delivery_detail": ""}
    await second.look_again()
    await second.look_again()
    assert second.said == WATCHES
    finding = Finding(id="f1", seq=1, fact="a fact", topic="t", established_at=1)
    second.known = [Legacy(handover=Handover(root="ses_a", kept=(Kept(finding=finding),)))]
    await first.sharing.stop()
    await second.until("took_over")
    await asyncio.sleep(0)
    assert second.said[3:] == ["mirrors no more", "adopts ses_a", "listens", "warn took_over", "decides"]
    assert second.text.endswith("hosts the project now, with 1 of its facts.")
    assert second.server == {"host": "", "delivery": "patch", "delivery_detail": ""}
    third = Sharer(project)
    await third.sharing.start()
    assert third.said == WATCHES
    await third.sharing.stop()
    await second.sharing.stop()


async def test_another_host_is_named_and_the_same_one_only_once(project: Path) -> None:
    first, second = Sharer(project), Sharer(project)
    await first.sharing.start()
    await second.sharing.start()
    fields: dict[str, Any] = {"v": 1, "port": 4097, "token": "0" * 64, "directory": str(project)}
    for _ in range(2):
        second.on_host(rendezvous.LedgerFile(pid=7, seat="pts/3", **fields))
        assert second.server["host"] == "process 7 in pts/3"
    assert second.said == [*WATCHES, "warn hosted_elsewhere"]
    assert "(process 7 in pts/3) hosts this project" in second.text
    await second.sharing.stop()
    await first.sharing.stop()


async def test_it_looks_at_once_when_the_host_does_not_answer_any_more(project: Path) -> None:
    first, second = Sharer(project), Sharer(project)
    await first.sharing.start()
    await second.sharing.start()
    await second.look_again()
    await first.sharing.stop()
    second.lost.set()  # and no time passes between two looks
    async with asyncio.timeout(10):
        while "decides" not in second.said:
            second.told.clear()
            await second.told.wait()
            await asyncio.sleep(0)
    assert not second.lost.is_set()
    await second.sharing.stop()


async def test_it_takes_over_from_a_killed_process(project: Path) -> None:
    here = Sharer(project)
    with another_process(project) as process:
        await here.sharing.start()
        await here.look_again()
        assert "listens" not in here.said
        process.kill()
        process.wait()
        await here.until("took_over")
    assert "listens" in here.said
    await here.sharing.stop()


async def test_one_that_ends_while_it_watches_leaves_the_other_alone(project: Path) -> None:
    first, second, third = Sharer(project), Sharer(project), Sharer(project)
    await first.sharing.start()
    await second.sharing.start()
    await second.sharing.stop()
    await third.sharing.start()
    assert third.said == WATCHES
    await third.sharing.stop()
    await first.sharing.stop()


async def test_a_folder_that_is_lost_while_it_watches_is_looked_for_again(project: Path, tmp_path: Path) -> None:
    first, second = Sharer(project), Sharer(project)
    await first.sharing.start()
    await second.sharing.start()
    runtime = tmp_path / "ledger" / "runtime"
    runtime.chmod(0o755)
    await second.look_again()
    await second.look_again()
    assert second.said == WATCHES
    runtime.chmod(0o700)
    await first.sharing.stop()
    await second.until("took_over")
    await second.sharing.stop()


async def test_without_a_folder_for_the_lock_it_decides_and_patches(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "file"))
    here = Sharer(project)
    await here.sharing.start()
    assert here.said == ["warn runtime_folder"]
    await here.sharing.stop()


async def test_a_hook_server_that_cannot_start_is_told(project: Path) -> None:
    here = Sharer(project, problem="notes go by patch only: no port")
    await here.sharing.start()
    assert here.said == ["listens", "warn hook_server"]
    assert here.text == "notes go by patch only: no port"
    await here.sharing.stop()
