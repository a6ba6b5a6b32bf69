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
