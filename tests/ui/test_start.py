"""What the first paint costs, and what the dashboard must never import."""

from __future__ import annotations

import subprocess
import sys

import pytest

LATE = (
    *("httpx", "sqlite3", "watchfiles", "h11", "textual.widgets._text_area", "textual.widgets._markdown"),
    *(f"ledger_tui.screens.{name}" for name in ("form", "palette", "picker", "help", "reading", "ask", "history")),
    *("core.history", "ledger_tui.rows.history"),
)
"""Not needed for the first paint."""


@pytest.mark.parametrize("module", ["ledger_tui.app", "ledger_tui.screens.dashboard"])
def test_only_what_the_first_paint_needs_is_imported(module: str) -> None:
    code = f"import sys, {module}; print(' '.join(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(LATE) & set(done.stdout.split())


def test_no_screen_speaks_http_or_sql() -> None:
    code = (
        "import sys, pkgutil, importlib, ledger_tui.screens, ledger_tui.widgets, ledger_tui.rows\n"
        "for package in (ledger_tui.screens, ledger_tui.widgets, ledger_tui.rows):\n"
        "    for found in pkgutil.iter_modules(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
        "import ledger_tui.app, ledger_tui.clipboard\n"
        "print(' '.join({'httpx', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_rows_know_nothing_of_textual() -> None:
    code = (
        "import sys, pkgutil, importlib, ledger_tui.rows\n"
        "for found in pkgutil.iter_modules(ledger_tui.rows.__path__, 'ledger_tui.rows.'):\n"
        "    importlib.import_module(found.name)\n"
        "import ledger_tui.keys, ledger_tui.theme, ledger_tui.format, ledger_tui.marks, ledger_tui.feed\n"
        "print('textual' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
