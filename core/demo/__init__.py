"""The demo: a recorded session on a server of its own, for a look at the ledger without OpenCode, key or network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from core.demo.host import DemoHost
    from core.settings import Settings

RECORDING: Final = Path(__file__).with_name("recording.jsonl.gz")
ANSWERS: Final = Path(__file__).with_name("answers.jsonl")
"""What the extractions of that session were answered, one JSON string a line."""


def demo_host(settings: Settings, speed: float = 1.0) -> DemoHost:
    """A host for the dashboard that plays the recording at a multiple of its own speed.

    Settings that only make sense on the user's own server (agent and model of the extraction) are not used. The answers
    were recorded with the default interval; with another one they come at other times.

    Raises:
        FileError: the recording is missing or damaged.
    """
    from core.demo.host import DemoHost  # noqa: PLC0415 - the server is not needed by those who have one
    from core.demo.recording import load  # noqa: PLC0415
    from core.demo.server import ReplayServer  # noqa: PLC0415
    from core.extraction.recorded import decode_answers  # noqa: PLC0415

    answers = decode_answers(ANSWERS.read_text(encoding="utf-8"))
    server = ReplayServer(load(RECORDING), answers, speed)
    return DemoHost(server, settings.model_copy(update={"agent": "auto", "extraction_model": ""}))
