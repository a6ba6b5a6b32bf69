"""Which names of tables, symbols, error codes, paths, tests … a topic is about.

The key is what stands after the topic's first colon; several are told apart by commas, blanks and `and`. A name counts
by itself when it could hardly be an English word (`order_items`, `E0308`, `TokenManager.refresh`); a plain word
(`users`) only counts where its kind can be seen in the call. Topics about a file are left to the index of files, and
topics without a colon have a key only if it counts by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal
from unicodedata import normalize

import msgspec

Kind = Literal["path", "table", "column", "number", "test", "symbol", "variable", "program", "name"]

LONGEST: Final = 300
"""Characters of a topic that are read; a longer one has no key."""
MOST: Final = 8
"""Keys of one topic."""

WORD: Final = r"[\w\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]"
"""A character of a name; \\w alone leaves out the vowel signs of some scripts."""
CHAIN: Final = rf"{WORD}+(?:-{WORD}+)*(?:(?:::|[.#]){WORD}+(?:-{WORD}+)*)*"
"""Names joined by dots, `::` or `#`."""
JOINT: Final = re.compile(r"::|[.#]")


def words(text: str) -> frozenset[str]:
    """The words of a table in the source."""
    return frozenset(text.split())


_CATEGORIES: Final[dict[str, tuple[Kind, str]]] = {
    **dict.fromkeys(words("table tables view collection relation schema sql"), ("table", "table name")),
    **dict.fromkeys(words("column columns field db-column"), ("column", "column")),
    **dict.fromkeys(
        words("error errors error-code errno sqlstate status http-status status-code exit-code code warning signal"),
        ("number", "error code"),
    ),
    **dict.fromkeys(words("test tests test-case test-id unit-test"), ("test", "test")),
    **dict.fromkeys(
        words("symbol function method class struct type constant macro variable module trait enum interface"),
        ("symbol", "symbol"),
    ),
    **dict.fromkeys(words("env environment env-var environment-variable"), ("variable", "variable")),
    **dict.fromkeys(words("version tool program binary"), ("program", "program")),
}
COMMON: Final = words("""
    about after again also before build cache call check class client close code command commit config connect content
    count data debug default delete description design done echo else email error errors event example exit fail failed
    false file files filter find first fixme fmode format from function general get group head header health hello help
    home host hosts http https image import index info init input install item items json kill last layer length level
    line lines list load local lock login main make match message method mode model module name names network next node
    none null number object open option order orders output package page pass patch path path ping pipeline post print
    process project python query queue read release request response result results return root route routes rule run
    save schema script search select send server service session set setup size sort source start state status step
    stop string style submit summary system table target task test tests text time timeout todo token tool total true
    type update upload user users value values version view warn warning where with work write yes yaml html port
    """)
"""Words too common to be looked for, however they are written."""
FILE_ENDINGS: Final = words("""
    py js mjs cjs ts tsx jsx go rs c h cc cpp hpp java kt rb php pl sh bash zsh ps1 sql md rst txt csv tsv json jsonl
    yaml yml toml ini cfg conf env lock log html htm css scss svg png jpg jpeg gif pdf xml db sqlite bak orig old tmp
    bin dat npy npz pt pth ckpt safetensors bpe parquet gz zip tar tgz xz so dll exe whl wasm proto lua swift scala vue
    """)
_ABOUT_TABLES = words("""
    table tables column columns schema schemas list of the a an in on for to by has have with without rows row count
    counts index indexes type types name names key keys primary foreign constraint constraints structure relation data
""")
_METHOD = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY)\b")
_URL = re.compile(r"(?:[A-Za-z][\w+.-]*://([^/\s]+))?(/[^\s?#]*)")
_PLACEHOLDER = re.compile(r"\{[^{}/]+\}|:[A-Za-z_]\w*|<[^<>/]+>|\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\*")
_WHOLE = re.compile(CHAIN)
_TEST_ID = re.compile(rf"[\w./\-]*{WORD}+(?:(?:::|[.#/]){WORD}+(?:-{WORD}+)*)*(?:\[[^\[\]]*\])?")
_SPLIT = re.compile(r"[,;\s]+|[\"'`“”‘’«»()]+")
_AND = frozenset({"and", "or", "vs", "vs.", "&", "+"})


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A name that a topic is about."""

    topic: str
    kind: Kind
    said: str
    """What it is called for people: `table name`, `error code` …"""
    text: str
    parts: tuple[str, ...]
    """The name cut at its joints; a path is one part."""
    distinct: bool
    """It counts wherever it stands as a whole word."""
    short: bool = False
    """Only the last parts of a test id: no other parts may stand before it in the call."""


def keys_of(topic: str, extensions: frozenset[str] = frozenset()) -> tuple[Key, ...]:
    """The keys of a topic, at most 8; none when it is about a file or nothing in it can be told from common words.

    Args:
        topic: `category:key`, in any normal form.
        extensions: endings of files, without dot, casefolded, that count as files beside the usual ones.
    """
    if len(topic) > LONGEST:
        return ()
    category, colon, rest = normalize("NFC", topic).strip().partition(":")
    if not colon:
        category, rest = "", category
    category = re.sub(r"[\s_]+", "-", category.strip().lower())
    first, _, last = category.partition("-")
    known = (name for name in (category, first, last.rpartition("-")[2]) if name in _CATEGORIES)
    kind, said = _CATEGORIES.get(next(known, ""), ("name", "name"))
    pieces = [piece for piece in _SPLIT.split(rest) if piece and piece not in _AND and not _METHOD.fullmatch(piece)]
    if kind not in {"table", "column", "test"} and any(_is_file(piece, extensions) for piece in pieces):
        return ()
    if category.startswith(("file", "dir", "folder")):
        return ()
    found: dict[tuple[str, ...], Key] = {}
    for at, piece in enumerate(pieces[:MOST]):
        for key in _of_piece(topic, kind, said, piece):
            if key.distinct or (colon and _has_own_sense(key) and _is_subject(key, at, len(pieces))):
                found.setdefault(key.parts, key)
    return tuple(found.values())


def _is_subject(key: Key, at: int, pieces: int) -> bool:
    """Whether a topic is about this plain word of its words: `table:users schema`, `error:404 Not Found`."""
    if key.kind == "table":
        return key.text.lower() not in _ABOUT_TABLES
    return pieces == 1 or (at == 0 and key.kind in {"number", "column"})


def _of_piece(topic: str, kind: Kind, said: str, piece: str) -> Iterator[Key]:
    if url := _URL.fullmatch(piece.rstrip("/") or piece):
        path = path_shape(url[2])
        if len(path) > 2 and not (url[2].count("/") == 1 and kind == "program"):
            whole = (url[1].lower() if url[1] else "") + path
            yield Key(topic=topic, kind="path", said="path", text=piece, parts=(whole,), distinct=True)
        return
    if kind == "test" and _TEST_ID.fullmatch(piece):
        yield from _of_test(topic, piece)
        return
    piece = piece.strip(".:").removesuffix("()").lstrip("$")
    if not _WHOLE.fullmatch(piece):
        return
    parts = tuple(JOINT.split(piece))
    if piece.isdecimal():
        if kind == "number" and len(piece) > 2:
            yield Key(topic=topic, kind=kind, said=said, text=piece, parts=parts, distinct=False)
        return
    if kind == "number":
        kind = "name"
    yield Key(topic=topic, kind=kind, said=said, text=piece, parts=parts, distinct=_distinct(parts, kind))


def _of_test(topic: str, piece: str) -> Iterator[Key]:
    parts = tuple(test_parts(piece.partition("[")[0]))
    for at in range(len(parts)):
        tail = parts[at:]
        if at and (len(tail) == 1 and not is_name(tail[0], 8)):
            return
        distinct = len(tail) > 1 or is_name(tail[0], 4)
        yield Key(topic=topic, kind="test", said="test", text=piece, parts=tail, distinct=distinct, short=at > 0)


def test_parts(text: str) -> list[str]:
    """Folders, file, classes and name of a test id."""
    joints = r"::|[/#]" if "/" in text or "::" in text else r"[.#]"
    return [part for part in re.split(joints, text) if part not in {"", "."}]


def path_shape(path: str) -> str:
    """A URL path with its variable segments (`{id}`, `:id`, `42`) written as `*` and without a slash at its end.

    A path in which nothing is variable stays as it is, and so does its version (`/v1`).
    """
    segments = path.rstrip("/").split("/")
    return "/".join("*" if _PLACEHOLDER.fullmatch(segment) else segment for segment in segments) or "/"


def is_name(word: str, least: int = 4) -> bool:
    """Whether a word is a name rather than a word of a language: by underscore, digit, or capitals within."""
    if len(word) < least or word.lower() in COMMON or word.isdecimal():
        return False
    if "_" in word.strip("_") or (any(map(str.isdigit, word)) and any(map(str.isalpha, word))):
        return True
    if word.isupper():
        return True
    return re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]", word) is not None or ("-" in word and len(word) > 7)


def _distinct(parts: tuple[str, ...], kind: Kind) -> bool:
    if len(parts) > 1:
        return True
    return is_name(parts[0], 3 if kind == "name" and any(map(str.isdigit, parts[0])) else 4)


def _has_own_sense(key: Key) -> bool:
    """Whether there are calls in which a plain word can be seen to mean this."""
    if key.kind in {"number", "table", "column", "variable", "program"}:
        return True
    return key.kind in {"symbol", "name"} and len(key.text) > 3 and key.text.lower() not in COMMON


def _is_file(piece: str, extensions: Iterable[str]) -> bool:
    base, dot, ending = piece.partition(":")[0].rpartition(".")
    return bool(dot and base) and (ending.lower() in FILE_ENDINGS or ending.casefold() in extensions)
