"""Fixtures of the checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from .stage import Stage


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A made-up machine; the user's own configuration is out of reach."""
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Stage(tmp_path)
