"""Bodies of rows."""

from __future__ import annotations

import pytest

from core.ledger.finding import Event, Finding
from core.store.bodies import UnknownBody, decode, encode

FINDING = Finding(id="f1", seq=1, fact="ünï\n\x00", topic="t", established_at=1, history=(Event(1, "x"),))


def test_what_goes_in_comes_out() -> None:
    assert decode(encode(FINDING), Finding) == FINDING
    assert decode(encode((b"\x00\xff", b"")), tuple[bytes, ...]) == (b"\x00\xff", b"")


def test_lone_surrogates_are_replaced() -> None:
    odd = Finding(id="f1", seq=1, fact="a\ud800b", topic="t", established_at=1)
    assert decode(encode(odd), Finding).fact == "a?b"


@pytest.mark.parametrize("body", [b"", b"\x00", b"\x02\x80", b"\x01", b"\x01\x80", b"\x01\xc1", encode(FINDING)[:-3]])
def test_other_versions_and_damage_are_told(body: bytes) -> None:
    with pytest.raises(UnknownBody):
        decode(body, Finding)
