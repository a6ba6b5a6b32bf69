"""Where the generated files go."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.installing.places import all_places, global_place, project_place


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_outside_of_a_work_tree_it_is_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / ".opencode").mkdir()
    (tmp_path / "a").mkdir()
    place = project_place(tmp_path / "a")
    assert (place.scope, place.root, place.top) == ("project", tmp_path / "a" / ".opencode", tmp_path / "a")
    assert place.plugin == tmp_path / "a" / ".opencode" / "plugins" / "ledger.js"
    assert place.agent == tmp_path / "a" / ".opencode" / "agent" / "ledger-extractor.md"


@pytest.mark.parametrize(("made", "expected"), [("", "top"), ("top/a/.opencode", "top/a"), ("top/.opencode", "top")])
def test_in_a_work_tree(tmp_path: Path, made: str, expected: str) -> None:
    below = tmp_path / "top" / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "top" / ".git").mkdir()
    (tmp_path / ".opencode").mkdir()  # beyond the top: OpenCode does not look there
    if made:
        (tmp_path / made).mkdir()
    assert project_place(below).root == tmp_path / expected / ".opencode"


def test_a_work_tree_around_the_home_folder_does_not_count(home: Path) -> None:
    (home / ".git").mkdir()
    (home / "project").mkdir()
    assert project_place(home / "project").root == home / "project" / ".opencode"
    assert project_place(home).root == home / ".opencode"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HOME": "/h"}, "/h/.config/opencode"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/opencode"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/x", "OPENCODE_CONFIG_DIR": "/o"}, "/o"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "", "OPENCODE_CONFIG_DIR": ""}, "/h/.config/opencode"),
    ],
)
def test_of_the_user(environ: dict[str, str], expected: str) -> None:
    assert global_place(environ).root == Path(expected)


def test_opencode_loads_from_all_of_them(tmp_path: Path) -> None:
    environ = {"HOME": "/h", "OPENCODE_CONFIG_DIR": "/o"}
    roots = [place.root for place in all_places(tmp_path, environ)]
    assert roots == [tmp_path / ".opencode", Path("/o"), Path("/h/.config/opencode")]
    assert [place.scope for place in all_places(tmp_path, {"HOME": "/h"})] == ["project", "global"]
