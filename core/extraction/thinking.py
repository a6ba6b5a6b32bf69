"""Tells a model's reasoning from its answer: `<think>` blocks that are closed, never closed, or were never opened."""

from __future__ import annotations

import re
from typing import Final

from core.extraction.tolerant import Finder, Found

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def values_outside(text: str) -> list[Found]:
    """The values of the answer itself, in order.

    A tag in a string of a well-formed value is content ("token 7 decodes to '<think>'"). Where a value that contains a
    tag is not well-formed, every tag is taken as one in running text.
    """
    values: list[Found] = []
    finder = Finder(text)
    start = 0
    tag = _TAG.search(text)
    while tag is not None:
        found = finder.next(start, tag.start())
        if found is None:
            if tag[1]:
                values.clear()
            start = tag.end() if tag[1] else _end_of_block(text, tag)
        elif found.end <= tag.start() or found.exact:
            values.append(found)
            start = found.end
        else:
            return Finder(without_thinking(text)).all()
        if start > tag.start():
            tag = _TAG.search(text, start)
    while last := finder.next(start, len(text)):
        values.append(last)
        start = last.end
    return values


def without_thinking(text: str) -> str:
    """What is left of `text` without reasoning, every tag taken as one in running text."""
    kept: list[str] = []
    start = 0
    while tag := _TAG.search(text, start):
        if tag[1]:
            kept.clear()
            start = tag.end()
        else:
            kept.append(text[start : tag.start()])
            start = _end_of_block(text, tag)
    return "\n".join([*kept, text[start:]])


def _end_of_block(text: str, opening: re.Match[str]) -> int:
    """Where the block ends: at the closing tag of its level, else at the last one there is, else with the text."""
    level = 1
    end = len(text)
    for tag in _TAG.finditer(text, opening.end()):
        level += -1 if tag[1] else 1
        if tag[1]:
            end = tag.end()
        if level == 0:
            break
    return end
