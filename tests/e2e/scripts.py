"""Scripts for the model server: what the model answers, decided from the request alone wherever possible.

A *plan* is a list of turns. The user's prompt (or the sub-agent's) names it by a marker such as `[probes]`; which turn
is due follows from the number of assistant messages since that prompt, so the script itself needs no memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.e2e.chat import ChatRequest, Turn, ask, bash, read, run, say, task, write

Script = Callable[[ChatRequest], Turn]
Plan = Sequence[Turn]


def findings(*pairs: tuple[str, str]) -> Turn:
    """An extraction answer: (fact, topic) pairs as the JSON array the ledger asks for."""
    return say(json.dumps([{"fact": fact, "topic": topic} for fact, topic in pairs], indent=1))


NOTHING = say("[]")


@dataclass(frozen=True)
class Fact:
    """A fact the model can see: it is told once `needle` is in the outputs, unless the request lists it as known."""

    fact: str
    topic: str
    needle: str


def distil(facts: Sequence[Fact]) -> Script:
    """An extraction model that reads: its answer holds the facts the request gives evidence for."""

    def answer(request: ChatRequest) -> Turn:
        asked = request.users[-1]
        seen = [f for f in facts if f.needle in asked and f.fact not in asked]
        return findings(*((f.fact, f.topic) for f in seen))

    return answer


OVERFLOW = "prompt is too long: 210000 tokens > 200000 maximum"
"""OpenCode takes this for a full context: it compacts and asks again, without end while the error stays."""


@dataclass
class Plans:
    """A script made of plans.

    Attributes:
        plans: marker -> turns. The last user message with a marker decides; past the end the model says "Done.".
        extractions: answers to extraction requests, in order, of which the last one is repeated; or what makes them.
        counted: markers of plans whose turn is the number of requests so far, because a compaction in the
            middle of them rewrites the history.
    """

    plans: Mapping[str, Plan]
    extractions: Sequence[Turn] | Script = (NOTHING,)
    title: str = "Probe model.ckpt"
    summary: str = "## Summary\nThe weights file was probed with several tools; it has no header."
    counted: frozenset[str] = frozenset()
    _asked: dict[str, int] = field(default_factory=dict)
    _current: str = ""

    def __call__(self, request: ChatRequest) -> Turn:
        """The answer that is due."""
        if request.kind == "title":
            return say(self.title)
        if request.kind == "summary":
            return say(self.summary)
        if request.kind == "extraction":
            return self._extraction(request)
        marker = self._marker(request)
        turn = self._next(marker) if marker in self.counted else request.turn
        plan = self.plans.get(marker, ())
        return plan[turn] if turn < len(plan) else say("Done.")

    def _extraction(self, request: ChatRequest) -> Turn:
        if callable(self.extractions):
            return self.extractions(request)
        return self.extractions[min(self._next("extraction"), len(self.extractions) - 1)]

    def _marker(self, request: ChatRequest) -> str:
        for text in reversed(request.users):
            for marker in self.plans:
                if marker in text:
                    self._current = marker
                    return marker
        return self._current

    def _next(self, key: str) -> int:
        turn = self._asked.get(key, 0)
        self._asked[key] = turn + 1
        return turn


def probe_commands(name: str = "model.ckpt") -> list[tuple[str, str]]:
    """20 ways to look at one binary file, as (command, description)."""
    peek = f"python3 -c \"import struct; d = open('{name}', 'rb').read(); print({{}})\""
    return [
        (f"stat -c '%s bytes, mode %a' {name}", "Size of the checkpoint"),
        (f"xxd {name} | head -4", "First bytes of the checkpoint"),
        (f"od -A d -t f4 -N 32 {name}", "First floats of the checkpoint"),
        (f"head -c 16 {name} | od -c", "Look for a magic number"),
        (peek.format("struct.unpack('<4f', d[:16])"), "Decode as little-endian"),
        (peek.format("struct.unpack('>4f', d[:16])"), "Decode as big-endian"),
        (peek.format("len(d) // 4, len(d) % 4"), "Count the floats"),
        (f"xxd -s 256 -l 64 {name}", "Bytes at offset 256"),
        (f"tail -c 16 {name} | xxd", "Last bytes of the checkpoint"),
        (f"wc -c < {name}", "Count the bytes"),
        (f"cksum {name}", "Checksum of the checkpoint"),
        (peek.format("min(struct.unpack('<64f', d[:256]))"), "Smallest weight"),
        (peek.format("max(struct.unpack('<64f', d[:256]))"), "Largest weight"),
        (f"od -A x -t x4 -N 32 {name}", "Words in hexadecimal"),
        (f"grep -c PK {name} || true", "Look for a zip archive"),
        (f"strings -n 6 {name} | head -3", "Look for text"),
        (f"xxd -e -g 4 {name} | head -2", "Little-endian words"),
        (peek.format("sum(b == 0 for b in d)"), "Count zero bytes"),
        (f"ls -l {name} | cut -c1-10", "File mode"),
        (f"od -A d -t f4 -j 512 -N 32 {name}", "Floats in the middle"),
    ]


SUBAGENT_PLAN: Plan = (
    run(bash("wc -l vocab.bpe", "Count the merges")),
    run(bash("head -2 vocab.bpe", "First merges"), bash("cat config.json", "Read the configuration")),
    say("vocab.bpe has 12 lines; config.json says n_embd 32."),
)
SUBAGENT_TASK = task("[vocab] Look at vocab.bpe and config.json and report their layout.", "Look at the vocabulary")


def probes() -> Plans:
    """20 probes of model.ckpt, one a step, with a sub-agent after the seventh."""
    turns = [
        run(bash(command, description), text="Next probe.", delay=0.05) for command, description in probe_commands()
    ]
    turns.insert(7, run(SUBAGENT_TASK))
    turns.append(say("model.ckpt holds raw little-endian float32 weights without a header.", reasoning="Enough seen."))
    facts = [
        findings(
            ("the first float of model.ckpt is -0.78125", "file-format:model.ckpt"),
            ("model.ckpt is 4096 bytes long", "file-format:model.ckpt"),
        ),
        findings(("vocab.bpe has 12 lines", "tokenizer:vocab.bpe")),
        findings(("config.json sets n_embd to 32", "config:config.json"), ("vocab.bpe has 12 lines", "tokenizer")),
        NOTHING,
    ]
    return Plans({"[probes]": turns, "[vocab]": SUBAGENT_PLAN}, facts)


def parallel() -> Plans:
    """Several calls in one answer, twice, of different tools and lengths."""
    first = [bash(f"sleep 0.{i}; xxd -s {i * 16} -l 16 model.ckpt", f"Slice {i}") for i in range(4)]
    second = [read("config.json"), bash("cat vocab.bpe", "Read the merges"), write("notes.txt", "seen\n")]
    return Plans({"[parallel]": [run(*first, reasoning="All at once."), run(*second), say("Four slices read.")]})


QUESTION = ask(
    {
        "header": "Database",
        "question": "Which database should the importer write to?",
        "options": [
            {"label": "SQLite", "description": "one file"},
            {"label": "Postgres", "description": "a server"},
        ],
    },
    {
        "header": "Extras",
        "question": "Which extras?",
        "multiple": True,
        "options": [{"label": "Tests", "description": "of all rows"}, {"label": "Docs", "description": "a page"}],
    },
)
"""Two questions to the user, the second with several answers."""


def plain() -> Plans:
    """Short work for tests of the session's own life: `[one]` is one probe, `[slow]` a long one, `[many]` five."""
    many = [run(bash(command, description)) for command, description in probe_commands()[:5]]
    return Plans(
        {
            "[one]": [run(bash("stat -c %s model.ckpt", "Size of the checkpoint")), say("4096 bytes.")],
            "[two]": [run(bash("xxd -l 16 model.ckpt", "First bytes")), say("No magic number.")],
            "[slow]": [run(bash("echo begin; sleep 30; echo end", "Wait")), say("Waited.")],
            "[many]": [*many, say("Five probes made.")],
            "[fail]": [run(read("missing.bin"), bash("cat missing.bin", "Read it")), say("It is not there.")],
            "[outside]": [run(bash("cat /etc/hostname", "Read outside")), say("Read.")],
            "[error]": [Turn(status=400, error="this model does not take images")],
            "[overflow]": [Turn(status=400, error=OVERFLOW, failures=1, text="Fits now.")],
            "[flaky]": [Turn(status=503, error="overloaded", failures=2, text="Here again.")],
            "[drop]": [Turn(text="This answer is cut off in the middle. " * 5, drop=True)],
            "[ask]": [run(QUESTION), say("Thank you.")],
            "[askagent]": [run(task("[ask] Let the user decide.", "Ask the user")), say("The sub-agent asked.")],
            "[vocab]": SUBAGENT_PLAN,
            "[agent]": [run(SUBAGENT_TASK), say("The sub-agent answered.")],
            "[think]": [Turn(text="Thought about it.", reasoning="A long chain of thought. " * 20)],
        },
        extractions=(findings(("model.ckpt is 4096 bytes long", "file-format:model.ckpt")),),
    )


SCRIPTS: dict[str, Callable[[], Script]] = {"probes": probes, "parallel": parallel, "plain": plain}
