"""From stream bytes to the engine, beside bare `json.loads` of the same bytes; and one event of 57 MB."""

from __future__ import annotations

import json
import tracemalloc
from itertools import islice

from core.host.desk import Desk
from core.ledger.state import EngineSettings
from core.opencode.assemble import Assembler
from core.opencode.sse import Splitter
from core.opencode.wire import EventDecoder
from tests.bench import figures
from tests.bench.load import Stream

EVENTS = 60_000
CHUNK = 64 * 1024
LIMIT = 64 << 20
BIG = 57 << 20


def through(chunks: list[bytes]) -> int:
    """Split, decode, assemble, and let the engines know; returns the completed steps."""
    splitter, decoder, assembler = Splitter(LIMIT), EventDecoder(), Assembler()
    settings = EngineSettings(extraction_interval_steps=10**9, max_buffered_steps=200)
    desks: dict[str, Desk] = {}
    for chunk in chunks:
        for frame in splitter.feed(chunk):
            event = decoder.decode(frame)
            if event is None or event.data is None:
                continue
            for root, told in assembler.feed(event, 1):
                desk = desks.get(root) or desks.setdefault(root, Desk(root, settings))
                desk.observe(told)
    return sum(desk.engine.state.completed for desk in desks.values())


def chunked(data: bytes) -> list[bytes]:
    """`data` as the network might bring it."""
    return [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]


def main() -> None:
    """Print the figures."""
    frames = [json.dumps(event, separators=(",", ":")).encode() for event in islice(Stream().events(), EVENTS)]
    chunks = chunked(b"".join(b"data: " + frame + b"\n\n" for frame in frames))
    size = sum(map(len, chunks)) / 1e6
    figures.section(f"Stream, {EVENTS:,} events of the ordinary mix, {size:.0f} MB (CPU time, best of 3)")
    if not through(chunks):
        raise AssertionError("no step was completed")
    bare = figures.best(lambda: [json.loads(frame) for frame in frames])
    ours = figures.best(lambda: through(chunks))
    figures.line("bytes → typed events → engine", f"{EVENTS / ours:,.0f} /s", f"{bare / ours:.2f} × bare json.loads")
    figures.line("json.loads of the same frames", f"{EVENTS / bare:,.0f} /s")
    big_event()


def big_event() -> None:
    """One `message.updated` whose diffs make it 57 MB."""
    diff = {"file": "recording.log", "before": "", "after": "x" * (BIG - 1000)}
    info = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}, "summary": {"diffs": [diff]}}
    event = {"id": "evt_1", "type": "message.updated", "properties": {"sessionID": "ses_1", "info": info}}
    frame = json.dumps(event).encode()
    chunks = chunked(b"data: " + frame + b"\n\n")
    figures.section(f"One event of {len(frame) >> 20} MB in chunks of {CHUNK >> 10} KiB (CPU time, best of 3)")
    bare = figures.best(lambda: json.loads(frame))
    ours = figures.best(lambda: through(chunks))
    tracemalloc.start()
    through(chunks)
    peak = tracemalloc.get_traced_memory()[1] / len(frame)
    tracemalloc.stop()
    figures.line("bytes → typed event", f"{ours * 1000:.0f} ms", f"json.loads alone {bare * 1000:.0f} ms")
    figures.line("memory at its peak, beside the chunks themselves", f"{peak:.1f} × event")


if __name__ == "__main__":
    main()
