"""Does with the real Cognee what its sink does in a run, and tells what the dataset holds then, as JSON on a line.

Run as a program: `python -m tests.e2e.cognee_child put=ses_a:TEXT drop=ses_b finish …`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from core.history.cognee_sink import CogneeSink
from core.history.sinks import Delivery


def main(deeds: list[str]) -> None:
    """Do the deeds in their order."""
    sink = CogneeSink()
    for deed in deeds:
        what, _, rest = deed.partition("=")
        session, _, note = rest.partition(":")
        if what == "put":
            sink.put(Delivery(session=session, note=note))
        elif what == "drop":
            sink.drop(session)
        else:
            sink.finish()
    held = {session: sink.holds(session) for session in ("ses_a", "ses_b", "ses_c")}
    told = {"held": held, "labels": sorted(sink._run(_labels(sink))), "chunks": sink._run(_chunks(sink))}
    sink.close()
    sys.stdout.write(f"\n{json.dumps(told)}\n")


async def _labels(sink: CogneeSink) -> list[str]:
    found = await sink._cognee.datasets.list_data(await sink._find())
    return [data.label for data in found]


async def _chunks(sink: CogneeSink) -> list[str]:
    """Texts of the chunks that a search finds, which come in one list a dataset."""
    found: Any = await sink._cognee.search(
        query_text="alpha", query_type=sink._cognee.SearchType.CHUNKS, datasets=[sink._dataset]
    )
    results = [result for of in found for result in of.get("search_result", [of])]
    return sorted(result["text"] for result in results)


if __name__ == "__main__":
    main(sys.argv[1:])
