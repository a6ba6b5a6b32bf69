"""Which tables and columns an SQL text names: the tables are told by the words before them, not by their spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.ledger.keynames import CHAIN, JOINT, words

MOST_TABLES: Final = 8
"""Tables of one statement that its columns are looked up with."""

_STATEMENT = re.compile(
    r"\b(?:insert\s+into|delete\s+from|(?:alter|create|drop|truncate|describe|lock)\s+(?:table|view|index|unique))\b",
    re.IGNORECASE,
)
_HALVES = (
    (re.compile(r"\bselect\b", re.IGNORECASE), re.compile(r"\bfrom\b", re.IGNORECASE)),
    (re.compile(r"\bupdate\b", re.IGNORECASE), re.compile(r"\bset\b", re.IGNORECASE)),
)
"""Words of a statement that stand apart."""
_CLAUSE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+\w")
_TABLES = re.compile(
    r"(?:\b(?:from|join|into|update|table|describe|desc|references|analyze|truncate|view|copy|exists|only)"
    r"|(?<!\S)(?:\\[a-z]+\+?|\.(?:schema|dump|indexes|indices|import\s+\S+)|--table|-t)|--tables?(?==)"
    rf"|\bdb(?=\.))(?:\s+|=|\.)({CHAIN}(?:\s*,\s*{CHAIN})*)",
    re.IGNORECASE,
)
_INDEXED = re.compile(rf"\bon\s+({CHAIN})\s*\(", re.IGNORECASE)
_QUOTED_TABLE = re.compile(r"(\btable_name\s*=\s*|\btable_info\(\s*|regclass\(\s*|_size\(\s*)'([^']*)'", re.IGNORECASE)
_IMPORT = re.compile(r"\s{0,8}import\s")
_STRING = re.compile(r"'(?:[^']|'')*+'")
_CHAIN = re.compile(CHAIN)
_NO_TABLE = words("select set where values if import exists only table lateral unnest")


class Statement:
    """One statement: its tables and its other names, all in lower case."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()
        self.tables: dict[str, None] = {}
        """Tables, with and without what stands before their name (`public.users`, `users`)."""
        self.columns: dict[str, None] = {}
        """Names with at most one qualifier; it tells the table or an alias of it."""
        for found in (*_TABLES.finditer(self.text), *_INDEXED.finditer(self.text)):
            if found[1] not in _NO_TABLE and not _IMPORT.match(self.text, found.end()):
                for name in _CHAIN.findall(found[1]):
                    self._table(JOINT.split(name))
        self._aliases: set[tuple[str, str]] = set()
        before, end = ["", ""], 0
        for found in _CHAIN.finditer(self.text):
            parts = JOINT.split(found[0])
            self.columns[".".join(parts[-2:])] = None
            if not self.text[end : found.start()].isspace():
                before = ["", ""]
            self._aliases.add((before[0] if before[1] == "as" else before[1], found[0]))
            before, end = [before[1], found[0]], found.end()

    def _table(self, parts: list[str]) -> None:
        for at in range(len(parts)):
            self.tables[".".join(parts[at:])] = None

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Every table with every column that may be its own."""
        for table in list(self.tables)[:MOST_TABLES]:
            for column in self.columns:
                qualifier, dot, name = column.rpartition(".")
                if not dot or qualifier == table or (table, qualifier) in self._aliases:
                    yield table, name


def statements(text: str, *, whole: bool) -> list[Statement]:
    """The statements in a text.

    Args:
        text: SQL, or a program or pattern with SQL in it.
        whole: it is SQL and nothing else, so what stands in single quotes is a value.
    """
    if not whole and not _is_sql(text):
        return []
    text = _QUOTED_TABLE.sub(r"\1 from \2 ", text)
    if whole:
        text = _STRING.sub(" ", text)
    return [Statement(part) for part in re.sub(r"[\"`\[\]]", "", text).split(";") if part.strip()]


def _is_sql(text: str) -> bool:
    if _STATEMENT.search(text) or _CLAUSE.search(text):
        return True
    return any((begin := first.search(text)) and second.search(text, begin.end()) for first, second in _HALVES)
