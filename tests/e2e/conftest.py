"""Fixtures of the end-to-end tests: the real OpenCode binary, and folders for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.opencode import NoOpenCode, find_binary

_HERE = Path(__file__).parent
_not_run: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder that asks for the binary runs the real OpenCode."""
    for item in items:
        if _HERE in item.path.parents and "binary" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One loud line when the end-to-end tests could not run."""
    for reason in _not_run:
        terminalreporter.write_line(f"!!! END-TO-END TESTS WERE NOT RUN: {reason}", red=True, bold=True)


@pytest.fixture(scope="session")
def binary() -> Path:
    """The OpenCode binary. Without one the tests are skipped; with CI=true that is a failure."""
    try:
        return find_binary()
    except NoOpenCode as error:
        _not_run.append(str(error))
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(f"no OpenCode to test against: {error}", pytrace=False)
        pytest.skip(f"no OpenCode to test against: {error}")
