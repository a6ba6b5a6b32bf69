"""Answers of models, and the notes made of them."""

from __future__ import annotations

import pytest

from core.history.notes import NOTE_CHARS, SECTIONS, Note, NoteError, Verdict, parse_note

WHOLE = "\n".join(f"## {heading}\n\nText of section {n}.\n" for n, heading in enumerate(SECTIONS))


def note(answer: str, hints: tuple[str, ...] = ()) -> Note:
    found = parse_note(answer, hints)
    assert isinstance(found, Note)
    return found


def test_a_note_comes_back_as_it_was_written() -> None:
    assert note(WHOLE).markdown == WHOLE


def test_sections_are_put_into_their_order_and_joined() -> None:
    answer = "## Follow-ups\nb\n## What Was Worked On\na\n## Follow-ups\nc\n"
    assert note(answer).markdown == "## What Was Worked On\n\na\n\n## Follow-ups\n\nb\n\nc\n"


@pytest.mark.parametrize("nothing", ["", "None", "- None.", "N/A", "*(none)*", "_Nothing to report._", "No follow-ups"])
def test_empty_sections_are_left_out(nothing: str) -> None:
    assert note(f"## What Was Worked On\na\n## Follow-ups\n{nothing}\n").sections == (("What Was Worked On", "a"),)


@pytest.mark.parametrize("kept", ["None of the tests pass", "No port is open on 8080, fix it", "Nothing works yet"])
def test_a_section_that_begins_like_an_empty_one_is_kept(kept: str) -> None:
    assert note(f"## Findings & Learnings\n{kept}\n").sections == (("Findings & Learnings", kept),)


@pytest.mark.parametrize(
    "heading",
    [
        "# decisions and rationale",
        "### 3. Decisions & Rationale:",
        "**Decisions & Rationale**",
        "## **Decisions & Rationale** ##",
        "**Decisions & Rationale:**",
    ],
)
def test_headings_are_known_however_they_are_written(heading: str) -> None:
    assert note(f"{heading}\nBecause.\n").sections == (("Decisions & Rationale", "Because."),)


def test_an_unknown_heading_becomes_a_part_of_its_section() -> None:
    assert note("# Session\nhello\n## Problems & Fixes\na\n# More\nb").sections == (
        ("Problems & Fixes", "a\n### More\nb"),
    )


def test_a_heading_in_a_block_of_code_is_code() -> None:
    body = "```sh\n## Follow-ups\n```"
    assert note(f"## Problems & Fixes\n{body}\n").sections == (("Problems & Fixes", body),)


@pytest.mark.parametrize(
    "around",
    [
        "```markdown\n{}\n```",
        "```\n{}```",
        "```\n{}",
        "<think>## Follow-ups\nx</think>\n{}",
        "x</think>{}",
        "Here is the note:\n\n{}",
        "Here is the note:\n\n```md\n{}```\nI hope it helps.",
    ],
)
def test_what_is_around_a_note_is_dropped(around: str) -> None:
    assert note(around.format(WHOLE)).markdown == WHOLE


def test_a_tag_within_the_note_is_content() -> None:
    answer = "## Findings & Learnings\nToken 7 is `<think>`, token 8 `</think>`.\n"
    # The first tag of the answer opens a block in the middle: no block of reasoning stands before the note.
    assert note(answer).sections[0][1] == "Token 7 is `<think>`, token 8 `</think>`."


@pytest.mark.parametrize(
    "answer", ["JUNK", "JUNK.", ' "JUNK" ', "`JUNK`", "```\nJUNK\n```", "“JUNK.”", "'JUNK'.", "<think>hm</think>JUNK\n"]
)
def test_junk_is_known_in_its_wrappings(answer: str) -> None:
    assert parse_note(answer) is Verdict.JUNK


@pytest.mark.parametrize(
    "answer",
    ["junk", "JUNK: an empty handshake", "This is JUNK", "", "  \n", "<think>only this", "I cannot help with that.",
     "## Something Else\ntext", "## Follow-ups\nNone", "Error: rate limit exceeded", "JUNKYARD", "JUNK JUNK"],
)  # fmt: skip
def test_anything_else_is_no_note(answer: str) -> None:
    with pytest.raises(NoteError):
        parse_note(answer)


def test_the_reason_shows_no_secret() -> None:
    with pytest.raises(NoteError) as caught:
        parse_note("the key is ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    assert "abcdefghij" not in caught.value.reason


def test_a_note_that_repeats_the_agents_reasoning_is_refused() -> None:
    hint = "The user is wrong about the offset, but I will not say it…"
    answer = "## Findings & Learnings\nThe user is wrong about the\noffset, but I will not say it at all.\n"
    with pytest.raises(NoteError, match="reasoning"):
        parse_note(answer, (hint,))
    assert note(answer, ("Something else entirely, of some length.", "wrong about")).sections


def test_secrets_are_masked_and_control_codes_dropped() -> None:
    made = note("## Findings & Learnings\n\x1b]52;c;aGk=\x07The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789.\n")
    assert "ghp_abcdef" not in made.markdown
    assert "\x1b" not in made.markdown


def test_a_note_that_is_no_digest_is_refused() -> None:
    with pytest.raises(NoteError, match=str(NOTE_CHARS)):
        parse_note("## Follow-ups\n" + "word " * (NOTE_CHARS // 5))


@pytest.mark.parametrize("filler", [" ", "-", "`", "#", "*", "<think>", "\n", "```\n", "## ", "\n## Follow-ups"])
def test_a_hostile_answer_of_any_length_ends(filler: str) -> None:
    for answer in (filler * (1 << 20), f"## Follow-ups\n{filler * (100_000 // len(filler))}x"):
        try:
            parse_note(answer)
        except NoteError as error:
            assert len(error.reason) < 400
