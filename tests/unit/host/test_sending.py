"""Places that are freed exactly once, however an answer ends."""

from __future__ import annotations

import pytest

from core.host.sending import PIECE_BYTES, SEND_SECONDS, Places, Sent
from core.loopback.messages import Refusal


def test_a_place_is_free_again_after_the_answer_and_only_once() -> None:
    places = Places(1)
    with places.taken() as free:
        pass
    with pytest.raises(Refusal) as refused, places.taken():
        pass
    assert refused.value.status == 429
    free()
    free()
    with places.taken():
        pass
    with pytest.raises(Refusal), places.taken():
        pass


def test_a_failure_frees_the_place() -> None:
    places = Places(1)
    with pytest.raises(KeyError), places.taken():
        raise KeyError
    with places.taken():
        pass


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
async def test_a_body_comes_in_pieces(size: int) -> None:
    body, ends = bytes(range(256)) * (size // 256) + b"x" * (size % 256), []
    sent = Sent(body, lambda: ends.append("end"))
    pieces = [piece async for piece in sent]
    assert b"".join(pieces) == body
    assert all(len(piece) <= PIECE_BYTES for piece in pieces)
    await sent.aclose()
    assert ends == ["end"]


async def test_who_reads_too_slowly_is_cut_off() -> None:
    now = 0.0
    sent = Sent(b"x" * (2 * PIECE_BYTES), lambda: None, clock=lambda: now)
    now = SEND_SECONDS
    assert len(await anext(sent)) == PIECE_BYTES
    now += 0.1
    with pytest.raises(TimeoutError):
        await anext(sent)
