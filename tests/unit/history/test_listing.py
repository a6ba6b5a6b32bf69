"""Which sessions are listed, in what order, and what is told of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import FileError, UsageError
from core.history.listing import OWN_TITLE, count_sessions, find_session, list_all, list_sessions, schema_of
from core.history.rows import Counts, Schema, SessionRow
from core.history.source import Source
from core.ledger.observations import Tokens
from tests import history_data as data
from tests.history_data import BASE, Builder


def ids(path: Path, **options: object) -> list[str]:
    with Source.open(path) as source:
        return [row.id for row in list_sessions(source, **options)]  # type: ignore[arg-type]


def only(path: Path, id: str) -> SessionRow:
    with Source.open(path) as source:
        row = find_session(source, id)
    assert row is not None
    return row


@pytest.fixture
def five(tmp_path: Path) -> Path:
    """Five sessions, written in another order than the list's; three were created in the same millisecond."""
    with Builder(tmp_path / "a.db") as b:
        for id, created in (("ses_5", BASE + 9), ("ses_3", BASE + 5), ("ses_1", BASE), ("ses_4", BASE + 5),
                            ("ses_2", BASE + 5)):  # fmt: skip
            b.session(id, created)
    return tmp_path / "a.db"


def test_oldest_first_and_by_id_where_times_are_equal(five: Path) -> None:
    assert ids(five) == ["ses_1", "ses_2", "ses_3", "ses_4", "ses_5"]


@pytest.mark.parametrize(
    ("limit", "offset", "expected"),
    [
        (2, 0, [1, 2]),
        (2, 1, [2, 3]),
        (None, 3, [4, 5]),
        (0, 0, []),
        (0, 2, []),
        (9, 4, [5]),
        (3, 5, []),
        (None, 99, []),
    ],
)
def test_limit_and_offset_come_after_the_order(five: Path, limit: int | None, offset: int, expected: list[int]) -> None:
    assert ids(five, limit=limit, offset=offset) == [f"ses_{n}" for n in expected]


@pytest.mark.parametrize("option", ["limit", "offset"])
def test_a_negative_number_is_a_usage_error_at_once(five: Path, option: str) -> None:
    with Source.open(five) as source, pytest.raises(UsageError, match=f"--{option} is -1"):
        list_sessions(source, **{option: -1})  # type: ignore[arg-type]


def test_sub_agents_only_when_asked_for(tmp_path: Path) -> None:
    path = data.small_v1(tmp_path / "a.db")
    assert ids(path) == ["ses_a", "ses_b"]
    assert ids(path, include_children=True) == ["ses_a", "ses_c", "ses_b"]


def test_the_ledgers_own_sessions_never(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.session("ses_2", title=OWN_TITLE)
        b.session("ses_3")
        b.session("ses_4", parent_id="ses_3")
    path = tmp_path / "a.db"
    assert ids(path, own={"ses_3"}, include_children=True) == ["ses_1"]
    assert ids(path, own={"ses_3"}, limit=1, offset=1) == []
    with Source.open(path) as source:
        assert count_sessions(source, own={"ses_3"}) == 1
        assert count_sessions(source, include_children=True) == 3


def test_what_is_told_of_a_session(tmp_path: Path) -> None:
    row = only(data.small_v1(tmp_path / "a.db"), "ses_a")
    assert row == SessionRow(
        id="ses_a", title="First", directory="/home/u/project", parent="", schema=Schema.V1, time_created=BASE,
        time_updated=BASE + 3, archived=False, cost=0.25, tokens=Tokens(input=10, output=5),
        messages=Counts(all=2, user=1, assistant=1), model="fake/m1", agent="build",
    )  # fmt: skip
    assert only(tmp_path / "a.db", "ses_b").archived
    assert only(tmp_path / "a.db", "ses_c").parent == "ses_a"


def test_a_title_is_one_clean_line_without_secrets(tmp_path: Path) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1", title=f"---\nkey: \x1b[31mvalue\n---\r\n{secret}")
        b.session("ses_2", title="x" * 100_000)
    title = only(tmp_path / "a.db", "ses_1").title
    assert title.startswith("--- key: value --- ")
    assert secret not in title
    assert len(only(tmp_path / "a.db", "ses_2").title) <= 500


def test_columns_of_any_content_do_no_harm(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1", title=b"\xff\xfe", directory=7, cost="much", tokens_input="many", model="{", agent=3.5,
                  time_updated="x", time_archived=None)  # fmt: skip
    row = only(tmp_path / "a.db", "ses_1")
    assert (row.cost, row.tokens, row.model, row.archived) == (0.0, Tokens(), "", False)


def test_an_older_database_without_sums_has_them_from_its_messages(tmp_path: Path) -> None:
    tables = (f"CREATE TABLE session {data._SESSION_OLD}", *data.V1[1:6])
    with Builder(tmp_path / "a.db", tables) as b:
        b.session("ses_1")
        b.message("ses_1", "msg_1", "user")
        for n in (2, 3):
            b.message("ses_1", f"msg_{n}", "assistant", BASE + n, cost=0.5, modelID="m", providerID="p", mode="build",
                      tokens={"input": 3, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 5}})  # fmt: skip
        b.message("ses_1", "msg_4", raw="{broken", created=BASE + 4)
    row = only(tmp_path / "a.db", "ses_1")
    assert row.cost == 1.0
    assert row.tokens == Tokens(input=6, output=4, reasoning=2, cache_read=8, cache_write=10)
    assert (row.model, row.agent) == ("p/m", "build")
    assert row.messages == Counts(all=4, user=1, assistant=2)


def test_unreadable_messages_count_without_a_role(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db") as b:
        b.session("ses_1")
        b.message("ses_1", "msg_1", "user")
        b.message("ses_1", "msg_2", raw="")
        b.message("ses_1", "msg_3", raw=b"\x00\xff{")
        b.message("ses_1", "msg_4", raw='{"role": 5}')
        b.message("ses_1", "msg_5", raw='{ "role" : "assistant" }')
    assert only(tmp_path / "a.db", "ses_1").messages == Counts(all=5, user=1, assistant=1)


def test_both_layouts_give_each_id_once_and_the_newer_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Builder(path, (*data.V1, *data.V2)) as b:
        b.session("ses_both", BASE, title="old")
        b.message("ses_both", "msg_old", "user")
        b.session("ses_one", BASE + 1)
        b.message("ses_one", "msg_one", "user")
        data.fill_v2(b, "ses_both", BASE)
        data.fill_v2(b, "ses_two", BASE + 2)
        b.session("ses_bare", BASE + 3, title="old")
        b.message("ses_bare", "msg_bare", "user")
        b.session("ses_bare", BASE + 3, table="session_v2", title="not taken over")
    with Source.open(path) as source:
        rows = {row.id: row for row in list_sessions(source)}
        assert list(rows) == ["ses_both", "ses_one", "ses_two", "ses_bare"]
        assert [row.schema for row in rows.values()] == [Schema.V2, Schema.V1, Schema.V2, Schema.V1]
        assert rows["ses_both"].title == ""
        assert rows["ses_both"].messages == Counts(all=5, user=1, assistant=1)
        assert rows["ses_bare"].title == "not taken over"
        assert rows["ses_bare"].messages.all == 1
        assert schema_of(source, "ses_nowhere") is Schema.LEGACY


def test_messages_of_v2_under_sessions_of_v1_are_counted(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.db", (*data.V1, *data.MESSAGES_V2)) as b:
        b.session("ses_1")
        b.message_v2("ses_1", "msg_1", "user", 1, text="hello")
    row = only(tmp_path / "a.db", "ses_1")
    assert (row.schema, row.messages.user) == (Schema.V2, 1)


def test_several_databases_are_one_list(tmp_path: Path) -> None:
    for name, sessions in (("a.db", [("ses_1", 0), ("ses_3", 5)]), ("b.db", [("ses_2", 1), ("ses_3", 7)])):
        with Builder(tmp_path / name) as b:
            for id, later in sessions:
                b.session(id, BASE + later)
    with Source.open(tmp_path / "a.db") as one, Source.open(tmp_path / "b.db") as two:
        found = [(source.path.name, row.id) for source, row in list_all([one, two])]
    assert found == [("a.db", "ses_1"), ("b.db", "ses_2"), ("a.db", "ses_3")]


def test_a_write_during_an_unprotected_list_is_told(tmp_path: Path) -> None:
    path = data.small_v1(tmp_path / "a.db")
    with Source.open(path) as source:
        rows = list_sessions(source)
        next(rows)
        with Builder(path, ()) as b:
            b.session("ses_new")
        with pytest.raises(FileError, match="was changed while it was read"):
            list(rows)


_MEASURED = """
import sys
from pathlib import Path
from core.history.listing import list_sessions
from core.history.source import Source
with Source.open(Path(sys.argv[1])) as source:
    rows = list(list_sessions(source))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(rows[0].messages.user, rows[0].messages.assistant, peak.split()[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_a_message_of_57_mb_is_counted_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Builder(path) as b:
        b.session("ses_1", summary_diffs="y" * 1_000_000)
        b.message("ses_1", "msg_1", "user", summary={"diffs": [{"before": "x" * 57_000_000}]})
        for n in range(2, 6):
            b.message("ses_1", f"msg_{n}", "assistant", parentID="msg_1", x="y" * 5_000_000 * n)
    result = subprocess.run([sys.executable, "-c", _MEASURED, str(path)], check=True, capture_output=True, text=True)
    users, assistants, kib = map(int, result.stdout.split())
    assert (users, assistants) == (1, 4)
    assert kib < 150 * 1024
