"""The labelled cases are well formed, and the third that is held back is like the rest."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from tests.corpus.cases import ConflictCase, OrderCase, ReceiptCase, RuleCase, SecretCase, StaleCase
from tests.corpus.load import HERE, RULES, files, is_held, load, load_as

HELD_OF_TWELVE = ["case-3", "case-4", "case-7", "case-10", "case-11", "case-12"]

ACTED_ON = {"supported", "doubtful", "supersedes", "held", "secret", "matches", "facts", "skip"}
"""The label of each rule upon which the product does something."""

every_rule = pytest.mark.parametrize("rule", RULES)


@every_rule
def test_ids_are_unique_and_every_case_says_why(rule: str) -> None:
    cases = load(rule, "all")
    assert len({case.id for case in cases}) == len(cases)
    assert all(case.why.strip() and case.kind for case in cases)


@every_rule
def test_no_case_stands_twice(rule: str) -> None:
    bodies = [msgspec.json.encode(msgspec.structs.replace(case, id="", why="", kind="")) for case in load(rule, "all")]
    assert len(set(bodies)) == len(bodies)


@every_rule
def test_about_a_third_is_held_back_and_nothing_is_lost(rule: str) -> None:
    cases, held, left = load(rule, "all"), load(rule, "held"), load(rule)
    assert {case.id for case in held}.isdisjoint(case.id for case in left)
    assert len(held) + len(left) == len(cases)
    assert 0.27 <= len(held) / len(cases) <= 0.40


@every_rule
def test_every_label_is_in_both_parts(rule: str) -> None:
    labels = {case.answer for case in load(rule, "all")}
    assert len(labels) > 1
    assert {case.answer for case in load(rule, "held")} == labels
    assert {case.answer for case in load(rule, "open")} == labels


def test_cases_of_one_scene_are_held_back_together() -> None:
    assert is_held("receipt-01.1") == is_held("receipt-01.2") == is_held("receipt-01")


def test_the_choice_does_not_change() -> None:
    assert [name for name in (f"case-{n}" for n in range(1, 13)) if is_held(name)] == HELD_OF_TWELVE


@pytest.mark.parametrize("path", [path for rule in RULES for path in files(rule)], ids=lambda path: path.name)
def test_files_carry_no_raw_control_or_invisible_character(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="no corpus 'recepts'"):
        load("recepts")


def test_receipts_point_at_lines_that_exist() -> None:
    for case in load_as(ReceiptCase, "all"):
        assert bool(case.support) == (case.label == "supported"), case.id
        for support in case.support:
            lines = case.steps[support.call].output.splitlines()
            assert support.lines, case.id
            assert all(1 <= line <= len(lines) for line in support.lines), case.id


def test_stale_events_name_what_they_change() -> None:
    for case in load_as(StaleCase, "all"):
        event = case.event
        assert all(path.startswith("/") for path in [case.cwd, *event.changed, *event.gone, *event.touched]), case.id
        assert bool(event.command) == (event.tool == "bash"), case.id
        assert bool(event.patch) == (event.tool == "apply_patch"), case.id
        assert bool(event.path) == (event.tool not in {"bash", "apply_patch"}), case.id
        assert case.label == "unchanged" or event.changed or event.gone or event.touched, case.id


def test_only_later_answers_in_one_topic_supersede() -> None:
    for case in load_as(ConflictCase, "all"):
        assert case.older.fact != case.later.fact, case.id
        if case.label != "both":
            assert case.older.topic == case.later.topic, case.id
            assert not case.same_answer, case.id


def test_facts_that_pass_hold_no_control_character() -> None:
    for case in load_as(OrderCase, "all"):
        assert case.label == "held" or not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", case.fact
        )


def test_secrets_are_where_their_spans_say_and_in_no_file_whole() -> None:
    whole = (HERE / "secrets.jsonl").read_text(encoding="utf-8")
    for case in load_as(SecretCase, "all"):
        secrets = ["".join(part) for part in case.parts if not isinstance(part, str)]
        assert [case.text[start:end] for start, end in case.spans] == secrets, case.id
        assert not any(secret in whole for secret in secrets if len(secret) > 16), case.id
        left = re.sub("|".join(map(re.escape, secrets)) or r"(?!)", "*", case.text)
        assert all(kept in left for kept in case.keep), case.id


def test_a_rule_case_asks_for_what_its_steps_show() -> None:
    for case in load_as(RuleCase, "all"):
        assert bool(case.must) == (case.label == "facts"), case.id
        assert all(group and all(group) for group in case.must), case.id


@every_rule
def test_hard_negatives_are_many(rule: str) -> None:
    cases = load(rule, "all")
    positives = sum(case.answer in ACTED_ON for case in cases)
    assert 0 < positives <= len(cases) - positives
