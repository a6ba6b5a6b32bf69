"""Names of files in text."""

from __future__ import annotations

import pytest

from core.ledger.names import Matcher, Name, fold, matcher_for, name_of, path_of

MATCHER = matcher_for(frozenset({"json", "ckpt", "tar.gz"}))


@pytest.mark.parametrize(
    ("text", "folders", "base"),
    [
        ("a.json", (), "a.json"),
        ("Web/A.JSON", ("web",), "a.json"),
        ("./web//./a.json", ("web",), "a.json"),
        ("web/sub/../a.json", ("web",), "a.json"),
        ("../../a.json", (), "a.json"),
        ("../web/a.json", ("web",), "a.json"),
        ("/srv/web/a.json", ("srv", "web"), "a.json"),
        ("~/web/a.json", ("web",), "a.json"),
        ("C:\\Web\\a.json", ("web",), "a.json"),
        ("\\\\host\\share\\a.json", ("share",), "a.json"),
        ("$DIR/web/a.json", ("web",), "a.json"),
        ("x/{run}/web/a.json", ("web",), "a.json"),
        ("%TEMP%\\web\\a.json", ("web",), "a.json"),
        ("web/Été.json", ("web",), "été.json"),
    ],
)
def test_a_name_keeps_the_folders_that_are_certain(text: str, folders: tuple[str, ...], base: str) -> None:
    assert name_of(text) == Name(text, base, folders)


@pytest.mark.parametrize(
    "text", ["$f.json", "{i}.json", "%s.json", "a*.json", "web/", "a\x1b.json", "a\u202e.json", "a\0.json"]
)
def test_a_base_that_is_not_known_or_not_printable_is_no_name(text: str) -> None:
    assert name_of(text) is None


@pytest.mark.parametrize(
    ("text", "below", "folders"),
    [
        ("web", ("srv",), ("srv", "web")),
        ("../api", ("srv", "web"), ("srv", "api")),
        ("/abs", ("srv",), ("abs",)),
        ("~/home", ("srv",), ("home",)),
        ("$X", ("srv",), ()),
        ("..", (), ()),
    ],
)
def test_a_path_is_taken_from_the_folder_it_is_seen_from(
    text: str, below: tuple[str, ...], folders: tuple[str, ...]
) -> None:
    assert path_of(text, below) == folders


def test_folding_ignores_case_and_composition() -> None:
    assert fold("É.JSON") == fold("e\u0301.json") == "é.json"
    assert fold("STRASSE") == fold("straße")


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("package.json", "web/package.json", True),
        ("/home/u/p/web/package.json", "web/package.json", True),
        ("web/package.json", "api/package.json", False),
        ("a/web/package.json", "b/web/package.json", False),
        ("web/a.json", "web/b.json", False),
    ],
)
def test_two_names_agree_as_far_as_both_give_folders(one: str, other: str, agree: bool) -> None:
    first, second = name_of(one), name_of(other)
    assert first is not None
    assert second is not None
    assert first.agrees(second) is second.agrees(first) is agree


def scanned(text: str) -> list[str]:
    return ["/".join((*name.folders, name.base)) for _, _, name in MATCHER.scan(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Inspect model.ckpt.", ["model.ckpt"]),
        ("(a.json), `b.json`; “c.json”: d.json… e.json!", ["a.json", "b.json", "c.json", "d.json", "e.json"]),
        ("is it a.json?", ["a.json"]),
        ("a.json:12:3 a.json#L3", ["a.json", "a.json"]),
        ("- a.json\n* b.json", ["a.json", "b.json"]),
        ("a.jsonl a.json5 a.json.bak a.json~ a.json-old a.json_1 a.json/", []),
        ("r.json() cfg.json(x) .json {i}.json *.json [ab].json $(x).json", []),
        ("x.tar.gz y.gz z.tar", ["x.tar.gz"]),
        ("读 数据.json的前几行", ["数据.json"]),
        ("HEAD:web/a.json host:/srv/a.json h:8080/a.json", ["web/a.json", "srv/a.json", "a.json"]),
        ("https://h.org:8080/v1/a.json?x=b.json#c.json, next", ["v1/a.json"]),
        ("see https://h.org/a%20b.json.", ["a b.json"]),
        ("https://h.org/%1b.json https://h.org/x?f=a.json https://data.json/", []),
        (r"C:\web\a.json D:\\api\\b.json ..\c.json", ["web/a.json", "api/b.json", "c.json"]),
        (r"$env:TEMP\run\a.json model\.ckpt", ["run/a.json", "model.ckpt"]),
        ("if=a.json --in=b.json <c.json 2>d.json", ["a.json", "b.json", "c.json", "d.json"]),
    ],
)
def test_names_in_running_text(text: str, names: list[str]) -> None:
    assert sorted(scanned(text)) == sorted(names)


def test_a_scan_says_where_a_name_stands() -> None:
    text = "look at web/a.json."
    [(start, end, name)] = MATCHER.scan(text)
    assert text[start:end] == name.text == "web/a.json"


def test_in_prose_a_slash_also_parts_files_and_what_is_in_them() -> None:
    assert [name.base for _, name in MATCHER.prose("a.json/b.json and model.ckpt/layer 3")] == [
        "a.json",
        "b.json",
        "model.ckpt",
    ]


@pytest.mark.parametrize(
    ("word", "whole"),
    [
        ("a.json", True),
        ("my data (1).json", True),
        ("C:/my data/a.json", True),
        ("$HOME/${X}/a b.json", True),
        ("Q3, final.json", True),
        ("bob's.json", True),
        ("data[1].json", True),
        ("open('a.json", False),
        ("x=a.json", False),
        ("tool -n 3 a.json", False),
        ("a.json b", False),
        ("cat x | tee a.json", False),
        ("one\ntwo.json", False),
    ],
)
def test_which_words_are_one_path(word: str, whole: bool) -> None:
    assert MATCHER.whole(word) is whole


@pytest.mark.parametrize("text", ["x A.JSON", 'x "a".json', "x rows.{json,csv}", "x.ckpt", "É.json"])
def test_hints_see_every_name_in_one_piece(text: str) -> None:
    assert MATCHER.hints(text)


def test_hints_let_most_commands_go() -> None:
    assert not any(map(MATCHER.hints, ["git status", "npm run build", "cat a.jsonl", "echo json", "ls ckpt/"]))


def test_a_matcher_without_extensions_finds_nothing() -> None:
    none = Matcher(frozenset())
    assert not none.hints("a.json")
    assert not none.whole("a.json")
    assert list(none.scan("a.json b. c.")) == []
