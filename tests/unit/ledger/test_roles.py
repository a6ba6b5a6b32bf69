"""What programs do with their arguments, and how they are found behind others."""

from __future__ import annotations

import pytest

from core.ledger.roles import language, lists, roles_of
from core.ledger.wrappers import command_at, program


@pytest.mark.parametrize(
    ("command", "proper", "fed"),
    [
        ("cat a", "cat", False),
        ("sudo -u me -E cat a", "cat", False),
        ("env -i A=1 B=2 nohup cat a", "cat", False),
        ("A=1 cat a", "cat", False),
        ("timeout -k 5 10 cat a", "cat", False),
        ("nice -n 5 ionice -c 2 cat a", "cat", False),
        ("xargs -0 -n 1 cat", "cat", True),
        ("if ! grep x a", "grep", False),
        ("docker exec -it -u me box cat a", "cat", False),
        ("docker compose exec -T box cat a", "cat", False),
        ("kubectl exec pod -c x -- cat a", "cat", False),
        ("uv run --with x python a", "python", False),
        ("docker run img", "docker", False),
        ("A=1", None, False),
        ("sudo", None, False),
    ],
)
def test_the_command_proper_is_found(command: str, proper: str | None, fed: bool) -> None:
    words = command.split()
    at, is_fed = command_at(words)
    assert (words[at] if at < len(words) else None, is_fed) == (proper, fed)


def test_many_wrappers_end_somewhere() -> None:
    assert command_at(["sudo"] * 1_000 + ["cat"])[0] < 1_000


@pytest.mark.parametrize("word", ["/usr/bin/Cat", "C:\\bin\\cat.exe", "cat", "./cat"])
def test_a_program_is_known_without_its_folder(word: str) -> None:
    assert program(word) == "cat"


def roles(command: str) -> str:
    """First letters of the roles of the arguments."""
    words = command.split()
    at, _ = command_at(words)
    return "".join(role[0] for role in roles_of(words, at))[at + 1 :]


@pytest.mark.parametrize(
    ("command", "letters"),
    [
        ("unknown a b", "ll"),
        ("cp a b", "aa"),
        ("echo a", "t"),
        ("grep -n p a b", "lall"),
        ("grep -e p a", "lal"),
        ("grep -f p a", "lll"),
        ("sed -n p a", "ltl"),
        ("sed -f p a", "lll"),
        ("sed -i p a", "aaa"),
        ("awk -F , p a", "llcl"),
        ("jq --arg k v p a", "llltl"),
        ("jq -f p a", "lll"),
        ("python -c p a", "lcl"),
        ("python a.py -c p", "lll"),
        ("python a.py -o p", "lla"),
        ("strings -o p", "ll"),
        ("tool --output p a", "lal"),
        ("tool --output=p a", "al"),
        ("tool --message p a", "ltl"),
        ("bash -lc p a", "lsl"),
        ("ssh -p 22 host p", "llls"),
        ("curl -d p -o q u", "ltlal"),
        ("curl -d @p u", "lll"),
        ("find . -exec rm a ;", "aalaa"),
        ("find . -exec cat a ;", "lllll"),
        ("tar xzf a", "ll"),
        ("tar -czf a b", "aaa"),
        ("gzip a", "a"),
        ("gzip -dc a", "ll"),
        ("git add a", "aa"),
        ("git -C d diff a", "llll"),
        ("git grep p a", "lal"),
        ("aws s3 cp a b", "laaa"),
        ("aws s3 cp a -", "llll"),
        ("docker cp a b", "aaa"),
        ("xxd a.bin b.bin", "la"),
        ("xxd -s 16 a.bin", "lll"),
    ],
)
def test_roles_of_arguments(command: str, letters: str) -> None:
    assert roles(command) == letters


def test_arguments_that_are_handed_on_are_what_the_next_command_does_with_them() -> None:
    echo = ["echo", "a"]
    assert roles_of(echo, 0, fed_into=["xargs", "cat"])[1] == "look"
    assert roles_of(echo, 0, fed_into=["xargs", "rm"])[1] == "aside"
    assert roles_of(["grep", "a"], 0)[1] == "aside"
    assert roles_of(["grep", "a"], 0, reads_listing=True)[1] == "look"


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("python3 -", "code"),
        ("sudo bash", "shell"),
        ("ssh host", "shell"),
        ("sqlite3 a.db", "search"),
        ("xargs wc", "search"),
        ("xargs rm", "aside"),
        ("while read x", "search"),
        ("done", "search"),
        ("cat", None),
        ("tee a", None),
        ("jq .", None),
        ("", None),
    ],
)
def test_how_input_is_understood(command: str, kind: str | None) -> None:
    assert language(command.split()) == kind


def test_which_commands_list_files() -> None:
    listing = ["ls -l", "git ls-files", "tar tf a", "aws s3 ls", "rg --files", "sudo find ."]
    assert all(lists(command.split()) for command in listing)
    assert not any(lists(command.split()) for command in ["cat a", "git log", "tar xf a", "rg x", ""])
