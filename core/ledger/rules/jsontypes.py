"""Keys and types of JSON documents that were printed whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from core.ledger.rules.curls import request_of
from core.ledger.rules.options import options_of
from core.ledger.rules.shown import Found, Shown, said, topic
from core.ledger.rules.subjects import own_file, piped_file

_FILE: Final = re.compile(r".*\.(?:json|geojson|ipynb|webmanifest|lock|jsonl|ndjson)|(?:.*/)?\.\w+rc", re.IGNORECASE)
_MANY: Final = re.compile(r".*\.(?:jsonl|ndjson)", re.IGNORECASE)
_PATH: Final = re.compile(r"\.|(?:\.[A-Za-z_]\w*|\.?\[\"[^\"\]]{1,60}\"\]|\.?\[\d{1,9}\])+")
_JQ_VALUED: Final = ("--indent", "-L")
_JQ_PLAIN: Final = frozenset(
    {"-r", "-c", "-S", "-M", "-C", "-e", "-j", "-a", "--raw-output", "--compact-output", "--sort-keys"}
)
_LONGEST: Final = 200_000
_MOST_KEYS: Final = 16
_LONGEST_KEY: Final = 48
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_]\w{0,47}")
_MOST_INNER: Final = 4
_MOST_ITEMS: Final = 200
"""Items of an array that are looked at for their keys."""


class _Source(msgspec.Struct, frozen=True):
    """What the document is: its name in a sentence, its topic, and which part of it was printed (a jq filter)."""

    name: str
    topic: str
    part: str = "."
    many: bool = False
    """One document in each line."""


def json_types(shown: Shown) -> Iterator[Found]:
    """Keys and types of a JSON file or answer, or what jq says of a part of it."""
    if shown.failed or not shown.passed_by("head", "sort") or sum(len(line.text) for line in shown.lines) > _LONGEST:
        return
    source = _source(shown)
    told = [line for line in shown.lines if line.text.strip()]
    if source is None or not told or not shown.whole:
        return
    if source.many:
        values = [_decoded(line.text) for line in told]
        if all(isinstance(value, dict) for value in values) and (keys := _keys(values)):
            yield Found(f"Lines of {source.name} are JSON objects with the keys {keys}.", source.topic, (told[0].n,))
        return
    value = _decoded("\n".join(line.text for line in told))
    if value is not _NO_JSON and (whole := _statement(source, value)):
        lines = tuple(line.n for line in told[:_MOST_ITEMS])
        yield Found(whole, source.topic, lines)
        for fact in _inner(source, value):
            yield Found(fact, source.topic, lines)


def _source(shown: Shown) -> _Source | None:
    if shown.inside:
        return None
    if shown.program in {"cat", "bat", "head"} and "sort" not in shown.filters:
        given = options_of(shown.args, ("-n", "--lines"))
        if len(given.operands) != 1 or given.flags - {"-s"} - {f"-{digit}" for digit in "0123456789"}:
            return None
        return _file(own_file(shown, given.operands), must_look=True)
    if shown.program in {"json.tool", "jsonlint"}:
        return _file(own_file(shown, options_of(shown.args, ("--indent",)).operands)) or _answer_of(shown.source)
    if shown.program == "curl":
        return _answer_of(("curl", *shown.args))
    return _of_jq(shown) if shown.program in {"jq", "gojq"} else None


def _file(name: str, part: str = ".", *, must_look: bool = False) -> _Source | None:
    if not name or (must_look and not _FILE.fullmatch(name)):
        return None
    return _Source(said(name), topic("json", name), part, bool(_MANY.fullmatch(name)) and part == ".")


def _answer_of(words: tuple[str, ...], part: str = ".") -> _Source | None:
    """The body that curl prints alone."""
    request = request_of(words[1:]) if words[:1] == ("curl",) else None
    mixed = ("-i", "--include", "-I", "--head", "-o", "--output", "-w", "--write-out", "-D", "-O", "-v", "--verbose")
    if request is None or request.given.any(*mixed):
        return None
    return _Source(f"the body of {said(request.name)}", f"api:{said(request.path, 120)}", part)


def _of_jq(shown: Shown) -> _Source | None:
    given = options_of(shown.args, _JQ_VALUED)
    if not given.flags <= _JQ_PLAIN or not given.operands or "sort" in shown.filters:
        return None
    query, files = given.operands[0].strip(), given.operands[1:]
    if not _PATH.fullmatch(query.partition("|")[0].strip()) and query not in {
        "keys",
        "keys_unsorted",
        "type",
        "length",
    }:
        return None
    raw = given.any("-r", "-j", "--raw-output")
    if raw and query != "type" and not query.endswith("keys"):
        # A raw string looks like the value that it spells.
        return None
    if files:
        return _file(own_file(shown, files), query)
    return _file(piped_file(shown), query) or _answer_of(shown.source, query)


def _statement(source: _Source, value: Any) -> str:
    path, _, function = source.part.rpartition("|") if "|" in source.part else (source.part, "", "")
    path, function = path.strip(), function.strip()
    if path in {"keys", "keys_unsorted", "type", "length"}:
        path, function = ".", path
    name = source.name if path == "." else f"`{said(path, 80)}` in {source.name}"
    if function in {"keys", "keys_unsorted"}:
        return _of_keys(name, value)
    if function == "type":
        return f"{name} is a JSON {value}." if isinstance(value, str) and value in _TYPES.values() else ""
    if function == "length":
        return f"{name} has the length {value}." if isinstance(value, int) and not isinstance(value, bool) else ""
    return "" if function else _of_value(name, value, whole=path == ".")


def _inner(source: _Source, value: Any) -> list[str]:
    """What the objects directly inside an object hold, the first few of them."""
    if not isinstance(value, dict) or not _PATH.fullmatch(source.part):
        return []
    path = source.part.rstrip(".")
    named = [
        (f"`{path}.{key}` in {source.name}", one) for key, one in value.items() if _PLAIN_KEY.fullmatch(key) and one
    ]
    deep = [
        (name, one)
        for name, one in named
        if isinstance(one, dict) or (isinstance(one, list) and isinstance(one[0], dict))
    ]
    return [_of_value(name, one, whole=False) for name, one in deep[:_MOST_INNER]]


def _of_keys(name: str, value: Any) -> str:
    if not isinstance(value, list) or not value or not all(isinstance(key, str) for key in value):
        return ""
    return f"{name} is a JSON object with the keys {_listed([said(key, _LONGEST_KEY) for key in value])}."


def _of_value(name: str, value: Any, *, whole: bool) -> str:
    if isinstance(value, dict):
        keys = _keys([value])
        return f"{name} is a JSON object with the keys {keys}." if keys else f"{name} is an empty JSON object."
    if isinstance(value, list):
        return _of_array(name, value)
    if whole or value is None:
        return ""
    shown = said(msgspec.json.encode(value).decode(), 80)
    return f"{name} is a JSON {_type(value)}, {shown}."


def _of_array(name: str, value: list[Any]) -> str:
    if not value:
        return f"{name} is an empty JSON array."
    kinds = sorted({_type(item) for item in value})
    fact = f"{name} is a JSON array of length {len(value)}; its items are of type {' or '.join(kinds)}"
    keys = _keys(value[:_MOST_ITEMS]) if kinds == ["object"] else ""
    return f"{fact} with the keys {keys}." if keys else f"{fact}."


def _keys(objects: list[Any]) -> str:
    """The keys of objects, each with its types."""
    types: dict[str, set[str]] = {}
    for one in objects:
        for key, value in one.items():
            types.setdefault(key, set()).add(_type(value))
    return _listed([f"{said(key, _LONGEST_KEY)} ({' or '.join(sorted(kinds))})" for key, kinds in types.items()])


def _listed(keys: list[str]) -> str:
    more = len(keys) - _MOST_KEYS
    return ", ".join(keys[:_MOST_KEYS]) + (f" and {more} more" if more > 0 else "")


_NO_JSON: Final = object()
_TYPES: Final = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
}


def _type(value: Any) -> str:
    return _TYPES[type(value)]


def _decoded(text: str) -> Any:
    """The value of a JSON text, or `_NO_JSON`."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return _NO_JSON
