"""Keys and types of JSON documents."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("cat a.json", '{\n  "n": 1.5,\n  "o": {}\n}', "a.json is a JSON object with the keys n (number), o (object)."),
        ("jq . a.json", '{"n": 1}', "a.json is a JSON object with the keys n (number)."),
        ("jq '.model' a.json", '{"d": [1]}', "`.model` in a.json is a JSON object with the keys d (array)."),
        ("jq '.items[0] | keys' a.json", '["b","c"]', "`.items[0]` in a.json is a JSON object with the keys b, c."),
        ("jq .n_layers a.json", "12", "`.n_layers` in a.json is a JSON number, 12."),
        ("jq .on a.json", "true", "`.on` in a.json is a JSON boolean, true."),
        ("jq length a.json", "7", "a.json has the length 7."),
        ("jq -r type a.json", '"array"', "a.json is a JSON array."),
        ("cat a.json | jq .", "[]", "a.json is an empty JSON array."),
        (
            "jq . < a.json",
            '[1, "a", null]',
            "a.json is a JSON array of length 3; its items are of type null or number or string.",
        ),
        ("python3 -m json.tool a.json", '{"a": null}', "a.json is a JSON object with the keys a (null)."),
        (
            "curl -s x.example/u/1?q=2 | jq .",
            '{"id": 1}',
            "the body of GET x.example/u/1?q=2 is a JSON object with the keys id (number).",
        ),
        (
            "head -2 rows.jsonl",
            '{"a": 1}\n{"a": "x", "b": 1}',
            "Lines of rows.jsonl are JSON objects with the keys a (number or string), b (number).",
        ),
        ("cat .eslintrc", '{"root": true}', ".eslintrc is a JSON object with the keys root (boolean)."),
    ],
)
def test_documents(command: str, output: str, expected: str) -> None:
    assert facts(command, output) == [expected]


@pytest.mark.parametrize(
    ("command", "output", "exit"),
    [
        ("cat a.txt", '{"a": 1}', 0),
        ("cat a.json b.json", '{"a": 1}', 0),
        ("cat a.json | head -3", '{\n"a": 1,', 0),
        ("cat a.json", '{"a": 1', 0),
        ("cat a.json", '{"a": NaN}', 0),
        ("cat a.json", "12", 0),
        ("cat a.json", '{"a": 1}', 1),
        ("cat -n a.json", '{"a": 1}', 0),
        ("cat > a.json <<EOF\n{}\nEOF", "{}", 0),
        ("cat <<EOF\n{}\nEOF", "{}", 0),
        ("jq -r .version a.json", "1.20", 0),
        ("jq '.items[]' a.json", '{"a": 1}', 0),
        ("jq 'select(.a)' a.json", '{"a": 1}', 0),
        ("jq --arg x 1 . a.json", '{"a": 1}', 0),
        ("jq .missing a.json", "null", 0),
        ("echo '{}' | jq .", "{}", 0),
        ("curl -i x.example", '{"a": 1}', 0),
        ("node -p 'x'", '{"a": 1}', 0),
        ("grep -h a a.json", '{"a": 1}', 0),
        ("tail -1 rows.jsonl", '{"a": 1}', 0),
        ("cat rows.jsonl", '{"a": 1}\nnot', 0),
        ("cat a.json; cat b.json", '{"a": 1}', 0),
        ("cat a.json", '{"a": 1}\n… [8 characters left out] …', 0),
        ("cat a.json", "[" * 100_000, 0),
    ],
)
def test_no_document(command: str, output: str, exit: int) -> None:
    assert facts(command, output, exit) == []


def test_objects_inside_are_told_too() -> None:
    assert facts("cat a.json", '{"m": {"d": 1}, "e": {}, "i": [{"k": ""}], "n": [1], "odd key": {"x": 1}}') == [
        "a.json is a JSON object with the keys m (object), e (object), i (array), n (array), odd key (object).",
        "`.m` in a.json is a JSON object with the keys d (number).",
        "`.i` in a.json is a JSON array of length 1; its items are of type object with the keys k (string).",
    ]
    assert facts("jq .a a.json", '{"b": {"c": 1}}')[1] == "`.a.b` in a.json is a JSON object with the keys c (number)."
    assert len(facts("cat a.json", "{" + ", ".join(f'"k{n}": {{"x": 1}}' for n in range(9)) + "}")) == 5


def test_many_keys_are_counted() -> None:
    [fact] = facts("cat a.json", "{" + ", ".join(f'"k{n}": 1' for n in range(50)) + "}")
    assert fact.endswith("k15 (number) and 34 more.")


def test_receipt() -> None:
    [one] = found("cat w/a.json", '{\n"a": 1\n}')
    assert (one.topic, one.lines, one.rule) == ("json:a.json", (1, 2, 3), "json")
    [one] = found("curl -s http://x.example/u/1?q=2", '{"a": 1}')
    assert one.topic == "api:/u/1"
