"""The demo's story: an agent finds out how an undocumented weights file is laid out, and then goes round in circles.

The weights hold, as raw little-endian float32 without a header: token embedding (64 x 16), position embedding
(32 x 16), two blocks of 3,280 values each, and the final layer norm. All commands really run; nothing of their output
is made up.
"""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

from tests.e2e.chat import Turn, bash, run, say, task, write
from tests.e2e.scripts import Fact, Plans, distil

PROMPT = "We inherited model.ckpt from the old recommender. Find out how to load it, and leave notes on its layout."

_CONFIG = {"n_vocab": 64, "n_ctx": 32, "n_embd": 16, "n_layer": 2, "n_head": 2}
_PAIRS = (
    "t h|i n|e r|o n|a n|r e|th e|in g|c o|e n|a t|o r|e s|i s|an d|"
    "a l|s h|st o|sh o|c e|r i|d e|m e|l y|u n|or d|er s|b a|p r|ic e"
)

LOADER = """\
import json, struct, sys
c = json.load(open("config.json"))
d = open("model.ckpt", "rb").read()
w = struct.unpack(f"<{len(d) // 4}f", d)
e = c["n_embd"]
block = 3280
if sys.argv[1] == "embedding":
    n = c["n_vocab"] * e
    print(f"wte: floats 0..{n - 1}, {c['n_vocab']} x {e}, mean {sum(w[:n]) / n:+.4f}")
    print(f"wpe: floats {n}..{n + c['n_ctx'] * e - 1}")
elif sys.argv[1] == "norms":
    ones = [i for i in range(0, len(w) - e, e) if set(w[i : i + e]) == {1.0}]
    print("rows of sixteen 1.0 at floats", ones)
elif sys.argv[1] == "blocks":
    print(f"block 0 at float 1536, block 1 at float {1536 + block}: stride {block} floats")
elif sys.argv[1] == "end":
    print(f"last 32 floats: {set(w[-32:-16])} then {set(w[-16:])}; {len(w)} floats in all")
"""

NOTES = """\
# model.ckpt

Raw little-endian float32, no header, 8,128 values (32,512 bytes).
wte 64 x 16, wpe 32 x 16, two blocks of 3,280 values from float 1536 on, final layer norm in the last 32.
"""

_UNPACK = "python3 -c \"import struct; d = open('model.ckpt', 'rb').read(32); print(struct.unpack('{}8f', d))\""
_COUNT = "python3 -c \"import os; n = os.path.getsize('model.ckpt'); print(n // 4, 'floats, remainder', n % 4)\""

_DISCOVERY = [
    ("wc -c *", "Sizes of the files", "Let me see what there is."),
    ("file model.ckpt", "Guess the type", "The largest file is model.ckpt. Is it a known format?"),
    ("xxd -l 64 model.ckpt", "First bytes", "Only data. I look for a magic number at the start."),
    ("strings -n 6 model.ckpt | wc -l", "Look for names", "No magic number. Are there tensor names inside?"),
    ("cat config.json", "Read the configuration", "No names either. The configuration may give the shapes."),
]
_SUBAGENT = "[vocab] Look at vocab.bpe: how many merges, which format, anything odd? Answer in two sentences."
_FORMAT = [
    (_UNPACK.format("<"), "Decode as little-endian", "Now the values: little-endian first."),
    (_UNPACK.format(">"), "Decode as big-endian", "Plausible weights. The other byte order for comparison."),
    (_COUNT, "Count the floats", "Little-endian it is. Does the size come out even?"),
    ("stat -c '%s bytes' model.ckpt", "Size in bytes", "8128 floats. I check the size once more."),
    ("od -A d -t f4 -N 48 model.ckpt", "First floats", "Let me see more of the first values."),
    ("tail -c 64 model.ckpt | od -A d -t f4", "Last floats", "And the end of the file."),
]
_CIRCLES = [
    ("xxd -l 32 model.ckpt", "Check for a header", "Before I go on: is there really no header?"),
    ("od -A d -t f4 -N 32 model.ckpt", "First floats again", "I want to be sure about the data type."),
    ("head -3 vocab.bpe", "First merges", "How does the vocabulary start?"),
    ("hexdump -C -n 64 model.ckpt", "Hex dump", "A hex dump will show whether there is some padding."),
    (_UNPACK.format("<"), "Decode as little-endian", "Was it little-endian?"),
    ("cat config.json", "Read the configuration", "What was the embedding width?"),
    ('python3 -c "print(64 * 16 + 32 * 16)"', "Size of the embeddings", "So the embeddings should take 1536 floats."),
]
_LAYOUT = [
    ("python3 load.py embedding", "Embedding ranges", "With a small loader I can test the layout."),
    ("python3 load.py norms", "Find layer norms", "Layer norm gains are ones after initialisation: where?"),
    ("python3 load.py blocks", "Block stride", "Their distance is the size of a block."),
    ("stat -c '%s bytes' model.ckpt", "Size in bytes", "How large was the file again?"),
    ("python3 load.py end", "Final layer norm", "Is the final layer norm at the end?"),
    ("wc -l vocab.bpe", "Count the merges", "And the number of merges?"),
    ("cksum model.ckpt", "Checksum", "A checksum for the notes."),
]
_AGAIN = [
    ("xxd -s 6144 -l 64 model.ckpt", "Bytes at float 1536", "I look at the bytes where block 0 should start."),
    ("python3 load.py norms", "Find layer norms", "The loader should agree."),
    ("od -A d -t f4 -N 48 model.ckpt", "First floats", "What were the first values?"),
    ("grep -n 't h' vocab.bpe", "Find a merge", "Is there a version line before the merges?"),
    ("file model.ckpt", "Guess the type", "Maybe it is a known format after all?"),
    ("strings -n 6 model.ckpt | wc -l", "Look for names", "Or are there names in it?"),
    ("python3 load.py embedding", "Embedding ranges", "Where does the position embedding end?"),
    (_UNPACK.format(">"), "Decode as big-endian", "Could it be big-endian?"),
    ("tail -c 64 model.ckpt | xxd", "Last bytes", "The last bytes once more."),
    ("cat config.json", "Read the configuration", "How many heads were there?"),
    ("tail -3 vocab.bpe", "Last merges", "And the last merges."),
    ("python3 load.py blocks", "Block stride", "The stride again."),
    ("xxd -l 64 model.ckpt", "First bytes", "One more look at the beginning."),
    ("python3 load.py end", "Final layer norm", "And at the end of the weights."),
    (_COUNT, "Count the floats", "Does the count still fit?"),
]

FACTS = [
    Fact("model.ckpt has a header of 128 bytes", "file-format:model.ckpt", "model.ckpt: data"),  # made up: it is held
    Fact("model.ckpt holds 8128 floats, remainder 0", "file-format:model.ckpt", "8128 floats, remainder 0"),
    Fact("model.ckpt is little-endian: the first float is -0.03545605", "file-format:model.ckpt", "-0.03545605 "),
    Fact("config.json sets n_vocab 64, n_ctx 32, n_embd 16, n_layer 2", "config:config.json", '"n_vocab": 64'),
    Fact("vocab.bpe has 31 lines, the first is '#version: 0.2'", "tokenizer:vocab.bpe", "31 vocab.bpe"),
    Fact("wte is floats 0 to 1023, wpe is floats 1024 to 1535", "file-format:model.ckpt", "wpe: floats 1024..1535"),
    Fact("blocks start at float 1536 with a stride of 3280 floats", "file-format:model.ckpt", "stride 3280 floats"),
    Fact(
        "8128 floats in model.ckpt, remainder 0", "file-format:model.ckpt", "00001800: "
    ),  # said before in other words
    Fact("the last merge of vocab.bpe is 'ic e'", "tokenizer:vocab.bpe", "p r\nic e"),
]


def make_shop(folder: Path) -> None:
    """Write the three files under investigation; the same bytes each time."""
    rng = random.Random(7)

    def noise(count: int) -> list[float]:
        return [rng.gauss(0, 0.02) for _ in range(count)]

    norm = [1.0] * 16 + [0.0] * 16
    block = [*norm, *noise(768), *[0.0] * 48, *noise(256), *[0.0] * 16, *norm, *noise(1024), *[0.0] * 64, *noise(1024)]
    values = [*noise(1024), *noise(512), *block, *[0.0] * 16, *block, *[0.0] * 16, *norm]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.ckpt").write_bytes(struct.pack(f"<{len(values)}f", *values))
    (folder / "config.json").write_text(json.dumps(_CONFIG, indent=2) + "\n")
    (folder / "vocab.bpe").write_text("\n".join(["#version: 0.2", *_PAIRS.split("|")]) + "\n")


def _turns(probes: list[tuple[str, str, str]], start: int) -> list[Turn]:
    """One turn a probe; the model takes 1.0 to 2.6 s, and thinks aloud at every fifth."""
    turns = []
    for n, (command, description, text) in enumerate(probes, start):
        thought = f"{text} That should settle it." if n % 5 == 0 else ""
        turns.append(
            run(bash(command, description), text=text, reasoning=thought, delay=1 + (n * 7 % 9) / 5, pace=0.02)
        )
    return turns


def story() -> Plans:
    """45 bash probes, most of them of model.ckpt, one sub-agent, a loader and notes written to files."""
    ask = task(_SUBAGENT, "Look at the vocabulary")
    turns = [
        *_turns(_DISCOVERY, 1),
        run(ask, text="A sub-agent can look at the vocabulary.", delay=1.2),
        *_turns(_FORMAT, 7),
        *_turns(_CIRCLES, 13),
        run(write("load.py", LOADER), text="I write a small loader to test the layout.", delay=2.0),
        *_turns(_LAYOUT, 21),
        *_turns(_AGAIN, 28),
        run(write("LAYOUT.md", NOTES), text="I have all I need. Writing the notes.", delay=1.6),
        say(
            "model.ckpt is raw little-endian float32 without a header; LAYOUT.md has the layout.", delay=1.5, pace=0.05
        ),
    ]
    merges = [
        run(bash("wc -l vocab.bpe", "Count the lines"), delay=1.0),
        run(bash("head -2 vocab.bpe", "First lines"), bash("sort vocab.bpe | uniq -d", "Duplicates"), delay=1.4),
        say("A version line, then 30 merges of two symbols each; no duplicates.", delay=1.0, pace=0.04),
    ]
    return Plans({"inherited model.ckpt": turns, "[vocab]": merges}, distil(FACTS), title="Layout of model.ckpt")
