"""Which files a bash call looks at."""

from __future__ import annotations

import sys
from unicodedata import normalize

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.ledger.touch import MAX_COMMAND, Name, names_in
from tests.unit.ledger import touch_cases, touch_cases_unseen
from tests.unit.ledger.touch_cases import SEED, Case

quick = settings(deadline=None, max_examples=150)

LOOKS = ["xxd {}", "cat a.md {} | head", "wc -c < {}", "sudo stat {}", "git diff -- {}", "F={}; head $F", "cd; file {}"]
FILINGS = ["echo x > {}", "rm -f {}", "sudo cp {} /tmp", "git add {}", "ls | tee -a {}", "sed -i s/a/b/ {}", "touch {}"]
STEMS = st.text("abcXYZ019éöü-_ .", min_size=1, max_size=12).filter(lambda stem: stem.strip(" .-") == stem)
SHELLISH = st.lists(
    st.sampled_from(
        ["a.json", "b c.CSV", " ", "'", '"', "\\", "$(", ")", "`", "|", "&&", ">", "<", "<<E\n", "\nE\n", "$F"]
    )
    | st.sampled_from(["F=", "{", "}", ",", "*", "?", "=", "#", "cat ", "echo ", "rm ", "python -c ", "for f in ", ";"])
    | st.text(max_size=4),
    max_size=25,
).map("".join)


PIECES = [
    "'", '"', "'\"", "\\", "$(", "`", "((", "((a(b)", "${", "$'\\'", "<<A ", "<(", "x.json", "x.json ", "a.json/",
    "é.json ", "{a,b}.json ", "{1..1}.json ", "F=$F$F.json;", "cd a; ", "a=x.json ", "cat x.json|", "http://", "'''",
    "../", "[", "xargs x.json|", "for f in x.json; do ", "bash -c 'x.json' ", "# x.json\n", ".json", "kubectl exec -- ",
    "a.md | ", "COPY a TO 'x.json' ", "python -c \"'x.json\" ", "-o a.md ", "cat <<E\nE\n", "echo a > b; ", "x(",
]  # fmt: skip
"""Pieces of which hostile commands are made."""


def found(command: str, description: str = "", extensions: frozenset[str] = SEED) -> tuple[str, ...]:
    """Folders and base names, as the labels give them."""
    return tuple("/".join((*name.folders, name.base)) for name in names_in(command, description, extensions))


def escaped(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-/" else "\\" + letter for letter in name)


def ansi(name: str) -> str:
    return "$'" + "".join(f"\\x{ord(letter):02x}" if letter == " " else letter for letter in name) + "'"


@pytest.mark.parametrize("case", touch_cases.CASES + touch_cases_unseen.CASES, ids=lambda case: case.command[:60])
def test_a_call_looks_at_the_files_it_is_labelled_with(case: Case) -> None:
    assert found(case.command, case.description, case.extensions) == case.names


def test_the_table_is_large_and_has_its_share_of_calls_that_look_at_nothing() -> None:
    cases = touch_cases.CASES + touch_cases_unseen.CASES
    assert len({case.command + case.description for case in cases}) >= 500
    assert sum(not case.names for case in cases) >= 140


def test_a_name_keeps_how_it_was_written() -> None:
    assert names_in("xxd './My Data/Model.CKPT'", "", SEED) == (
        Name("./My Data/Model.CKPT", "model.ckpt", ("my data",)),
    )


def test_extensions_are_taken_with_a_dot_and_in_any_case_too() -> None:
    assert found("cat a.TXT b.tar.GZ", extensions=frozenset({".Txt", "TAR.gz"})) == ("a.txt", "b.tar.gz")


def test_a_special_character_in_an_extension_is_only_itself() -> None:
    assert found("cat a.c++ b.cxx c.", extensions=frozenset({"c++", ""})) == ("a.c++",)


@given(st.text() | SHELLISH, st.text())
@quick
def test_no_extension_matches_nothing(command: str, description: str) -> None:
    assert names_in(command, description, frozenset()) == ()


@given(st.text() | SHELLISH, st.text() | SHELLISH)
@quick
def test_whatever_is_typed_names_come_out_whole_and_once(command: str, description: str) -> None:
    names = names_in(command, description, SEED)
    assert len({(name.base, name.folders) for name in names}) == len(names)
    for name in names:
        assert name.text.isprintable()
        assert name.base.rpartition(".")[2] in SEED
        assert name.base.rpartition(".")[0]
        assert not {"", ".", ".."} & set(name.folders)


@given(SHELLISH, SHELLISH)
@quick
def test_composed_and_decomposed_text_name_the_same(command: str, description: str) -> None:
    command, description = command.replace("a.json", "é/à.json"), description.replace("a.json", "à.json")
    composed = names_in(normalize("NFC", command), normalize("NFC", description), SEED)
    assert names_in(normalize("NFD", command), normalize("NFD", description), SEED) == composed


@given(STEMS, st.sampled_from(LOOKS))
@quick
def test_however_a_name_is_quoted_it_is_the_same(stem: str, template: str) -> None:
    name = stem + ".ckpt"
    assume(" -" not in name)
    quotings = [f"'{name}'", f'"{name}"', ansi(name), escaped(name)] + [name] * (" " not in name)
    folded = normalize("NFC", normalize("NFC", name).casefold())
    assert {found(template.format(quoting)) for quoting in quotings} == {(folded,)}


@given(STEMS, st.sampled_from(FILINGS))
@quick
def test_what_is_only_written_or_filed_away_is_no_look_even_if_the_description_says_so(
    stem: str, template: str
) -> None:
    name = stem + ".ckpt"
    assert found(template.format(f"'{name}'"), f"Handle {name} now") == ()


@given(st.sampled_from(LOOKS), st.sampled_from(FILINGS), st.sampled_from([" && ", "; ", " || ", "\n", " & "]))
@quick
def test_a_look_beside_a_filing_counts_on_either_side(look: str, filing: str, between: str) -> None:
    halves = look.format("a.ckpt"), filing.format("a.ckpt")
    assert found(between.join(halves)) == found(between.join(halves[::-1])) == ("a.ckpt",)


@given(
    st.sampled_from(LOOKS),
    st.sampled_from(["b.ckpt.gz", "b.ckptx", "*.ckpt", "b?.ckpt", "b[12].ckpt", "$b.ckpt", ".ckpt"]),
)
@quick
def test_other_names_and_patterns_name_no_such_file(look: str, other: str) -> None:
    assert found(look.format(other)) == ()


@pytest.mark.parametrize(
    ("description", "looks"),
    [
        ("Creates rows.csv", False),
        ("Writing the new file `rows.csv`", False),
        ("Copy rows.csv to /tmp", False),
        ("Create a plot of rows.csv", True),
        ("Making sure rows.csv is sorted", True),
        ("Read rows.csv", True),
    ],
)
def test_a_description_that_says_a_file_is_made_or_moved_is_no_look(description: str, looks: bool) -> None:
    assert found("python job.py", description) == ("rows.csv",) * looks


def test_a_description_adds_nothing_to_a_file_that_the_command_names() -> None:
    assert found("cat web/a.json", "Read a.json") == ("web/a.json",)
    assert found("cat web/a.json", "Read api/a.json") == ("web/a.json", "api/a.json")
    assert found("cp web/a.json /tmp", "Read api/a.json") == ("api/a.json",)


def test_a_command_is_read_up_to_its_bound() -> None:
    filler = "true; " * (MAX_COMMAND // 6 + 1)
    assert found("cat a.txt; " + filler + "cat b.txt") == ("a.txt",)
    assert found("cat a.txt; echo '" + filler + "' > b.txt") == ("a.txt",)


def test_an_unreadable_command_is_searched_plainly_and_its_redirections_still_write() -> None:
    assert found("echo 'oops; cat a.txt > b.txt; cat c.txt") == ("a.txt", "c.txt")
    assert found("(" * 200 + "cat a.txt" + ")" * 200) == ("a.txt",)


def test_a_variable_is_known_by_its_whole_name_and_cannot_grow_without_bound() -> None:
    assert found("F=a.csv; FOO=b.csv; head $FOO; rm $F") == ("b.csv",)
    assert found("F=a.txt; " + "F=$F$F$F; " * 300 + "cat b.txt")[-1] == "b.txt"


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_grows_with_the_length_at_most(piece: str) -> None:
    """Counted in function calls, from a quarter of the bound to all of it, so four times and some room."""
    quarter, whole, more = (
        _calls("cat x.json " + piece * (size // len(piece))) for size in (MAX_COMMAND // 4, MAX_COMMAND, 1_000_000)
    )
    assert whole <= 5 * quarter + 500
    assert abs(more - whole) <= whole / 4 + 500


def _calls(command: str) -> int:
    count = 0

    def counter(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counter)
    try:
        names_in(command, command, SEED)
    finally:
        sys.setprofile(None)
    return count
