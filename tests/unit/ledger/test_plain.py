"""The short way answers as the long one does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger.looking import Looking
from core.ledger.names import Name, matcher_for
from core.ledger.plain import names_read
from tests.unit.ledger import touch_cases, touch_cases_unseen
from tests.unit.ledger.touch_cases import SEED

MATCHER = matcher_for(SEED)
COMMANDS = [case.command for case in touch_cases.CASES + touch_cases_unseen.CASES]
PIECES = "cat xxd ls stat od wc head -c -3 %s -r out b.md .json / . .. - a.json web/a.json ./b.txt ../c.bin -fa.json"
MORE = "--files0-from=a.txt a.json.gz x.bin/y d.bin. | || a.json|wc"
WORDS = st.sampled_from(f"{PIECES} {MORE}".split())


def the_long_way(command: str) -> tuple[Name, ...]:
    looking = Looking(MATCHER)
    looking.run(command, lenient=False)
    return looking.looked()


def once(names: tuple[Name, ...]) -> list[tuple[str, tuple[str, ...]]]:
    return list(dict.fromkeys((name.base, name.folders) for name in names))


def test_it_is_taken_for_many_commands() -> None:
    assert sum(names_read(command, MATCHER) is not None for command in COMMANDS) >= 20


@pytest.mark.parametrize("command", [c for c in COMMANDS if names_read(c, MATCHER) is not None])
def test_same_answer_for_the_table(command: str) -> None:
    short = names_read(command, MATCHER)
    assert short is not None and once(short) == once(the_long_way(command))


@settings(max_examples=500, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=7).map(" ".join))
def test_same_answer_for_made_up_commands(command: str) -> None:
    short = names_read(command, MATCHER)
    if short is not None:
        assert once(short) == once(the_long_way(command))
