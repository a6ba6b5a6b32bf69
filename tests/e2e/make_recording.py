"""Makes the demo's recording anew: `python -m tests.e2e.make_recording` (about three minutes).

A real OpenCode with the scripted model plays :mod:`tests.e2e.story`. What its `/event` stream said goes to
`core/demo/recording.jsonl.gz`, one event a line; then the ledger's own extraction prompts, made from that stream, are
put to the same model through the same OpenCode, and its answers go to `core/demo/answers.jsonl`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from core.extraction.parse import parse_answer
from core.extraction.prompt import Prompt, build_prompt
from core.extraction.recorded import Answers
from core.ledger.effects import Extract
from core.ledger.observations import ExtractionAnswered, Observation
from core.opencode.recorded import RecordedFrames
from core.replaying import Replay
from core.settings import Settings
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import ROOT, OpenCode, commit_all, find_binary, provider_config
from tests.e2e.recorder import Recorder
from tests.e2e.story import PROMPT, make_shop, story

RECORDING = ROOT / "core" / "demo" / "recording.jsonl.gz"
ANSWERS = ROOT / "core" / "demo" / "answers.jsonl"
PLACE = "/home/dev/shop"
_NOISE = ("plugin.", "server.", "catalog.", "integration.", "reference.", "file.watcher.")


class Asking(Answers):
    """Stands in for recorded answers: puts each prompt to the live server, and keeps what it answers."""

    def __init__(self, server: OpenCode, settings: Settings) -> None:
        super().__init__((), settings)
        self.given: list[str] = []
        self._limits = settings
        self._server = server

    def _answer(self, job: Extract) -> Observation:
        limits = self._limits
        prompt = build_prompt(
            job.steps,
            job.known,
            output_chars=limits.extraction_output_chars,
            total_chars=limits.extraction_prompt_chars,
        )
        self.given.append(_ask(self._server, prompt))
        answer = parse_answer(self.given[-1])
        return ExtractionAnswered(t=job.t, session=job.session, id=job.id, items=answer.items, rejected=answer.rejected)


def _ask(server: OpenCode, prompt: Prompt) -> str:
    """The text the model answers in a session of its own, which is deleted afterwards."""
    place = {"directory": str(server.project)}
    with httpx.Client(base_url=server.url, params=place, timeout=60, trust_env=False) as client:
        session = client.post("/session", json={"title": "ledger-extraction"}).json()["id"]
        parts = [{"type": "text", "text": prompt.text}]
        body = {"parts": parts, "system": prompt.system, "agent": "general", "tools": {"*": False}}
        answered = client.post(f"/session/{session}/message", json=body).json()
        client.delete(f"/session/{session}")
    return "".join(part["text"] for part in answered["parts"] if part["type"] == "text")


async def _play(server: OpenCode) -> list[dict[str, Any]]:
    """The events of the story, from the creation of its session to its end."""
    async with server.client() as client, Recorder(server) as recorder:
        session = (await client.post("/session", json={})).json()["id"]
        prompt = {"parts": [{"type": "text", "text": PROMPT}]}
        await client.post(f"/session/{session}/message", json=prompt, timeout=600)
        await recorder.until(lambda e: e["type"] == "session.idle" and e["properties"]["sessionID"] == session)
        await asyncio.sleep(1)
    return [event for _, event in recorder.events if not event["type"].startswith(_NOISE)]


def _written(events: Sequence[dict[str, Any]], server: OpenCode) -> bytes:
    """The events as lines that name nothing of this machine. Raises RuntimeError if something is left."""
    text = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
    text = text.replace(str(server.project), PLACE)
    left = [name for name in (str(server.base), str(ROOT), str(Path.home()), "127.0.0.1") if name in text]
    if left:
        raise RuntimeError(f"the recording still names {left}")
    return text.encode()


async def make() -> None:
    """Record, ask, and write both files."""
    with tempfile.TemporaryDirectory(prefix="recording-") as folder:
        base = Path(folder)
        make_shop(base / "shop")
        commit_all(base / "shop")
        async with (
            ModelServer(story()) as model,
            OpenCode(
                find_binary(), base, provider_config(model.url, names="scripted/probe-1"), project=base / "shop"
            ) as server,
        ):
            lines = _written(await _play(server), server)
            answers = await asyncio.to_thread(_answers, lines, server)
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.write_bytes(gzip.compress(lines, mtime=0))
    ANSWERS.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    print(f"{len(lines.splitlines())} events, {RECORDING.stat().st_size} bytes, {len(answers)} answers")


def _answers(lines: bytes, server: OpenCode) -> list[str]:
    settings = Settings()
    replay, asking = Replay(settings), Asking(server, settings)
    replay._answers = asking
    for _ in replay.run(RecordedFrames([lines], settings.max_frame_bytes)):
        pass
    return asking.given


if __name__ == "__main__":
    asyncio.run(make())
