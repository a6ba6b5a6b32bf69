"""The first bytes of a file in a hexadecimal dump."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.ledger.rules.options import Options, options_of
from core.ledger.rules.shown import Found, Shown, said, topic
from core.ledger.rules.subjects import own_file

_OFFSET: Final = re.compile(r"0+:?")
_HEX: Final = re.compile(r"(?:[0-9A-Fa-f]{2})+")
_MOST_BYTES: Final = 16
_FEWEST_BYTES: Final = 2
_SIGNATURE: Final = 8
"""Bytes in which a format's letters stand."""
_BYTE_LAYOUT: Final = re.compile(r"\s*\d*/1 \"%02[xX] ?\"(?:\s*\"\\n\")?\s*")
"""Layouts of `hexdump -e` that print nothing but bytes."""
_LETTERS: Final = re.compile(rb"[A-Za-z0-9]{3,}")
_XXD_VALUED: Final = ("-c", "-g", "-l", "-s", "-o", "-n", "-R")
_DUMP_VALUED: Final = ("-n", "-s", "-e", "-f")
_OD_VALUED: Final = ("-t", "-A", "-N", "-j", "-w", "-S")


def magic(shown: Shown) -> Iterator[Found]:
    """The bytes a file begins with, from xxd, hexdump or od, as they are printed."""
    if shown.program not in _READERS or shown.inside or shown.failed or not shown.passed_by("head", "grep", "tail"):
        return
    reader, valued = _READERS[shown.program]
    given = options_of(_separated(shown.args), valued)
    subject = own_file(shown, given.operands, heads=True)
    first = next((line for line in shown.short if line.text.strip()), None)
    if not subject or first is None:
        return
    groups, words = reader(given, first.text, first_kept="tail" not in shown.filters and "grep" not in shown.filters)
    groups = _clipped(groups)
    if sum(map(len, groups)) >= 2 * _FEWEST_BYTES:
        what = "16-bit words (as hexdump shows them)" if words else "bytes"
        spelled = "" if words else _spelled(groups, first.text)
        fact = f"{said(subject)} starts with the {what} {' '.join(groups)}{spelled}."
        yield Found(fact, topic("file-format", subject), (first.n,))


def _xxd(given: Options, text: str, *, first_kept: bool) -> tuple[list[str], bool]:
    if given.any("-s", "-b", "-i", "-e", "-r", "-o", "-E", "-v", "-h", "--seek", "--skip"):
        return [], False
    if given.any("-p"):
        return ([text.strip()] if first_kept and _HEX.fullmatch(text.strip()) else []), False
    offset, _, rest = text.partition(": ")
    if not _OFFSET.fullmatch(offset):
        return [], False
    return _hex_groups(rest.partition("  ")[0].split()), False


def _hexdump(given: Options, text: str, *, first_kept: bool) -> tuple[list[str], bool]:
    if _BYTE_LAYOUT.fullmatch(given.value("-e")) and first_kept and not given.any("-s", "-f"):
        return _hex_groups(text.split()), False
    if given.any("-s", "-e", "-f", "-b", "-c", "-d", "-o", "-h") or not first_kept:
        return [], False
    offset, *groups = text.partition("|")[0].split() or [""]
    if not _OFFSET.fullmatch(offset) or len(offset) < 7:
        return [], False
    canonical = given.any("-C", "--canonical")
    fits = all(len(group) == (2 if canonical else 4) for group in groups)
    return (_hex_groups(groups) if fits else []), not canonical


def _hd(given: Options, text: str, *, first_kept: bool) -> tuple[list[str], bool]:
    return _hexdump(Options(given.flags | {"-C"}, given.values, given.operands), text, first_kept=first_kept)


def _od(given: Options, text: str, *, first_kept: bool) -> tuple[list[str], bool]:
    if given.any("-j", "-S", "--skip-bytes") or not first_kept or not re.fullmatch(r"x1z?", given.value("-t")):
        return [], False
    groups = text.partition(">")[0].split()
    if given.value("-A") != "n":
        if not groups or not _OFFSET.fullmatch(groups[0]):
            return [], False
        groups = groups[1:]
    return _hex_groups([group for group in groups if len(group) == 2]), False


_READERS: Final = {
    "xxd": (_xxd, _XXD_VALUED),
    "hexdump": (_hexdump, _DUMP_VALUED),
    "hd": (_hd, _DUMP_VALUED),
    "od": (_od, _OD_VALUED),
}


def _spelled(groups: list[str], text: str) -> str:
    """The readable letters among the first bytes, where the dump shows them too."""
    letters = _LETTERS.search(bytes.fromhex("".join(groups))[:_SIGNATURE])
    word = letters[0].decode() if letters else ""
    return f' ("{word}")' if word and word in text else ""


def _separated(args: tuple[str, ...]) -> tuple[str, ...]:
    """xxd's long spellings with one dash, as the letters they stand for."""
    spelled = {
        "-ps": "-p",
        "-plain": "-p",
        "-postscript": "-p",
        "-len": "-l",
        "-seek": "-s",
        "-cols": "-c",
        "-bits": "-b",
    }
    return tuple(spelled.get(arg, arg) for arg in args)


def _hex_groups(groups: list[str]) -> list[str]:
    """The groups up to the first that is no hexadecimal number of whole bytes."""
    found = []
    for group in groups:
        if not _HEX.fullmatch(group):
            break
        found.append(group)
    return found


def _clipped(groups: list[str]) -> list[str]:
    """The groups of the first 16 bytes."""
    found: list[str] = []
    room = 2 * _MOST_BYTES
    for group in groups:
        found.append(group[:room])
        room -= len(group)
        if room <= 0:
            break
    return found
