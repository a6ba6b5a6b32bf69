from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_tui.actions import PANES
from ledger_tui.widgets.plan import Plan, mode_of, plan


def planned(width: int, height: int, **fields: object) -> Plan:
    whole = {"active": "steps", "other": "findings", "zoomed": False, "banner": False, "session": True} | fields
    return plan(width, height, **whole)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "mode"),
    [((120, 40), "full"), ((100, 30), "full"), ((120, 26), "side"), ((80, 24), "stack"), ((99, 50), "stack"),
     ((60, 20), "single"), ((79, 40), "single"), ((59, 20), "small"), ((60, 19), "small")],
)  # fmt: skip
def test_modes(size: tuple[int, int], mode: str) -> None:
    assert mode_of(*size) == mode


def test_what_is_seen_at_the_promised_sizes() -> None:
    assert set(PANES) <= set(planned(120, 40).regions)
    small = planned(80, 24).regions
    assert {"steps", "findings", "gauges", "status", "hints"} == set(small)
    assert set(planned(60, 20, active="log").regions) == {"status", "log", "hints"}
    assert set(planned(40, 10).regions) == {"welcome"}
    assert set(planned(120, 40, session=False).regions) == {"status", "hints", "welcome"}
    assert set(planned(120, 40, zoomed=True, active="meters").regions) == {"status", "hints", "meters"}


@given(
    st.integers(60, 300),
    st.integers(20, 120),
    st.sampled_from(PANES),
    st.sampled_from(PANES[1:]),
    st.booleans(),
    st.booleans(),
)
def test_regions_cover_the_screen_once(
    width: int, height: int, active: str, other: str, zoomed: bool, banner: bool
) -> None:
    regions = list(planned(width, height, active=active, other=other, zoomed=zoomed, banner=banner).regions.values())
    assert sum(region.area for region in regions) == width * height
    for index, region in enumerate(regions):
        assert all(not region.overlaps(later) for later in regions[index + 1 :])
        assert region.right <= width and region.bottom <= height
