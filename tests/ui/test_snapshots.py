"""A few whole pictures, to notice what no other test looks at; `--snapshot-update` renews them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.ui.make_pictures import PICTURES, Picture, example_app

CHOSEN = ("dashboard", "dashboard-80x24", "dashboard-60x20", "dashboard-light", "receipt", "inbox", "no-server")


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLUMNS", "LINES", "TERM", "COLORTERM", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "wanted", [picture for picture in PICTURES if picture.name in CHOSEN], ids=lambda picture: picture.name
)
def test_picture(wanted: Picture, snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(example_app(wanted), terminal_size=wanted.size, press=wanted.keys)
