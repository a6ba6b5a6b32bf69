"""Which topics name a file."""

from __future__ import annotations

import gc
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ledger.topics import TopicIndex
from core.ledger.touch import names_in
from tests.unit.ledger.touch_cases import SEED


def index_of(*topics: str) -> TopicIndex:
    index = TopicIndex(SEED)
    for topic in topics:
        index.add(topic)
    return index


def touched(command: str, *topics: str) -> tuple[str, ...]:
    return index_of(*topics).touched(names_in(command, "", SEED))


@pytest.mark.parametrize(
    ("command", "topic"),
    [
        ("xxd model.ckpt", "file-format:model.ckpt"),
        ("xxd MODEL.CKPT", "file-format:Model.ckpt"),
        ("xxd model.ckpt", "weights:model.ckpt:layer 3"),
        ("xxd model.ckpt", "weights:layer 3 of model.ckpt"),
        ("xxd model.ckpt", "weights:model.ckpt/layer 3"),
        ("xxd model.ckpt", "model.ckpt"),
        ("cat vocab.bpe", "tokenizer: vocab.bpe and merges.txt"),
        ("cat merges.txt", "tokenizer: vocab.bpe and merges.txt"),
        ("cat merges.txt", "tokenizer:vocab.bpe/merges.txt"),
        ("cat merges.txt", "tokenizer:vocab.bpe,merges.txt"),
        ("cat merges.txt", "tokenizer (merges.txt)"),
        ("cat package.json", "file:web/package.json"),
        ("cat /home/u/p/web/package.json", "file:web/package.json"),
        ("cat web/package.json", "file:package.json"),
        ("cat web/package.json", "file:/home/u/p/web/package.json"),
        ("cd web && cat package.json", "file:web/package.json"),
        ("type C:\\data\\rows.csv", "file:D:\\other\\data\\rows.csv"),
        ("curl https://h.org/v1/rows.json?x=1", "endpoint:https://api.h.org/v1/rows.json"),
        ("xxd 'my model.ckpt'", "file-format:my model.ckpt"),
        ("xxd my\\ model.ckpt", "file-format:'my model.ckpt'"),
        ("xxd 'my dir/model.ckpt'", "file:my dir/model.ckpt"),
        ("cat 'data (1).csv'", "schema:data (1).csv"),
        ("cat e\u0301te\u0301.csv", "schema:ÉTÉ.csv"),
    ],
)
def test_a_call_touches_a_topic_that_names_its_file(command: str, topic: str) -> None:
    assert touched(command, topic) == (topic,)


@pytest.mark.parametrize(
    ("command", "topic"),
    [
        ("cat rows.json", "schema:rows.jsonl"),
        ("cat rows.jsonl", "schema:rows.json"),
        ("xxd a.bin", "format:data.bin"),
        ("xxd data.bin", "format:a.bin"),
        ("xxd a.bin", "format:a.bin.gz"),
        ("xxd model.ckpt", "format:model.ckpt.bak"),
        ("xxd model.ckpt", "format:my-model.ckpt"),
        ("xxd 'old model.ckpt'", "format:model.ckpt"),
        ("cat web/package.json", "file:api/package.json"),
        ("cat a/web/package.json", "file:b/web/package.json"),
        ("cd web && cat package.json", "file:api/package.json"),
        ("cat package.json", "file:package-lock.json"),
        ("cat model.csv", "model:csv"),
        ("ls *.ckpt", "format:*.ckpt"),
        ("xxd model.ckpt", "format:*.ckpt"),
        ("xxd model.ckpt", "format:checkpoints"),
    ],
)
def test_a_call_leaves_other_topics_alone(command: str, topic: str) -> None:
    assert touched(command, topic) == ()


def test_topics_come_in_the_order_they_were_added_each_once() -> None:
    topics = "b:a.txt", "a:b.txt", "c:a.txt and b.txt", "d:x/a.txt"
    assert touched("cat b.txt x/a.txt a.txt", *topics) == topics


def test_adding_and_discarding_are_idempotent() -> None:
    index = index_of("a:x.txt", "b:x.txt", "a:x.txt")
    names = names_in("cat x.txt", "", SEED)
    assert index.touched(names) == ("a:x.txt", "b:x.txt")
    index.discard("a:x.txt")
    index.discard("a:x.txt")
    index.discard("never there")
    assert index.touched(names) == ("b:x.txt",)
    assert ("a:x.txt" in index, "b:x.txt" in index, len(index)) == (False, True, 1)
    index.add("a:x.txt")
    assert index.touched(names) == ("b:x.txt", "a:x.txt")


def test_a_topic_that_names_no_file_is_kept_and_never_touched() -> None:
    index = index_of("api:users", "")
    assert len(index) == 2
    assert index.touched(names_in("cat users.json", "", SEED)) == ()


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["p:a.txt", "q:a.txt", "r:x/a.txt b.txt", "s:b.txt", "t"]))))
@settings(deadline=None)
def test_an_index_that_was_changed_answers_like_a_new_one(changes: list[tuple[bool, str]]) -> None:
    index, kept = TopicIndex(SEED), dict.fromkeys([""] * 0, None)
    for add, topic in changes:
        if add:
            index.add(topic)
            kept.setdefault(topic)
        else:
            index.discard(topic)
            kept.pop(topic, None)
    for command in ("cat a.txt", "cat x/a.txt", "cat y/a.txt b.txt"):
        names = names_in(command, "", SEED)
        assert index.touched(names) == index_of(*kept).touched(names)


@given(st.text(), st.text())
@settings(deadline=None)
def test_any_text_may_be_a_topic(topic: str, other: str) -> None:
    index = index_of(topic, other, topic + "a.txt" + other)
    for each in (topic, other, topic + "a.txt" + other):
        index.discard(each)
    assert len(index) == 0
    assert index.touched(names_in("cat a.txt", "", SEED)) == ()


@pytest.mark.parametrize("pattern", ["format:file{}.json", "format:dir{}/package.json"])
def test_the_work_of_a_look_up_does_not_grow_with_the_topics(pattern: str) -> None:
    names = names_in(f"cat {pattern.format(7).partition(':')[2]}", "", SEED)
    few, many = (index_of(*(pattern.format(number) for number in range(count))) for count in (10, 5_000))
    assert _calls(few, names) == _calls(many, names)
    assert many.touched(names) == (pattern.format(7),)


def _calls(index: TopicIndex, names: tuple[object, ...]) -> int:
    count = 0

    def counter(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    gc.disable()  # what it calls is no work of the index
    sys.setprofile(counter)
    try:
        index.touched(names)  # type: ignore[arg-type]
    finally:
        sys.setprofile(None)
        gc.enable()
    return count
