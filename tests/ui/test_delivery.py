"""How notes get to the agent: the few words of the status line, and the sentences of the help."""

from __future__ import annotations

from typing import Any

from core.views import DeliveryView
from ledger_tui.rows.delivery import figure_lines, status_words
from tests.ui.example import example, live_server


def test_notes_in_flight_are_said_shortly_and_what_went_wrong_beside_them() -> None:
    def said(root: str = "ses_root", **notes: Any) -> list[tuple[str, str]]:
        server = live_server(delivery="hook", notes=DeliveryView(**notes))
        return status_words(server, example(root=root))

    assert said() == [("notes in flight", "muted")]
    assert said(p50_ms=1.42, p95_ms=9.0, in_flight=12) == [("notes in flight 1.4 ms", "muted")]
    wrong = said(p50_ms=1.42, late=2, failed=1, missed=3)
    assert wrong == [("notes in flight 1.4 ms", "muted"), (", 2 late, 1 failed, 3 missed", "waiting")]
    assert said("ses_bare", p50_ms=1.4, silent=("ses_bare",)) == [("notes by patch", "muted")]
    assert status_words(live_server(delivery="none"), example()) == []
    assert status_words(live_server(delivery="off"), example()) == [("notes off", "waiting")]


def test_all_figures_of_the_delivery_are_sentences() -> None:
    def said(**server: Any) -> list[str]:
        return ["".join(text for text, _ in line) for line in figure_lines(live_server(**server), example())]

    assert said() == [
        "Notes go by patch; none went yet.",
        "The plugin in OpenCode has not asked yet.",
    ]
    notes = DeliveryView(
        in_flight=12, patched=3, late=2, failed=1, unknown=1, questions=1_204, missed=1, p50_ms=1.42, p95_ms=3.07
    )
    assert said(delivery="hook", notes=notes) == [
        "Notes go in flight: 12 in flight, 3 by patch in time, 2 late by one request, 1 failed, 1 arrival unknown.",
        "The plugin in OpenCode asked about 1,204 calls; round trip p50 1.4 ms, p95 3.1 ms;"
        " 1 answer did not come by the deadline.",
    ]
    assert said(delivery="off") == said(delivery="none") == said(replay=True) == []
    assert figure_lines(live_server(), None) == []
