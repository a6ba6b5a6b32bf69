"""Reads the answer of an extraction agent: the findings in it, however the model wrapped them.

An answer without findings must say so with an empty array. Anything else that holds none (silence, a refusal, an error
message of the provider, prose) is an :class:`AnswerError`, so that the steps it was about are tried again.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from core.extraction.thinking import values_outside, without_thinking
from core.extraction.tolerant import Object
from core.ledger.observations import Candidate
from core.ledger.untrusted import HIDDEN
from core.text import clean, mask, mask_line

MAX_FACT_CHARS: Final = 2000
"""A longer fact is rejected: it quotes an output instead of saying what was found."""
MAX_TOPIC_CHARS: Final = 200
GENERAL: Final = "general"
"""Topic of a finding that names none."""

_FACT_KEYS: Final = ("fact", "finding", "statement")
_LOOSE_FACT_KEYS: Final = ("text", "content", "observation", "description")
"""Taken for the fact only in an object that has none of _FACT_KEYS and holds no further objects."""
_TOPIC_KEYS: Final = ("topic", "category", "subject")

_PROVIDER_ERROR: Final = re.compile(
    r"(?i)\b(?:prompt|input|request|message|context)s? (?:is|are|was) too (?:long|large)\b|\brate[ _-]?limit"
    r"|\btoo many (?:requests|tokens)\b|\bcontext[ _-]?(?:length|window)\b|\bquota\b|\boverloaded\b"
    r"|\b(?:invalid|incorrect) api[ _-]?key\b|\bunauthorized\b|\bservice unavailable\b|\binternal server error\b"
    r"|\bbad gateway\b|\btimed out\b"
)
_REFUSAL: Final = re.compile(
    r"(?i)\b(?:I|we) (?:can['’]?t|cannot|can not|could not|won['’]?t|will not|(?:must|have to) (?:decline|refuse))\b"
    r"|\b(?:I['’]m|I am|we are)(?: \w{1,12})? (?:unable|not able|sorry)\b|\bas an AI\b"
)
_SIGN: Final = "\ue000"
"""Stands for a hidden character: of private use, so in no text that means anything, and kept by cleaning."""
_LOOKED_AT: Final = 2000
"""Characters at the beginning of an answer in which an error message or a refusal is looked for."""


class AnswerError(Exception):
    """The answer cannot be read as findings; `reason` is one line for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer holds: the findings in the order given, and how many of its items were no findings."""

    items: tuple[Candidate, ...] = ()
    rejected: int = 0


def parse_answer(text: str) -> Answer:
    """The findings in `text`; takes time linear in its length.

    Raises:
        AnswerError: there is neither a finding in it, nor an item meant as one, nor an empty array.
    """
    raw, text = text, _unquoted(clean(text).strip())
    sorted_out = _sorted_out(text)
    if not sorted_out.items:
        _raise_if_failed(text, sorted_out)
    items = _with_hidden(sorted_out.items, raw) if HIDDEN.search(raw) else sorted_out.items
    return Answer(items=tuple(items), rejected=sorted_out.rejected)


def _sorted_out(text: str) -> _Sorter:
    sorter = _Sorter()
    for found in values_outside(text):
        sorter.take(found.value, closed=found.closed, alone=found.start == 0 and found.end == len(text))
    return sorter


def _with_hidden(items: list[Candidate], raw: str) -> list[Candidate]:
    """The items, those marked that are not the same without cleaning: something hidden stood in them.

    Reading the answer again with a visible sign in place of each hidden character tells which ones they are.
    """
    read_again = _sorted_out(_unquoted(clean(HIDDEN.sub(_SIGN, raw)).strip(f"{_SIGN} \n\t")))
    untouched = {(item.fact, item.topic) for item in read_again.items}
    return [
        item if (item.fact, item.topic) in untouched else msgspec.structs.replace(item, hidden=True) for item in items
    ]


def _unquoted(text: str) -> str:
    """What is inside, if all of `text` is one JSON string that holds an array or an object."""
    if text.startswith('"') and text.endswith('"'):
        try:
            inner = json.loads(text)
        except ValueError:
            return text
        if inner.lstrip().startswith(("[", "{")):
            return str(inner.strip())
    return text


class _Sorter:
    """Goes through the values of an answer and sorts out what is a finding."""

    def __init__(self) -> None:
        self.items: list[Candidate] = []
        self.rejected = 0
        self.cut = 0
        """How many of the rejected were cut off by the end of the answer."""
        self.from_arrays = 0
        """How many of the rejected were items of an array."""
        self.empty_array = False
        """An empty array stood by itself."""
        self.empty_inside = False
        """An empty array stood in an object."""
        self.unclosed = False
        """The answer ended inside a value."""
        self.error = ""
        """Message of an error object."""

    def take(self, value: Object | list[Any], *, closed: bool, alone: bool) -> None:
        """A value at the top level; `alone`: it is the whole answer."""
        self.unclosed |= not closed
        if isinstance(value, Object):
            if value:
                self._take_object(value)
        elif not value:
            self.empty_array |= closed
        elif alone or _has_objects(value):
            self._take_items(value)

    def _take_items(self, values: list[Any]) -> None:
        self.empty_inside |= not values and not self.unclosed
        for value in values:
            before = self.rejected
            if isinstance(value, Object):
                self._take_object(value)
            elif isinstance(value, list):
                self._take_items(value)
            else:
                self.rejected += 1
            self.from_arrays += self.rejected - before

    def _take_object(self, value: Object) -> None:
        fields = {key.strip().lower(): content for key, content in value.items()}
        if any(key in fields for key in _FACT_KEYS):
            self._judge(fields, _FACT_KEYS, value.cut)
        elif fields.get("error"):
            self.error = self.error or _message(fields["error"])
        elif inner := _inner(fields):
            for content in inner:
                self._take_items(content) if isinstance(content, list) else self._take_object(content)
        else:
            self._judge(fields, _LOOSE_FACT_KEYS, value.cut)

    def _judge(self, fields: dict[str, Any], fact_keys: tuple[str, ...], cut: bool) -> None:
        fact = next((fields[key] for key in fact_keys if key in fields), None)
        topic = next((fields[key] for key in _TOPIC_KEYS if key in fields), None)
        cut = cut and (fact is None or topic is None)
        if cut or not isinstance(fact, str) or not isinstance(topic, str | None):
            self.rejected += 1
            self.cut += cut
            return
        hidden = HIDDEN.search(f"{fact} {topic or ''}") is not None
        fact = mask(clean(fact).strip())
        if len(fact) > MAX_FACT_CHARS or not any(map(str.isalnum, fact)):
            self.rejected += 1
            return
        topic = mask_line(topic or "", MAX_TOPIC_CHARS) or GENERAL
        self.items.append(Candidate(fact=fact, topic=topic, hidden=hidden))


def _has_objects(values: list[Any]) -> bool:
    """Whether an object is anywhere in a list, which is at most MAX_DEPTH deep."""
    return any(isinstance(value, Object) or (isinstance(value, list) and _has_objects(value)) for value in values)


def _inner(fields: dict[str, Any]) -> list[Any]:
    """What an object that is no finding itself has been put around: lists of objects, else objects, else any list."""
    lists = [content for content in fields.values() if isinstance(content, list)]
    return (
        [content for content in lists if _has_objects(content)]
        or [content for content in fields.values() if isinstance(content, Object) and _inner(content)]
        or ([] if "topic" in fields else lists)
    )


def _message(error: object) -> str:
    """The text of an error object of the usual forms."""
    if isinstance(error, Object):
        error = error.get("message") or error.get("type") or error.get("code")
    return error if isinstance(error, str) else "an error without a message"


def _raise_if_failed(text: str, sorted_out: _Sorter) -> None:
    """Tell the answers that say "no findings" from those that say something else."""
    if sorted_out.error:
        raise AnswerError(f"error of the provider: {mask_line(sorted_out.error, 200)}")
    if sorted_out.empty_array or sorted_out.from_arrays > sorted_out.cut:
        return
    rest = without_thinking(text).strip()[:_LOOKED_AT]
    shown = mask_line(rest, 200)
    if _PROVIDER_ERROR.search(rest):
        raise AnswerError(f"error of the provider: {shown}")
    if sorted_out.empty_inside or sorted_out.rejected > sorted_out.cut:
        return
    if not rest:
        raise AnswerError("the answer holds nothing but reasoning" if text else "the answer is empty")
    if _REFUSAL.search(rest):
        raise AnswerError(f"the model refused: {shown}")
    if sorted_out.unclosed:
        raise AnswerError(f"the answer was cut off: {shown}")
    raise AnswerError(f"no JSON array in the answer: {shown}")
