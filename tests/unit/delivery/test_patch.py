"""Appending a note to a part."""

from __future__ import annotations

from typing import Any

from core.delivery.patch import PatchDelivery
from core.delivery.receipts import Outcome
from core.errors import Unreachable
from tests.unit.delivery.test_receipts import NOTE


class Server:
    def __init__(self, part: dict[str, Any], fail: bool = False) -> None:
        self.part, self.fail, self.patches = part, fail, list[dict[str, Any]]()

    async def raw_part(self, session: str, message: str, part: str) -> dict[str, Any]:
        return self.part

    async def patch_part(self, session: str, message: str, part: str, body: dict[str, Any]) -> None:
        if self.fail:
            raise Unreachable("The server at 127.0.0.1 does not answer", "Start it")
        self.patches.append(body)


def part(**state: Any) -> dict[str, Any]:
    return {"id": "prt_1", "type": "tool", "extra": 1, "state": {"status": "completed", "output": "out", **state}}


async def send(server: Server, times: int = 1) -> tuple[list[Outcome], list[str]]:
    outcomes: list[Outcome] = []
    warnings: list[str] = []
    delivery = PatchDelivery(server, outcomes.append, lambda code, text: warnings.append(text))
    for _ in range(times):
        await delivery.send(NOTE)
    return outcomes, warnings


async def test_the_whole_part_goes_back_with_the_note_at_the_end() -> None:
    server = Server(part(title="t"))
    await send(server)
    assert server.patches == [{**part(title="t"), "state": {"status": "completed", "title": "t", "output": "out…"}}]


async def test_never_twice() -> None:
    server = Server(part())
    outcomes, _ = await send(server, 2)
    assert len(server.patches) == 1
    assert [outcome.arrived for outcome in outcomes] == ["failed"]


async def test_only_finished_calls() -> None:
    for body in ({"type": "text"}, part(status="running"), part(status="error"), part(output=None)):
        server = Server(body)
        outcomes, warnings = await send(server)
        assert not server.patches and len(warnings) == 1
        assert [outcome.arrived for outcome in outcomes] == ["failed"]


async def test_a_part_that_carries_a_note_is_left_alone() -> None:
    server = Server(part(output="x\n\n<ledger-note>\nold\n</ledger-note>"))
    await send(server)
    assert not server.patches


async def test_a_refusal_is_an_outcome_and_a_warning() -> None:
    outcomes, warnings = await send(Server(part(), fail=True))
    assert [outcome.arrived for outcome in outcomes] == ["failed"]
    assert "127.0.0.1" in warnings[0]
