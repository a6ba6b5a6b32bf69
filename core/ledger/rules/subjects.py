"""Which single file a command's output is about."""

from __future__ import annotations

from core.ledger.rules.options import options_of
from core.ledger.rules.shown import UNKNOWN, Shown

_FOLDERS = frozenset({".", "..", "-", "~"})


def is_file_name(text: str) -> bool:
    """Whether an argument names one file that is known by it."""
    return bool(text) and not text.startswith((UNKNOWN, "/dev/fd/", "/proc/self/fd/")) and text not in _FOLDERS


def piped_file(shown: Shown, *, heads: bool = False) -> str:
    """The file that the command reads through `<` or from `cat file |`; empty when it is none or more than one.

    Args:
        shown: the command.
        heads: the first bytes of a file (`head -c 16 file |`) do as well.
    """
    if shown.stdin:
        return shown.stdin if not shown.source and is_file_name(shown.stdin) else ""
    if shown.source[:1] == ("cat",):
        given = options_of(shown.source[1:])
    elif heads and shown.source[:1] == ("head",):
        given = options_of(shown.source[1:], ("-c", "-n", "--bytes", "--lines"))
        if not given.value("-c", "--bytes").isdigit():
            return ""
    else:
        return ""
    unclear = given.flags or len(given.operands) != 1 or "$" in given.operands[0] or "*" in given.operands[0]
    return given.operands[0] if not unclear and is_file_name(given.operands[0]) else ""


def own_file(shown: Shown, operands: tuple[str, ...], *, heads: bool = False) -> str:
    """The one file the command was given as an argument or through a pipe; empty when it is none or more."""
    if shown.fed:
        return ""
    if not operands or operands == ("-",):
        return piped_file(shown, heads=heads)
    return operands[0] if len(operands) == 1 and is_file_name(operands[0]) else ""
