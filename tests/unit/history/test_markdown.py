"""A session as Markdown: nothing of its content can leave its place."""

from __future__ import annotations

import re

from core.history.markdown import markdown
from core.history.pieces import Kind, Piece
from core.history.rows import Schema, SessionRow

ROW = SessionRow(
    id="ses_a", title="# *bold*\n---", directory="/a`b", parent="", schema=Schema.V1, time_created=0, time_updated=1_000
)


def made(*pieces: Piece, row: SessionRow = ROW) -> str:
    return "".join(markdown(row, pieces))


def test_title_and_folder_are_literal() -> None:
    head = made()
    assert head.startswith("# \\# \\*bold\\* ---\n\n")
    assert "- folder: ``/a`b``\n- began: 1970-01-01 00:00:00 UTC\n- last change: 1970-01-01 00:00:01 UTC\n" in head
    assert made(
        row=SessionRow(**{name: getattr(ROW, name) for name in ROW.__struct_fields__} | {"title": ""})
    ).startswith("# Session without a title\n")


def test_a_fence_in_an_output_does_not_end_the_block() -> None:
    out = made(Piece(kind=Kind.TOOL, role="assistant", name="bash", status="completed", input="x", text="a\n````\n# b"))
    assert "\n**bash** (completed)\n\n```text\nx\n```\n\n`````text\na\n````\n# b\n`````\n" in out


def test_a_heading_where_the_speaker_changes() -> None:
    say = [Piece(kind=Kind.TEXT, role=role, text=role[0]) for role in ("user", "user", "assistant", "unknown")]
    dropped = Piece(kind=Kind.DROPPED, role="user", name="synthetic")
    assert re.findall("^## .*", made(*say, dropped), re.MULTILINE) == ["## User", "## Agent", "## Unknown speaker"]


def test_other_kinds() -> None:
    out = made(
        Piece(kind=Kind.FILE, role="user", name="a.png", text="image/png"),
        Piece(kind=Kind.PATCH, role="assistant", text="/x\n/y"),
        Piece(kind=Kind.SUMMARY, role="assistant", text="all"),
        Piece(kind=Kind.REASONING, role="assistant", text="a *b*"),
    )
    for block in ("File `a.png` (image/png)", "Files changed:\n\n- `/x`\n- `/y`", "came before:\n\nall", r"a \*b\**"):
        assert block in out
