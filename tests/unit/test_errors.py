from __future__ import annotations

import inspect

import pytest

from core import errors
from core.errors import LedgerError


def test_text_is_one_line() -> None:
    error = LedgerError("cannot read\n/x: gone.", "Check\nit.")
    assert str(error) == "cannot read /x: gone. Check it."
    assert str(LedgerError("no hint")) == "no hint"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("LedgerError", 1),
        ("UsageError", 2),
        ("FileError", 1),
        ("ServerError", 3),
        ("Unreachable", 3),
        ("Refused", 3),
        ("NotFound", 3),
        ("WrongServer", 3),
    ],
)
def test_exit_codes(name: str, code: int) -> None:
    assert getattr(errors, name)("x").exit_code == code


def test_docstring_draws_the_whole_tree() -> None:
    tree = [name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, LedgerError)]
    assert [name for name in tree if name not in (errors.__doc__ or "")] == []
