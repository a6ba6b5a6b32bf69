"""What the index holds, and what of a source is read again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core import paths
from core.errors import FileError
from core.history.index import DATABASE, Index
from core.history.search import search
from core.history.source import Source
from tests import history_data as data
from tests.history_data import BASE, Builder, text, tool


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return data.small_v1(tmp_path / "a.db")


def updated(*places: Path, own: tuple[str, ...] = ()) -> int:
    """How many sessions were read."""
    sources = [Source.open(place) for place in places]
    with Index.open() as index:
        read = index.update(sources, own)
    for source in sources:
        source.close()
    return read


def ids(query: str, *places: Path, **options: object) -> list[str]:
    with Index.open() as index:
        return [hit.id for hit in search(index, query, places, **options)]  # type: ignore[arg-type]


def test_only_what_is_new_or_changed_is_read(place: Path) -> None:
    assert updated(place) == 3
    assert updated(place) == 0
    with Builder(place, ()) as b:
        b.session("ses_d", BASE + 9_000, title="Fourth")
        b.message("ses_b", "msg_b9", "user", BASE + 9_000)
        b.part("msg_b9", "prt_b9", text("a walrus"))
    assert updated(place) == 2
    assert ids("walrus", place) == ["ses_b"]
    with Builder(place, ()) as b:
        b.db.execute("DELETE FROM session WHERE id = 'ses_b'")
    assert updated(place) == 0
    assert ids("walrus", place) == []


def test_what_an_interrupted_run_has_read_stays(place: Path) -> None:
    def stop(done: int, of: int) -> None:
        assert of == 3
        if done == 1:
            raise KeyboardInterrupt

    with Source.open(place) as source, Index.open() as index, pytest.raises(KeyboardInterrupt):
        index.update([source], on_progress=stop)
    assert ids("makefile", place) == ["ses_a"]
    assert updated(place) == 2


def test_titles_and_spoken_texts_are_indexed_and_nothing_else(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_a", title="Café")
        b.message("ses_a", "m1", "user")
        b.part("m1", "p1", text("zebra"))
        b.part("m1", "p2", text("giraffe", synthetic=True))
        b.part("m1", "p3", {"type": "reasoning", "text": "lion"})
        b.part("m1", "p4", tool("bash", {"command": "tiger"}, "leopard"))
        b.part("m1", "p5", '{ "type" : "text", "text": "okapi" }')
    place = tmp_path / "a.db"
    updated(place)
    found = {word for word in ("zebra", "giraffe", "lion", "tiger", "leopard", "okapi", "cafe") if ids(word, place)}
    assert found == {"zebra", "okapi", "cafe"}


def test_all_layouts(tmp_path: Path) -> None:
    two = data.small_v2(tmp_path / "two.db")
    old = data.legacy(tmp_path / "old")
    assert updated(two, old) == 2
    assert ids("lines", two, old) == ["ses_two"]
    assert ids("lot", two, old) == ["ses_old0"]
    assert ids("lot", two) == []


def test_a_session_that_is_in_two_databases_is_found_once(tmp_path: Path) -> None:
    both = data.small_v1(tmp_path / "a.db"), data.small_v1(tmp_path / "b.db")
    updated(*both)
    assert ids("makefile", *both) == ["ses_a"] == ids("makefile", both[1])


def test_children_only_when_asked_for_and_own_sessions_never(place: Path) -> None:
    updated(place, own=("ses_b",))
    assert ids("child", place) == [] and ids("child", place, include_children=True) == ["ses_c"]
    assert ids("picture", place) == []


def test_old_files_are_found_only_while_they_are_read(tmp_path: Path) -> None:
    place = data.small_v1(tmp_path / "opencode.db")
    data.legacy(tmp_path)
    for legacy_json, found in ((False, []), (True, ["ses_old0"]), (False, [])):
        with Source.open(place, legacy_json=legacy_json) as source, Index.open() as index:
            index.update([source])
        assert ids("lot", place) == found


def test_a_damaged_index_is_made_anew(place: Path) -> None:
    updated(place)
    (paths.cache_dir() / DATABASE).write_bytes(b"not a database at all" * 400)
    assert updated(place) == 3


def test_an_index_that_cannot_be_written_is_one_line(place: Path) -> None:
    updated(place)
    with Builder(place, ()) as b:
        b.session("ses_new", BASE + 9_999)
    with Index.open() as index, Source.open(place) as source:
        index.connection.execute("PRAGMA busy_timeout = 1")
        other = sqlite3.connect(index.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(FileError, match=r"cannot use the index .*history\.db: database is locked"):
            index.update([source])
        other.close()
        assert index.update([source]) == 1


def test_a_time_that_no_column_can_hold_does_no_harm(place: Path) -> None:
    with Builder(place, ()) as b:
        b.session("ses_x", 1e300, title="Walrus")  # type: ignore[arg-type]
    assert updated(place) == 4
    assert ids("walrus", place) == ["ses_x"]


def test_the_log_beside_what_a_link_points_to_is_looked_at(place: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links/a.db"
    link.symlink_to(place)
    assert updated(link) == 3
    writer = sqlite3.connect(place)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("UPDATE session SET title = 'Walrus', time_updated = time_updated + 1 WHERE id = 'ses_a'")
    writer.commit()
    assert updated(link) == 1
    assert ids("walrus", link) == ["ses_a"]
    writer.close()
