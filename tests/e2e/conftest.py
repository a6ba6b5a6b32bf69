"""Fixtures of the end-to-end tests: the real OpenCode binary, and folders for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.opencode import NoOpenCode, find_binary

_HERE = Path(__file__).parent
_NOTHING = "no OpenCode to test against: "


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder that asks for the binary runs the real OpenCode."""
    for item in items:
        if _HERE in item.path.parents and "binary" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One loud line when the end-to-end tests could not run, in whichever process they were to."""
    reports = [report for outcome in ("skipped", "error") for report in terminalreporter.stats.get(outcome, ())]
    said = [report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr) for report in reports]
    for reason in sorted({text.partition(_NOTHING)[2] for text in said if _NOTHING in text}):
        terminalreporter.write_line(f"!!! END-TO-END TESTS WERE NOT RUN: {reason}", red=True, bold=True)


@pytest.fixture(scope="session")
def binary() -> Path:
    """The OpenCode binary. Without one the tests are skipped; with CI=true that is a failure."""
    try:
        return find_binary()
    except NoOpenCode as error:
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(f"{_NOTHING}{error}", pytrace=False)
        pytest.skip(f"{_NOTHING}{error}")


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runtime folder of shim and ledger: below TMPDIR, as where there is no folder of the system's."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / f"ledger-tui-{os.getuid()}"
