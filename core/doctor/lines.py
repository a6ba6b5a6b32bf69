"""What a check says."""

from __future__ import annotations

from typing import Literal

import msgspec

Status = Literal["ok", "warn", "fail"]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line.

    Attributes:
        check: what was looked at.
        status: ok; warn: the ledger works, but something is missing; fail: something cannot work.
        text: what was found.
        fix: what to do; empty when there is nothing to do.
    """

    check: str
    status: Status
    text: str
    fix: str = ""


def ok(check: str, text: str, fix: str = "") -> Line:
    """All is well."""
    return Line(check=check, status="ok", text=text, fix=fix)


def warn(check: str, text: str, fix: str = "") -> Line:
    """It works, but not as well as it could."""
    return Line(check=check, status="warn", text=text, fix=fix)


def fail(check: str, text: str, fix: str = "") -> Line:
    """Something cannot work."""
    return Line(check=check, status="fail", text=text, fix=fix)
