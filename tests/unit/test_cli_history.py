"""`history list`, `show`, `search` and `stats` as commands, on databases of every layout."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from core.history.pieces import Bounds
from core.settings import Settings
from core.store.database import DATABASE
from ledger_tui.commands import history_source
from tests import history_data as data
from tests.history_data import BASE, Builder, text, tool
from tests.unit.store.journals import Kept
from tests.unit.test_cli import SCRIPT, Shell, complaint

KEYS = [
    "id", "title", "directory", "parent", "schema", "time_created", "time_updated", "messages", "cost", "tokens",
    "archived",
]  # fmt: skip


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A user with a small database of OpenCode 1 at the usual place."""
    shell = Shell(tmp_path)
    folder = Path(shell.environ["HOME"]) / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    data.small_v1(folder / "opencode.db")
    return shell


def test_list_as_json_has_the_keys_of_the_contract(shell: Shell) -> None:
    ended = shell("history", "list", "--json")
    assert (ended.code, ended.err) == (0, "")
    first, second = json.loads(ended.out)
    assert list(first) == KEYS
    assert first | {"title": ""} == {
        "id": "ses_a", "title": "", "directory": "/home/u/project", "parent": None, "schema": "v1",
        "time_created": BASE, "time_updated": BASE + 3, "messages": {"all": 2, "user": 1, "assistant": 1},
        "cost": 0.25, "tokens": 15, "archived": False,
    }  # fmt: skip
    assert (second["id"], second["archived"]) == ("ses_b", True)


@pytest.mark.parametrize(
    ("flags", "ids"),
    [
        ((), ["ses_a", "ses_b"]),
        (("--include-children",), ["ses_a", "ses_c", "ses_b"]),
        (("--include-children", "--offset", "1", "--limit", "1"), ["ses_c"]),
        (("--limit", "0"), []),
        (("--offset", "2"), []),
        (("--offset", "1", "--limit", "9" * 30), ["ses_b"]),
        (("--offset", "9" * 30), []),
    ],
    ids=str,
)
def test_part_of_the_list(shell: Shell, flags: tuple[str, ...], ids: list[str]) -> None:
    ended = shell("history", "list", "--json", *flags)
    assert (ended.code, [row["id"] for row in json.loads(ended.out)]) == (0, ids)


def test_list_is_the_default_action(shell: Shell) -> None:
    ended = shell("history")
    assert ended == shell("history", "list")
    assert [line.split("  ")[-2].strip() for line in ended.out.splitlines()] == ["First", "Second (archived)"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "--limit", "-1"), "--limit is -1"),
        (("list", "--offset", "-1"), "--offset is -1"),
        (("list", "--limit", "many"), "'many' is not a whole number"),
        (("search", "x", "--limit", "-1"), "--limit is -1"),
        (("search", "?!"), "no word to search for"),
        (("stats", "--by", "week"), "'week' is none of day, model, project, tool"),
        (("stats", "--rows", "-1"), "--rows is -1"),
        (("show", "ses_none"), "no session 'ses_none'"),
        (("show", "ses_"), "several sessions start with 'ses_': ses_a, ses_b, ses_c"),
        (("show",), "not given: ID"),
        (("lst",), "Did you mean list?"),
    ],
    ids=str,
)
def test_wrong_use_is_one_line(shell: Shell, arguments: tuple[str, ...], words: str) -> None:
    assert words in complaint(shell("history", *arguments), 2)


def test_a_file_without_sessions_names_the_tables(shell: Shell, tmp_path: Path) -> None:
    with Builder(tmp_path / "x #1.db", ["CREATE TABLE other (a)"]):
        pass
    for action in (("list",), ("show", "x"), ("search", "x"), ("stats",)):
        words = complaint(shell("history", *action, "--db", str(tmp_path / "x #1.db")), 1)
        assert "session, message, part" in words and "session_v2, session_message" in words and "found other" in words


def test_no_database_at_all(tmp_path: Path) -> None:
    assert "does not exist" in complaint(Shell(tmp_path)("history", "list"), 1)


def test_a_broken_database_beside_a_good_one_is_left_out_and_named(shell: Shell) -> None:
    folder = Path(shell.environ["HOME"]) / ".local" / "share" / "opencode"
    (folder / "opencode-dev.db").write_bytes(b"no database " * 100)
    ended = shell("history", "list", "--json")
    assert [row["id"] for row in json.loads(ended.out)] == ["ses_a", "ses_b"]
    assert ended.code == 0 and "opencode-dev.db" in ended.err and ended.err.count("\n") == 1


def test_old_json_files_are_counted_and_read_when_asked_for(shell: Shell) -> None:
    data.legacy(Path(shell.environ["HOME"]) / ".local" / "share" / "opencode", sessions=2)
    ended = shell("history", "list", "--json")
    assert len(json.loads(ended.out)) == 2 and "2 sessions in old JSON files are not read" in ended.err
    read = shell("history", "list", "--json", "--legacy-json")
    assert [row["id"] for row in json.loads(read.out)] == ["ses_old0", "ses_old1", "ses_a", "ses_b"]
    assert read.err == ""
    assert "What is in it?" in shell("history", "show", "ses_old1", "--legacy-json").out


def test_the_list_says_how_many_facts_are_known(shell: Shell) -> None:
    listed = shell("history", "list")
    path = Path(shell.environ["LEDGER_HOME"]) / "state" / DATABASE
    path.parent.mkdir(parents=True, exist_ok=True)
    bench = Kept(path)
    bench.learn("old", "a")
    Kept.made.remove(bench)
    bench.journal.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE ledger SET root = 'ses_a'")
    assert shell("history", "list").out == listed.out.replace("  First  ", "  First (2 facts)  ")


def test_show_as_json(shell: Shell) -> None:
    shown = json.loads(shell("history", "show", "ses_a", "--json").out)
    assert list(shown) == [*KEYS, "transcript", "chars", "left_out", "skipped"]
    assert shown["transcript"].startswith("[user]\nWhy does the build fail?\n\n[assistant, reasoning]\n")
    assert (shown["chars"], shown["left_out"]) == (len(shown["transcript"]), 0)
    (listed, _) = json.loads(shell("history", "list", "--json").out)
    assert {key: shown[key] for key in KEYS} == listed


def test_show_to_read(shell: Shell) -> None:
    plain = shell("history", "show", "ses_a").out
    assert plain.startswith("First\nses_a  ·  /home/u/project") and "[assistant, tool bash, completed]" in plain
    card = shell("history", "show", "ses_a", "--markdown").out
    assert card.startswith("# First\n") and "\n**bash** (completed)\n\n```text\ncommand: make\n```\n" in card


def test_default_settings_are_the_default_bounds() -> None:
    assert history_source.bounds(Settings()) == Bounds()


def test_search_marks_the_words(shell: Shell) -> None:
    (hit,) = json.loads(shell("history", "search", "--json", "build", "makefile").out)
    assert hit["id"] == "ses_a" and hit["matches"] == 2
    assert [hit["snippet"][start:end] for start, end in hit["marks"]] in (["build"], ["Makefile"])
    assert "The [Makefile] has no rule for it." in shell("history", "search", "makefile").out
    nothing = shell("history", "search", "elephant")
    assert (nothing.code, nothing.out) == (0, "") and "no session holds 'elephant'" in nothing.err
    assert shell("history", "search", "elephant", "--json").out == "[]\n"


def test_stats(shell: Shell) -> None:
    counted = json.loads(shell("history", "stats", "--json").out)
    assert list(counted) == ["total", "by_day", "by_model", "by_project", "by_tool"]
    assert counted["total"] == {"sessions": 2, "children": 1, "tokens": 15, "cost": 0.25}
    (bash,) = counted["by_tool"]
    assert (bash["tool"], bash["calls"], bash["errors"]) == ("bash", 1, 0)
    table = shell("history", "stats", "--by", "project").out
    assert "/home/u/project" in table and "█" in table and "by tool" not in table


def test_nothing_hostile_reaches_the_terminal_and_no_secret_any_output(shell: Shell, tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "aB3dE5fG7h" * 4
    with Builder(tmp_path / "h.db") as b:
        b.session(
            "ses_h", title=f"a\x1b]52;c;YQ==\x07 {secret}", directory="/x\x9b2J", model=data.dump({"id": "\x1b[2J"})
        )
        b.message("ses_h", "m1", "assistant")
        b.part("m1", "p1", text(f"hello \x1b[2J {secret}"))
        b.part("m1", "p2", tool("ba\x1b[2Jsh", {"command": f"x {secret}"}, "\x9b2J ```\n"))
    for action in (("list",), ("show", "ses_h"), ("search", "hello"), ("stats",)):
        for form in ((), ("--json",), *([("--markdown",)] if action[0] == "show" else [])):
            ended = shell("history", *action, *form, "--db", str(tmp_path / "h.db"))
            assert ended.code == 0
            assert secret not in ended.out and not {"\x1b", "\x9b", "\x07"} & set(ended.out + ended.err)
    for file in (tmp_path / "ledger" / "cache").iterdir():
        assert secret.encode() not in file.read_bytes()


def test_a_search_that_is_stopped_is_continued(shell: Shell, tmp_path: Path) -> None:
    """Told on the terminal how far it has come, then interrupted."""
    data.large(tmp_path / "big.db", sessions=400, messages=20, parts=8)
    command = [SCRIPT, "history", "search", "s399m3p0", "--db", str(tmp_path / "big.db"), "--json"]
    main, other = pty.openpty()
    with subprocess.Popen(
        command, cwd=shell.folder, env=shell.environ, stdin=other, stdout=subprocess.PIPE, stderr=other, text=True
    ) as child:
        os.close(other)
        seen = b""
        while b"of 400 sessions" not in seen and select.select([main], [], [], 60)[0]:
            seen += os.read(main, 4096)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    os.close(main)
    assert (child.returncode, out) == (130, "")
    (hit,) = json.loads(shell(*command[1:]).out)
    assert hit["id"] == "ses_000399"


def test_the_folder_of_the_database_stays_as_it_was(shell: Shell) -> None:
    folder = Path(shell.environ["HOME"]) / ".local" / "share" / "opencode"

    def state() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    before = state()
    for action in (("list",), ("show", "ses_a"), ("search", "build"), ("stats",)):
        assert shell("history", *action).code == 0
    assert state() == before
    folder.chmod(0o500)
    assert shell("history", "search", "build").code == 0
    folder.chmod(0o700)
    shutil.rmtree(folder)
