"""Cutting a shell command into words."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.ledger.shellwords import VALUE, UnreadableError, read


def words(command: str) -> list[list[str]]:
    return [[word.text for word in simple.words] for simple in read(command).commands]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", []),
        ("  ls   -la ", [["ls", "-la"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a b'c'\"d\"e", [["a", "bcde"]]),
        ('a "x\\"y\\\\z\\n" \'\\n\'', [["a", 'x"y\\z\\n', "\\n"]]),
        ("a $'x\\ty\\x41\\u00e9\\101\\'z' $\"w\"", [["a", "x\tyAéA'z", "w"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("a; b && c || d | e & f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("a # b; c\nd", [["a"], ["d"]]),
        ("a b#c", [["a", "b#c"]]),
        ("(a; b) c", [["a"], ["b"], ["c"]]),
        ("a $(b c) d", [["b", "c"], ["a", VALUE, "d"]]),
        ('a "x$(b "c d")y"', [["b", "c d"], ["a", f"x{VALUE}y"]]),
        ("a `b \\`c\\``", [["c"], ["b", VALUE], ["a", VALUE]]),
        ("a <(b) >(c)", [["b"], ["c"], ["a", VALUE, VALUE]]),
        ("a $((1 << 2)) $x ${y:-z}", [["a", VALUE, "$x", "${y:-z}"]]),
        ("((n << 2)); a", [[VALUE], ["a"]]),
        ("case x in y) a;; esac", [["case", "x", "in", "y"], ["a"], ["esac"]]),
        ("a C:\\x\\y.txt ..\\z", [["a", "C:\\x\\y.txt", "..\\z"]]),
        ("a\u00a0b\x0bc", [["a", "b", "c"]]),
    ],
)
def test_words_of_simple_commands(command: str, expected: list[list[str]]) -> None:
    assert words(command) == expected


def test_redirections_are_no_words() -> None:
    [simple] = read("a <in 2>err >>all &>both >|clob <> rw 2>&1 b3 >x").commands
    assert [word.text for word in simple.words] == ["a", "b3"]
    assert [(operator, word.text) for operator, word in simple.redirects] == [
        ("<", "in"), (">", "err"), (">>", "all"), ("&>", "both"), (">|", "clob"), ("<>", "rw"), (">&", "1"), (">", "x"),
    ]  # fmt: skip


def test_here_documents_belong_to_their_command() -> None:
    first, second, third = read("a <<E1 | b <<-'E2'\none\nE1\n\ttwo\n\tE2\nc <<< 'three'").commands
    assert [body.text for body in first.bodies] == ["one\n"]
    assert [body.text for body in second.bodies] == ["\ttwo\n"]
    assert [body.text for body in third.bodies] == ["three"]


def test_a_here_document_without_its_end_goes_on_to_the_end() -> None:
    [simple] = read("a <<E\nrest\nof it").commands
    assert [body.text for body in simple.bodies] == ["rest\nof it"]


def test_pipes_are_followed_also_out_of_a_group() -> None:
    first, second, third, fourth = read("a; (b; c) | d").commands
    assert third.sink is fourth
    assert fourth.source is third
    assert first.sink is second.sink is None


def test_subshells_have_scopes_of_their_own() -> None:
    script = read("a; (b; (c)); d; e $(f)")
    assert [(simple.words[0].text, simple.scope) for simple in script.commands] == [
        ("a", 0), ("b", 1), ("c", 2), ("d", 0), ("f", 3), ("e", 0),
    ]  # fmt: skip
    assert script.parents == [-1, 0, 1, 0]


def test_words_say_whether_they_are_patterns() -> None:
    [simple] = read("a *.txt 'b*' c[1] d?e u?x=1 {f,g} '{h}'").commands
    assert [(word.glob, word.braces) for word in simple.words] == [
        (False, False), (True, False), (False, False), (True, False), (True, False), (False, False), (False, True),
        (False, False),
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["a 'b", 'a "b', "a `b", "a $'b", 'a "$(b', "(" * 40 + "a"])
def test_what_cannot_be_read_is_said(command: str) -> None:
    with pytest.raises(UnreadableError):
        read(command)


@pytest.mark.parametrize("command", ["a 'b c", 'a "b c', "a $'b c"])
def test_a_command_that_was_cut_off_ends_its_open_quote(command: str) -> None:
    [simple] = read(command, lenient=True).commands
    assert [word.text for word in simple.words] == ["a", "b c"]


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"))))
@settings(deadline=None)
def test_quoted_words_come_back_as_they_were(texts: list[str]) -> None:
    assert words("run " + shlex.join(texts)) == [["run", *texts]]


@given(st.text(" \n'\"\\$`|&;()<>{}#*?[]=ab", max_size=40))
@settings(deadline=None, max_examples=500)
def test_every_text_is_read_or_refused_and_positions_go_up(text: str) -> None:
    try:
        script = read(text)
    except UnreadableError:
        assume(text.count("(") + text.count("`") < 30)
        script = read(text, lenient=True)
    for simple in script.commands:
        places = [word.at for word in simple.words]
        assert places == sorted(places)
        assert all(0 <= place <= len(text) for place in places)
