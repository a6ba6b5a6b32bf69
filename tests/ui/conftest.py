"""For the tests of the dashboard."""

from __future__ import annotations

import pytest

from ledger_tui.screens import request


@pytest.fixture(autouse=True)
def quick_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests press keys without reading what a window says first; one of them sets the time for that itself."""
    monkeypatch.setattr(request, "SETTLE_SECONDS", 0.0)
