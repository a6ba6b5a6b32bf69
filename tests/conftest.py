"""For all tests: nothing of the developer's own is read or written."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """State, configuration and runtime files go into a temporary folder, unless a test names another one."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("LEDGER_") and name != "LEDGER_OPENCODE_BIN"]:
            patch.delenv(name)
        patch.setenv("LEDGER_HOME", str(tmp_path_factory.mktemp("ledger")))
        yield


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with nothing stored."""
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path_factory.mktemp("home")))
