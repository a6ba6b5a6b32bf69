"""The offer to install the plugin: where it is made, what it says, what it does."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.errors import FileError
from core.installing import telling
from core.installing.install import uninstall
from core.installing.places import project_place
from core.installing.preparing import Preparation, Told
from core.installing.running import Running
from core.views import ServerView, SessionView
from ledger_tui.offer import Offer
from ledger_tui.screens.prepare import Prepare
from tests.ui import example
from tests.ui.example import live_server
from tests.ui.fake_host import FakeHost
from tests.ui.stage import Stage, make_app

SIZES = [(120, 40), (80, 24)]
PLUGIN, AGENT = ".opencode/plugins/ledger.js", ".opencode/agent/ledger-extractor.md"
NOBODY = live_server(state="none", url="", version="")
PATCHED = live_server(delivery="patch")


@dataclass
class Project:
    """A project to prepare, and what was written into the log about it."""

    folder: Path
    remarks: list[str] = field(default_factory=list)

    @property
    def plugin(self) -> Path:
        return self.folder / PLUGIN

    def offer(self) -> Offer:
        return Offer(lambda: Preparation(self.folder), self.remarks.append)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A folder of its own in a home of its own, in which no OpenCode runs."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "OPENCODE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(telling, "running", lambda folder: [])
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return Project(tmp_path / "shop")


@asynccontextmanager
async def offered(
    offer: Offer | None,
    server: ServerView = NOBODY,
    view: SessionView | None = None,
    *,
    size: tuple[int, int] = (120, 40),
    read_only: bool = False,
    **settings: Any,
) -> AsyncIterator[Stage]:
    host = FakeHost(view, server, read_only=read_only)
    app = make_app(host, **settings)
    app.desk.offer = offer
    async with app.run_test(size=size) as pilot:
        play = Stage(app, host, pilot)
        await done(play)
        yield play


async def done(play: Stage) -> None:
    """Wait for what runs in threads."""
    await play.app.workers.wait_for_complete()
    await play.pilot.pause()


async def press(play: Stage, *keys: str) -> None:
    await play.press(*keys)
    await done(play)


def words(play: Stage) -> str:
    """The screen as one line of words."""
    return " ".join(" ".join(line.strip("│ ") for line in play.lines()).split())


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("size", SIZES)
async def test_the_welcome_offers_it_asks_and_does_it(project: Project, size: tuple[int, int]) -> None:
    async with offered(project.offer(), size=size) as play:
        assert "This project is not prepared: press I to let the ledger install its plugin." in words(play)
        assert "q to leave" in words(play)
        await press(play, "I")
        joined = "".join(line.strip(" │┃╭╮╰╯─") for line in play.lines())
        for path in (PLUGIN, AGENT):
            assert f"would write    {project.folder / path}" in joined
        assert "enter install" in play.footer() and "esc back" in play.footer()
        assert tree(project.folder) == set()
        await press(play, "enter")
        assert tree(project.folder) == {PLUGIN, AGENT}
        joined = "".join(line.strip(" │┃╭╮╰╯─") for line in play.lines())
        assert f"wrote          {project.folder / PLUGIN}" in joined
        assert "OpenCode loads it when it starts next." in words(play) and "restart" not in words(play)
        await press(play, "enter")
        assert play.on_board
        assert "not prepared" not in words(play)
        assert project.remarks == ["the plugin was installed. OpenCode loads it when it starts next."]
        await press(play, "I")
        assert play.on_board
        assert "the plugin is there" in play.footer()


@pytest.mark.parametrize("keys", [("escape",), ("q",), ("x", "down", "escape")])
async def test_leaving_writes_nothing(project: Project, keys: tuple[str, ...]) -> None:
    async with offered(project.offer()) as play:
        await press(play, "I", *keys)
        assert play.on_board
        assert tree(project.folder) == set()
        assert "not prepared" in words(play)
    assert project.remarks == []


async def test_a_running_opencode_has_to_be_restarted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "running", lambda folder: [Running(pid=4711, cwd=str(folder))])
    async with offered(project.offer(), size=(80, 24)) as play:
        await press(play, "I", "enter")
        assert "OpenCode runs here (process 4711): restart it to load it." in words(play)
    assert "restart it" in project.remarks[0]


@pytest.mark.parametrize("size", SIZES)
async def test_a_file_of_somebody_else_s_is_left_alone(project: Project, size: tuple[int, int]) -> None:
    project.plugin.parent.mkdir(parents=True)
    project.plugin.write_text("mine")
    async with offered(project.offer(), size=size) as play:
        assert "not prepared" in words(play)
        await press(play, "I")
        assert "It cannot be installed." in words(play)
        assert "is there and not overwritten: ledger-tui did not write it." in words(play)
        assert "enter install" not in play.footer()
        await press(play, "enter")
        assert play.on_board
    assert tree(project.folder) == {PLUGIN}
    assert project.plugin.read_text() == "mine"


async def test_what_gets_in_the_way_after_the_question(project: Project) -> None:
    async with offered(project.offer()) as play:
        await press(play, "I")
        project.plugin.parent.mkdir(parents=True)
        project.plugin.write_text("mine")
        await press(play, "enter")
        assert "It could not be installed; nothing was changed." in words(play)
    assert tree(project.folder) == {PLUGIN}
    assert "not installed" in project.remarks[0]


async def test_installed_elsewhere_in_the_meantime(project: Project) -> None:
    async with offered(project.offer()) as play:
        Preparation(project.folder).carry_out()
        await press(play, "I")
        assert play.on_board
        assert "Nothing to install: the plugin is there." in play.footer()
        assert "not prepared" not in words(play)


async def test_the_key_looks_at_the_disk(project: Project) -> None:
    Preparation(project.folder).carry_out()
    lost = live_server(state="none", delivery="hook", detail="OpenCode runs in /p without a way in (process 7).")
    async with offered(project.offer(), lost) as play:
        assert "not prepared" not in words(play)
        uninstall(project_place(project.folder))
        await press(play, "I")
        assert isinstance(play.app.screen, Prepare)


@pytest.mark.parametrize("size", SIZES)
async def test_a_live_session_is_told_once_and_quietly(project: Project, size: tuple[int, int]) -> None:
    async with offered(project.offer(), PATCHED, example.example(), size=size) as play:
        assert "Notes go by patch, which is best effort; I installs the plugin." in play.footer()
        if size[0] == 120:
            assert "I installs the plugin" in "\n".join(play.lines()[:2])
        assert len(project.remarks) == 1 and "I installs the plugin" in project.remarks[0]
        play.host.serve(live_server(state="reconnecting", delivery="patch"))
        await play.settle()
        play.host.serve(PATCHED)
        await play.settle()
        await done(play)
        assert len(project.remarks) == 1
        await press(play, "I", "enter", "escape")
        assert tree(project.folder) == {PLUGIN, AGENT}
        assert "installs the plugin" not in words(play)


async def test_the_palette_does_it_too(project: Project) -> None:
    async with offered(project.offer(), PATCHED, example.example()) as play:
        await press(play, "ctrl+p", *"install")
        assert "install plugin" in words(play)
        await press(play, "enter")
        assert isinstance(play.app.screen, Prepare)


async def test_no_offer_where_the_plugin_is(project: Project, tmp_path: Path) -> None:
    (tmp_path / "home" / ".config" / "opencode" / "plugins").mkdir(parents=True)
    Preparation(project.folder).carry_out()
    project.plugin.rename(tmp_path / "home" / ".config" / "opencode" / "plugins" / "ledger.js")
    for server, view in ((NOBODY, None), (PATCHED, example.example())):
        async with offered(project.offer(), server, view) as play:
            assert "install" not in words(play) and "prepared" not in words(play)
    assert project.remarks == []


@pytest.mark.parametrize(
    ("server", "changes"),
    [
        (PATCHED, {"read_only": True}),
        (live_server(delivery="patch", replay=True), {}),
        (live_server(delivery="hook"), {}),
        (live_server(state="file", delivery="none"), {"read_only": True}),
    ],
)
async def test_never_where_it_is_of_no_use(project: Project, server: ServerView, changes: dict[str, Any]) -> None:
    async with offered(project.offer(), server, example.example(), **changes) as play:
        assert "installs the plugin" not in words(play)
        await press(play, "I")
        assert play.on_board
    assert tree(project.folder) == set()
    assert project.remarks == []


async def test_no_hint_where_notes_are_off(project: Project) -> None:
    async with offered(project.offer(), live_server(delivery="off"), example.example()) as play:
        assert "installs the plugin" not in words(play)
    assert project.remarks == []


@pytest.mark.parametrize("view", [None, example.example()])
async def test_without_an_offer_the_key_says_why_not(view: SessionView | None) -> None:
    async with offered(None, PATCHED, view) as play:
        assert "prepared" not in words(play)
        await press(play, "I")
        assert play.on_board
        assert "Nothing to install" in play.footer()


async def test_own_keys_are_shown(project: Project) -> None:
    async with offered(project.offer(), keys={"init": "f5"}) as play:
        assert "press f5 to let the ledger" in words(play)


class Slow:
    """A preparation that waits, as on a drive that does not answer."""

    def __init__(self, fails: bool = False) -> None:
        self.go = threading.Event()
        self.began = threading.Event()
        self._fails = fails

    def is_missing(self) -> bool:
        return True

    def plan(self) -> Told:
        return Told(deeds=("would write    \x1b]52;c;x\x07a",), changes=True)

    def carry_out(self) -> Told:
        self.began.set()
        assert self.go.wait(20)
        if self._fails:
            raise FileError("cannot write a: No space left on device")
        return Told(deeds=("wrote          a",), then=("OpenCode loads it.",), changes=True)


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        (False, "the plugin was installed. OpenCode loads it."),
        (True, "the plugin was not installed: cannot write a: No space left on device"),
    ],
)
async def test_a_slow_drive_holds_nothing_up(fails: bool, said: str) -> None:
    slow, remarks = Slow(fails), list[str]()
    make: Callable[[], Slow] = lambda: slow  # noqa: E731
    async with offered(Offer(make, remarks.append)) as play:
        await press(play, "I")
        assert "\x1b" not in play.text()
        await play.press("enter", "enter")
        assert slow.began.wait(20)
        assert "Installing" in words(play)
        await play.press("escape")
        assert play.on_board
        assert remarks == []
        slow.go.set()
        await done(play)
        assert remarks == [said]
