from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import history_works as works
from tests.history_data import large

SESSIONS = 60
MIB = 2**20


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large(tmp_path_factory.mktemp("bench") / "opencode.db", SESSIONS, messages=4, parts=3)


def test_the_plain_lists_find_what_the_list_finds(database: Path) -> None:
    assert {work(database)[0] for work in (works.listed, works.plainly_listed, works.plainly_read)} == {SESSIONS}


def test_the_sums_are_of_all_sessions(database: Path) -> None:
    assert works.counted_up(database)[0] == SESSIONS


def test_pages_are_full(database: Path) -> None:
    assert works.first_page(database)[0] == works.PAGE
    assert works.last_page(database, str(SESSIONS))[0] == works.PAGE
    assert works.last_page(database, str(SESSIONS + 20))[0] == works.PAGE - 20


def test_a_second_update_of_the_index_reads_nothing_and_searches_agree(database: Path) -> None:
    assert [works.indexed(database)[0] for _ in range(2)] == [SESSIONS, 0]
    found, each = works.searched(database, "s7m2p2", "nowhere")
    assert (found, len(each)) == (1, 2)
    assert works.plainly_searched(database, "s7m2p2")[0] == 1
    assert works.plainly_searched(database, "nowhere")[0] == 0


def test_transcripts_are_of_the_same_sessions_from_all_over(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(works, "SAMPLE", 7)
    ours, plain = works.transcribed(database), works.plainly_transcribed(database)
    assert len(ours[1]) == len(plain[1]) == 7
    assert ours[0] > 7 * 4 * 3 * 300
    assert plain[0] > 7 * 4 * 3 * 300


def test_a_work_is_measured_in_a_process_whose_memory_is_its_own(database: Path) -> None:
    ballast = bytearray(b"x") * (200 * MIB)
    found = works.measure("listed", database)
    assert found.answer == SESSIONS
    assert 0 < found.memory < len(ballast)
    assert found.cpu > 0
    assert found.wall > 0
