"""Names other than files that a call touches."""

from __future__ import annotations

import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ledger.keynames import keys_of
from core.ledger.keys import Hit, KeyIndex, text_of
from tests.bench.keys import judge, plain, score
from tests.corpus.cases import KeyCase
from tests.corpus.load import load_as


def touched(topic: str, text: str, tool: str = "bash") -> bool:
    index = KeyIndex()
    index.add(topic)
    return bool(index.touched(tool, text))


@pytest.mark.parametrize(
    ("topic", "command"),
    [
        ("api:/users/{id}", "curl localhost:8080/users/42"),
        ("api:/users/{id}", "grep -rn '/users/:id' src"),
        ("api:/users", "curl https://api.example.com/users/"),
        ("api:https://api.example/users", "curl https://API.example/users"),
        ("table:users", "python manage.py dbshell -c 'select * from users'"),
        ("table:users", "pg_dump -t users shop"),
        ("table:users", r"psql -c '\d+ users'"),
        ("table:users", "psql <<'EOF'\nselect 1 from users;\nEOF"),
        ("table:users", "echo 'select * from users' | psql"),
        ("table:users", "docker exec db psql -U app -c 'select * from accounts, users u'"),
        ("table:users", "python3 -c \"db.execute('select id from users where x = 1')\""),
        ("table:users", "psql -c \"select 1 from information_schema.tables where table_name = 'users'\""),
        ("column:users.email", "psql -c 'select u.email from users u'"),
        ("column:users.email", "psql -c 'select email from public.users where id = 3'"),
        ("env:PORT", "echo $PORT"),
        ("env:PORT", "printenv PORT"),
        ("env:PORT", 'node -e "console.log(process.env.PORT)"'),
        ("symbol:MAX_TRIES", "echo ${MAX_TRIES}"),
        ("symbol:MAX_TRIES", "git log -S MAX_TRIES"),
        ("symbol:MAX_TRIES", "git grep -n MAX_TRIES"),
        ("symbol:resample", "grep -rn 'def resample' src"),
        ("symbol:parse_header", "sed -n '/def parse_header/,/return/p' a.py"),
        ("symbol:Foo::bar_baz", "grep -rn 'Foo::bar_baz(' ."),
        ("version:node", "node --version"),
        ("error:404", "awk '$9 == 404' access.log"),
        ("http-status:404 Not Found", "grep 404 access.log"),
        ("db-table:users schema", "psql -c 'select * from users'"),
        ("column-type:users.email", "psql -c 'select users.email from users'"),
        ("error:E0308", "bash -c 'rustc --explain E0308'"),
        ("error:E0308", "ssh host 'grep E0308 log'"),
        ("error: E0308, E0382", "rustc --explain E0382"),
        ("cve:CVE-2024-3094", "curl -s https://nvd.example/vuln/detail/cve-2024-3094"),
        ("config-key:timeout_ms", "jq '.server.timeout_ms' c.json"),
        ("test:tests/a/test_b.py::TestX::test_deep_thing", "pytest tests/a/test_b.py::TestX::test_deep_thing[1-2]"),
        ("test:tests/a/test_b.py::TestX::test_deep_thing", "cd tests/a && pytest test_b.py::TestX::test_deep_thing"),
        ("test:tests/a/test_b.py::TestX::test_deep_thing", "pytest -k test_deep_thing"),
    ],
)
def test_whole_words_in_their_own_sense_touch(topic: str, command: str) -> None:
    assert touched(topic, command)


@pytest.mark.parametrize(
    ("topic", "command"),
    [
        ("api:/users", "ls /users"),
        ("api:/users", "curl http://host.example/api/users"),
        ("api:/users/{id}", "curl localhost:8080/users/42/orders"),
        ("table:users", "psql -U users -c 'select 1'"),
        ("table:users", "psql -c \"select * from roles where name = 'users'\""),
        ("table:users", "python -c 'from users import User'"),
        ("table:users", "grep -rn users src"),
        ("column:users.email", "psql -c 'select email from customers'"),
        ("column:users.email", "psql -c 'select c.email from customers c join users u on c.id = u.id'"),
        ("error:404", "curl localhost:404"),
        ("error:gave up after 300 seconds", "grep 300 access.log"),
        ("table:users schema", "psql -c 'select * from schema'"),
        ("error:404", "sleep 404"),
        ("error:404", "grep -A 404 x log"),
        ("error:404", "awk 'NR==404' log"),
        ("error:404", "grep 404.html x"),
        ("error:404", "grep 1,404 x"),
        ("error:404", "head -n 404 x"),
        ("error:E0308", r"grep 'E0308\d' x"),
        ("symbol:parse_header", "ls src/parse_header/x"),
        ("symbol:parse_header", "cat src/parse_header.py"),
        ("symbol:MAX_TRIES", "ls MAX_TRIES*"),
        ("symbol:refresh", "git fetch refresh"),
        ("env:PORT", "grep port x"),
        ("version:python", "python train.py"),
        ("test:tests/a/test_b.py::test_deep_thing", "pytest tests/a/test_c.py::test_deep_thing"),
    ],
)
def test_other_names_and_english_words_do_not(topic: str, command: str) -> None:
    assert not touched(topic, command)


@pytest.mark.parametrize(
    "command",
    [
        "echo E0308",
        "git commit -am 'fix E0308'",
        "git add E0308",
        "rustc a.rs 2> E0308",
        "rm E0308",
        "mkdir -p E0308",
        "gh pr create --title 'fix E0308'",
        "ls # E0308",
        "cat > notes.txt <<EOF\nE0308\nEOF",
    ],
)
def test_what_only_writes_files_away_or_talks_is_no_look(command: str) -> None:
    assert not touched("error:E0308", command)


@pytest.mark.parametrize(
    "topic",
    [
        "file-format:rows.csv",
        "weights:model.ckpt:layer_norm",
        "file:src/main_loop.go",
        "weights:layer 3",
        "symbol:x",
        "symbol:value",
        "test:login works",
        "test",
        "note:the users of the table",
        "error:timeout after 300 seconds",
        "code:7",
        "api:/",
        "",
        "symbol:" + "x_" * 400,
    ],
)
def test_topics_about_files_and_common_words_have_no_key(topic: str) -> None:
    assert keys_of(topic) == ()


def test_files_with_the_extensions_given_are_left_to_the_index_of_files() -> None:
    assert keys_of("format:rows_2.xyz", frozenset({"xyz"})) == ()
    assert keys_of("format:rows_2.xyz")


def test_the_reason_is_given_and_topics_come_in_the_order_in_which_they_were_added() -> None:
    index = KeyIndex()
    for topic in ("error:E0308", "symbol:parse_header", "table:users"):
        index.add(topic)
    assert index.touched("bash", "psql -c 'select 1 from users'; grep parse_header src; rustc --explain E0308") == (
        Hit(topic="error:E0308", key="E0308", why="error code `E0308` in the command"),
        Hit(topic="symbol:parse_header", key="parse_header", why="symbol `parse_header` in a search pattern"),
        Hit(topic="table:users", key="users", why="table name `users` in the command"),
    )


@pytest.mark.parametrize(
    ("tool", "args", "why"),
    [
        ("grep", {"pattern": "def parse_header", "path": "src"}, "symbol `parse_header` in the pattern"),
        ("edit", {"oldString": "a", "newString": "parse_header(b)"}, "symbol `parse_header` in the edited text"),
        ("bash", {"command": "grep parse_header src"}, "symbol `parse_header` in a search pattern"),
    ],
)
def test_other_tools_are_read_by_their_own_arguments(tool: str, args: dict[str, str], why: str) -> None:
    index = KeyIndex()
    index.add("symbol:parse_header")
    assert [hit.why for hit in index.touched(tool, text_of(tool, args))] == [why]


def test_tools_that_name_no_keys_and_arguments_of_other_types_give_no_text() -> None:
    assert text_of("todowrite", {"todos": "parse_header"}) == ""
    assert text_of("bash", {"command": 3}) == ""


def test_a_topic_that_was_discarded_is_touched_no_more() -> None:
    index = KeyIndex()
    index.add("error:E0308")
    index.add("errno:E0308")
    index.discard("error:E0308")
    index.discard("never:added")
    assert "error:E0308" not in index
    assert [hit.topic for hit in index.touched("bash", "rustc --explain E0308")] == ["errno:E0308"]


def test_precision_comes_first_on_the_labelled_calls() -> None:
    precision, recall, cases = score("open")
    seed_precision, _, _ = score("open", plain)
    assert cases > 60
    assert precision >= 0.98
    assert recall >= 0.95
    assert precision > seed_precision


def test_judges_see_each_case_alone() -> None:
    case = next(case for case in load_as(KeyCase) if case.label == "matches")
    assert judge(case) == judge(case) == "matches"


@given(st.text(max_size=200), st.sampled_from(["bash", "grep", "webfetch", "read", "edit", "none"]))
def test_any_text_is_read_without_error(text: str, tool: str) -> None:
    index = KeyIndex()
    for topic in ("symbol:parse_header", "api:/a/{id}", "table:users", "test:a::b_c_d_e_f", text):
        index.add(topic)
    index.touched(tool, text)
    index.touched(tool, f"parse_header users {text}")


@given(
    st.text(string.ascii_lowercase + string.digits + "_", min_size=1, max_size=8),
    st.text(string.ascii_lowercase + string.digits + "_", min_size=1, max_size=8),
)
def test_a_longer_word_is_never_the_key(before: str, after: str) -> None:
    for name in (f"{before}parse_header", f"parse_header{after}", f"{before}parse_header{after}"):
        assert not touched("symbol:parse_header", f"grep -rn {name} src")
        assert not touched("symbol:parse_header", name, "grep")


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcd")), max_size=40))
def test_adding_and_discarding_leaves_what_was_added_last(changes: list[tuple[bool, str]]) -> None:
    index = KeyIndex()
    expected: dict[str, None] = {}
    for is_added, letter in changes:
        topic = f"symbol:name_{letter}_x"
        if is_added:
            index.add(topic)
            expected.setdefault(topic, None)
        else:
            index.discard(topic)
            expected.pop(topic, None)
    text = "grep 'name_a_x name_b_x name_c_x name_d_x' src"
    assert [hit.topic for hit in index.touched("bash", text)] == list(expected)
    assert len(index) == len(expected)


def test_the_number_of_topics_does_not_change_the_work_for_a_call() -> None:
    small, large = KeyIndex(), KeyIndex()
    for n in range(5_000):
        large.add(f"column:table_{n}.identity_no")
    small.add("column:table_7.identity_no")
    command = "psql -c 'select table_7.identity_no from table_7'"
    calls, hits = _work(small, command)
    assert len(hits) == 1
    assert _work(large, command) == (calls, hits)


def test_the_work_grows_no_faster_than_the_text() -> None:
    index = KeyIndex()
    for topic in ("table:users", "column:users.email", "symbol:parse_header", "api:/a/b/c_d", "test:t_a_b_c::d_e_f_g"):
        index.add(topic)
    for unit in ("a{n}. ", "select c{n} from users, ", "/a{n}/b ", "x{n}::y ", "http://h/{n} ", "parse_header "):
        for head in ("psql -c '", "curl ", "grep '"):
            short, long = (head + "".join(unit.format(n=n) for n in range(times)) + "'" for times in (50, 400))
            assert _work(index, long)[0] < 10 * _work(index, short)[0] + 2_000


def _work(index: KeyIndex, command: str) -> tuple[int, tuple[Hit, ...]]:
    """Functions called for a command, those of built-in types included, and the hits."""
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    index.touched("bash", command)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        hits = index.touched("bash", command)
    finally:
        sys.setprofile(before)
    return calls, hits
