"""Run in a pseudo-terminal by test_hostile.py: the dashboard over hostile data, every screen opened once.

Usage: hostile_child.py ROOT; ROOT is the folder that holds `ledger_tui` and `tests`.
"""

from __future__ import annotations

import sys

sys.path.insert(0, sys.argv[1])

import msgspec

from tests.ui.example import live_server, session_items
from tests.ui.fake_host import FakeHost
from tests.ui.hostile import HOSTILE, hostile
from tests.ui.stage import make_app


def main() -> None:
    server = live_server(detail=HOSTILE, version=HOSTILE, url="http://" + HOSTILE, delivery_detail=HOSTILE)
    host = FakeHost(hostile(), server)
    host.refuse = HOSTILE
    host.items = [msgspec.structs.replace(item, title=HOSTILE) for item in session_items()]
    make_app(host).run()


main()
