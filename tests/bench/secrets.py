"""How well secrets are masked: each span of a labelled text, each mask that hits none, each part that must stay."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from core.text import mask
from tests.corpus.cases import SecretCase

_MARK = re.compile(r"\[masked:[a-z0-9-]+\]")


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one text: spans masked wholly and not, masks that hit no span, parts lost that must stay."""

    masked: int
    missed: int
    wrong: int
    lost: int

    @property
    def right(self) -> bool:
        """Whether nothing is to be found fault with."""
        return not (self.missed or self.wrong or self.lost)


def judge(case: SecretCase, masking: Callable[[str], str] = mask) -> Judged:
    """Mask the text of a case and compare with its labels."""
    result = masking(case.text)
    places = masked_places(case.text, result)
    whole = [any(start <= span[0] and span[1] <= end for start, end in places) for span in case.spans]
    hits = [any(start < span[1] and span[0] < end for span in case.spans) for start, end in places]
    lost = sum(kept not in result for kept in case.keep)
    return Judged(masked=sum(whole), missed=whole.count(False), wrong=hits.count(False), lost=lost)


def masked_places(text: str, result: str) -> list[tuple[int, int]]:
    """Start and end in `text` of what became a mark in `result`; all of it where the rest is not the same."""
    kept = _MARK.split(result)
    if len(kept) == 1:
        return [] if text == result else [(0, len(text))]
    found = re.fullmatch("(.+?)".join(map(re.escape, kept)), text, re.DOTALL)
    return [found.span(n) for n in range(1, len(kept))] if found else [(0, len(text))]
