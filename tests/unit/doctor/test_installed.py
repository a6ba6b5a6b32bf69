"""What the checks say of the plugin and the agent's file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.doctor import installed
from core.doctor.lines import Line
from core.doctor.reach import Reach
from core.installing.install import install
from core.installing.places import Place, all_places
from core.installing.running import Running
from core.opencode.discovery import Found
from core.rendezvous import Door

from .stage import VERSION, Stage


def places(stage: Stage) -> list[Place]:
    return all_places(stage.project, stage.environ)


def put(place: Place, version: str = VERSION) -> None:
    install(place, plugin="x\n", version=version)


def both(stage: Stage) -> list[Line]:
    return [*stage.lines(installed.plugin), *stage.lines(installed.agent_file)]


def test_nothing_there(stage: Stage) -> None:
    assert [(line.check, line.status) for line in both(stage)] == [("plugin", "warn"), ("agent file", "warn")]
    assert all("ledger-tui init" in line.fix for line in both(stage))
    assert not installed.plugin_is_there(stage.surroundings())


@pytest.mark.parametrize("index", [0, 1])
def test_there(stage: Stage, index: int) -> None:
    put(places(stage)[index])
    assert [line.status for line in both(stage)] == ["ok", "ok"]
    assert str(places(stage)[index].plugin) in both(stage)[0].text
    assert installed.plugin_is_there(stage.surroundings())


@pytest.mark.parametrize(("version", "fix"), [("0.1.0", "ledger-tui init --global"), ("0.10.0", "Update ledger-tui")])
def test_of_another_version(stage: Stage, version: str, fix: str) -> None:
    put(places(stage)[1], version)
    for line in both(stage):
        assert (line.status, f"version {version}; this is {VERSION}" in line.text) == ("warn", True)
        assert fix in line.fix


def test_edited(stage: Stage) -> None:
    put(places(stage)[0])
    path = places(stage)[0].plugin
    path.write_text(path.read_text() + "//\n")
    line, other = both(stage)
    assert (line.status, "edited since" in line.text, other.status) == ("warn", True, "ok")


def test_edited_and_of_an_earlier_version(stage: Stage) -> None:
    """`init` refuses to replace it, so that is not what is advised."""
    put(places(stage)[0], "0.1.0")
    path = places(stage)[0].plugin
    path.write_text(path.read_text() + "//\n")
    line, _ = both(stage)
    assert (line.status, "version 0.1.0, edited" in line.text) == ("warn", True)
    assert line.fix == "Move it away, run `ledger-tui init`, and carry your edits over."


def test_somebody_elses(stage: Stage) -> None:
    path: Path = places(stage)[0].plugin
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    (line,) = stage.lines(installed.plugin)
    assert (line.status, "did not write it" in line.text) == ("warn", True)
    assert not installed.plugin_is_there(stage.surroundings())


def test_twice(stage: Stage) -> None:
    for place in places(stage):
        put(place)
    lines = stage.lines(installed.plugin)
    assert [line.status for line in lines] == ["ok", "ok", "ok"]
    assert "more than once" in lines[2].text


@pytest.mark.parametrize(("loaded", "statuses"), [(VERSION, ["ok"]), ("0.1.0", ["ok", "warn"]), ("", ["ok"])])
def test_what_opencode_has_loaded(stage: Stage, loaded: str, statuses: list[str]) -> None:
    put(places(stage)[0])
    door = Door(v=1, port=1, token="0" * 64, pid=os.getpid(), directory="/", shim=loaded)
    assert [line.status for line in stage.lines(installed.plugin, Reach(doors=(door,)))] == statuses


class TestModules:
    """What OpenCode fetches beside a plugin, in the folder of each plugin that is installed."""

    def fetched(self, place: Place) -> None:
        library = place.root / "node_modules" / "@opencode-ai" / "plugin"
        library.mkdir(parents=True)
        (library / "package.json").write_text("{}")

    def test_no_plugin(self, stage: Stage) -> None:
        (line,) = stage.lines(installed.modules)
        assert (line.status, line.fix) == ("ok", "")

    @pytest.mark.parametrize("index", [0, 1])
    def test_missing_then_fetched(self, stage: Stage, index: int) -> None:
        place = places(stage)[index]
        put(place)
        (place.root / "node_modules" / "half").mkdir(parents=True)
        (line,) = stage.lines(installed.modules)
        assert (line.status, "with a network" in line.fix, str(place.root) in line.text) == ("warn", True, True)
        self.fetched(place)
        (line,) = stage.lines(installed.modules)
        assert (line.status, line.fix) == ("ok", "")

    def test_each_place_counts(self, stage: Stage) -> None:
        for place in places(stage):
            put(place)
        self.fetched(places(stage)[1])
        assert [line.status for line in stage.lines(installed.modules)] == ["warn", "ok"]


@pytest.mark.parametrize(
    ("started", "door", "listens", "statuses"),
    [
        (-60.0, False, True, ["ok", "warn"]),
        (60.0, False, True, ["ok"]),
        (0.0, False, True, ["ok"]),
        (-60.0, True, True, ["ok"]),
        (-60.0, False, False, ["ok"]),
    ],
)
def test_a_server_that_was_started_before(
    stage: Stage, started: float, door: bool, listens: bool, statuses: list[str]
) -> None:
    put(places(stage)[0])
    since = places(stage)[0].plugin.stat().st_mtime + started if started else 0.0
    doors = (Door(v=1, port=1, token="0" * 64, pid=7, directory="/", shim=VERSION),) if door else ()
    server = Found(url="u", pid=7, version="1", match="same")
    way = Reach(here=(Running(pid=7, cwd="/", started=since),), doors=doors, found=(server,) if listens else ())
    lines = stage.lines(installed.plugin, way)
    assert [line.status for line in lines] == statuses
    assert len(lines) == 1 or "process 7" in lines[1].text
