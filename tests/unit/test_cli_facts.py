"""`facts` and `replay --store` as commands: stored findings listed, exported, removed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.unit.test_cli import SCRIPT, Shell, complaint

DEMO = Path(__file__).parents[2] / "core" / "demo"
ROOT = "ses_dd507cbaeffesRjNDua5Xw8cAB"
FOLDER = "/home/dev/shop"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A user who has stored the facts of the demo."""
    shell = Shell(tmp_path)
    replayed(shell, tmp_path / "ledger" / "state" / "ledger.db")
    return shell


def replayed(shell: Shell, store: Path) -> list[dict[str, object]]:
    files = (str(DEMO / "recording.jsonl.gz"), "--answers", str(DEMO / "answers.jsonl"))
    ended = shell("replay", *files, "--set", "review=off", "--store", str(store))
    assert (ended.code, ended.err) == (0, "")
    return [json.loads(line) for line in ended.out.splitlines()]


def test_a_second_replay_has_nothing_to_add(shell: Shell, tmp_path: Path) -> None:
    assert replayed(shell, tmp_path / "ledger" / "state" / "ledger.db") == []
    assert len(replayed(shell, tmp_path / "other.db")) > 50


def test_a_store_that_cannot_be_used_is_one_line(shell: Shell) -> None:
    (shell.folder / "x.db").write_text("no database " * 100)
    ended = shell("replay", str(DEMO / "recording.jsonl.gz"), "--store", "x.db")
    assert "x.db" in complaint(ended, 1)


def test_json_of_a_session_and_of_all(shell: Shell) -> None:
    facts = json.loads(shell("facts", "--session", "ses_dd50", "--json").out)
    assert len(facts) > 3 and {fact["session"] for fact in facts} == {ROOT}
    assert facts == json.loads(shell("facts", "--all", "--json").out)
    assert any(fact["evidence"] and fact["evidence"][0]["lines"] for fact in facts)


def test_only_the_projects_own_facts_unless_asked(shell: Shell) -> None:
    ended = shell("facts")
    assert (ended.code, ended.out) == (0, "") and "--all" in ended.err
    assert shell("facts", "--json").out == "[]\n"


def test_forms_for_people_and_agents(shell: Shell) -> None:
    plain, card, block = (shell("facts", "--all", *form).out for form in ((), ("--markdown",), ("--agents",)))
    fact = "the last merge of vocab.bpe is 'ic e'"
    assert f"    {fact}\n" in plain and plain.startswith("Layout of model.ckpt  ·  ")
    assert card.startswith("# Layout of model.ckpt\n") and f"- {fact}\n\n  ```text\n  $ " in card
    assert block.startswith("<!-- ledger-tui facts: begin -->\n") and f"- {fact} (tokenizer:vocab.bpe)" in block


def test_wrong_use_is_one_line(shell: Shell) -> None:
    for arguments, words in (
        (("--session", "zz"), "no session 'zz' is stored"),
        (("--yes",), "--yes goes with --purge"),
        (("--older-than", "soon"), "--older-than"),
        (("--json", "--agents"), "--json"),
        (("--purge", "--all"), "this is no terminal"),
    ):
        assert words in complaint(shell("facts", *arguments), 2)
    assert "there is no" in complaint(shell("facts", "--store", "none.db"), 1)
    assert "no session 'zz' is stored" in complaint(shell("headless", "--resume", "zz"), 2)


def test_purge_says_what_it_removed(shell: Shell) -> None:
    assert shell("facts", "--purge", "--all", "--older-than", "36500", "--yes").out == "nothing to remove\n"
    ended = shell("facts", "--purge", "--session", ROOT, "--yes")
    assert ended.code == 0 and ended.out.startswith("removed 1 session, ") and ended.out.endswith(" notes\n")
    assert shell("facts", "--all", "--json").out == "[]\n"


@pytest.mark.parametrize(("answer", "left"), [("n", True), ("y", False)])
def test_purge_asks_on_a_terminal(shell: Shell, answer: str, left: bool) -> None:
    main, other = pty.openpty()
    with subprocess.Popen(
        [SCRIPT, "facts", "--purge", "--all"],
        cwd=shell.folder,
        env=shell.environ,
        stdin=other,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        os.write(main, f"{answer}\n".encode())
        out, err = child.communicate(timeout=60)
    os.close(main)
    os.close(other)
    assert "Remove 1 session with " in err and "[y/N]" in err
    assert (child.returncode, out.startswith("removed")) == ((1, False) if left else (0, True))
    assert (shell("facts", "--all", "--json").out != "[]\n") is left
