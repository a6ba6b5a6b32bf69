"""Counts of `wc`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.ledger.rules.options import options_of
from core.ledger.rules.shown import Found, Shown, said, topic
from core.ledger.rules.subjects import is_file_name, own_file

_COLUMNS: Final = (
    ("-l", "--lines", "line"),
    ("-w", "--words", "word"),
    ("-m", "--chars", "character"),
    ("-c", "--bytes", "byte"),
)
"""In the order in which they are printed."""
_ROW: Final = re.compile(r"[ \t]*(\d{1,18}(?:[ \t]+\d{1,18}){0,3})(?:[ \t](.*))?")


def counts(shown: Shown) -> Iterator[Found]:
    """How many lines, words or bytes a file has."""
    if shown.program != "wc" or shown.inside or not shown.passed_by("head", "tail", "sort", "grep"):
        return
    given = options_of(shown.args)
    if given.any("-L", "--max-line-length", "--files0-from", "--help", "--version", "--total"):
        return
    units = [unit for short, long, unit in _COLUMNS if given.any(short, long)] or ["line", "word", "byte"]
    alone = own_file(shown, given.operands)
    for line in shown.short:
        numbers, name = _row(line.text, len(units))
        if not numbers or (name == "total" and "total" not in given.operands):
            continue
        subject = alone if not name else name if shown.names_open or name in given.operands else ""
        if is_file_name(subject):
            parts = [
                f"{number} {unit}{'' if number == '1' else 's'}" for number, unit in zip(numbers, units, strict=True)
            ]
            yield Found(f"{said(subject)} has {_listed(parts)}.", topic("file-size", subject), (line.n,))


def _row(text: str, columns: int) -> tuple[list[str], str]:
    """The numbers and the name of a line; no numbers when it is none of that many columns."""
    found = _ROW.fullmatch(text.rstrip())
    if found is None:
        return [], ""
    numbers, name = found[1].split(), (found[2] or "").strip()
    # A name may begin with a number: what the columns do not need belongs to it.
    if len(numbers) > columns:
        name = " ".join([*numbers[columns:], *([name] if name else [])])
    return (numbers[:columns], name) if len(numbers) >= columns else ([], "")


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
