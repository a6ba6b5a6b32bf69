"""What may be told to the agent, on the real thing: no stale fact as if it held, and nothing that was made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.chat import ToolCall, Turn, bash, edit, read, run, say, write
from tests.e2e.ledger import Ledger, Line
from tests.e2e.oracle import check_notes, given, of_type
from tests.e2e.scripts import NOTHING, Plans, findings, probe_commands
from tests.e2e.stage import stage

TOPIC = "config:config.json"
WIDTH = "config.json sets n_embd to 32"
CAVEAT = "may be out of date: config.json changed since"
NEW = '{"n_embd": 32, "n_layer": 4, "n_vocab": 12}\n'


def until_there(name: str, command: str) -> ToolCall:
    """A call that waits until the test makes a file of this name."""
    return bash(f"until [ -e {name} ]; do sleep 0.05; done; {command}", f"Wait for {name}")


def looks(writing: ToolCall) -> Plans:
    """Four looks, from which a fact comes; three more, the last of which is stopped; the file is written; seven looks,
    of which an extraction of the last three and a listing says the same again; and one more."""
    turns = [
        run(read("config.json")),
        run(bash("cat config.json", "Read the configuration")),
        run(bash("grep -n n_ config.json", "The settings")),
        run(bash("wc -c config.json", "Its size")),
        run(until_there("known", "head -2 config.json")),
        run(bash("tail -3 config.json", "Its end")),
        run(bash("od -c config.json | head -3", "Its bytes")),
        run(writing),
        run(bash("head -4 config.json", "Its beginning")),
        run(bash("tail -2 config.json", "Its last lines")),
        run(bash("grep -c n_layer config.json", "The layers")),
        run(bash("sort config.json", "In order")),
        run(bash("cat -A config.json", "With its line ends")),
        run(bash("tr , ' ' < config.json", "Word by word")),
        run(bash("grep -o 'n_embd.*' config.json", "The width")),
        run(bash("ls", "List the files")),
        run(until_there("confirmed", "cut -c1-60 config.json")),
        say("n_embd is 32."),
    ]
    return Plans({"[looks]": turns}, (findings((WIDTH, TOPIC)), NOTHING, NOTHING, findings((WIDTH, TOPIC)), NOTHING))


WRITERS = {
    "write": write("config.json", NEW),
    "edit": edit("config.json", '"n_layer": 2', '"n_layer": 4'),
    "redirection": bash(f"echo '{NEW.strip()}' > config.json", "Set the layers"),
}


def change(wanted: str) -> Callable[[Line], bool]:
    """The fact of the configuration becomes this."""
    return lambda line: line["type"] == "finding" and (line["change"], line["fact"]) == (wanted, WIDTH)


def touches_of(lines: list[Line], begin: int, end: int) -> list[tuple[str, int]]:
    """What was done at each look between two lines, and the count it had."""
    touches = of_type(lines[begin:end], "touch")
    return [(touch["action"], touch["counts"][TOPIC]) for touch in touches if TOPIC in touch["topics"]]


@pytest.mark.parametrize("writing", WRITERS.values(), ids=WRITERS)
async def test_a_fact_about_a_file_that_the_agent_writes_is_told_with_a_caveat(
    binary: Path, tmp_path: Path, writing: ToolCall
) -> None:
    async with (
        stage(binary, tmp_path, looks(writing), plugin=True) as on,
        on.ledger("--set", "escalation_injections=3", interval=4) as ledger,
    ):
        await ledger.state("live")
        turn = on.begin(await on.session(), "[looks] How is config.json laid out?")
        for seen, name in (("added", "known"), ("fresh", "confirmed")):
            await ledger.until(change(seen), 120)
            (on.server.project / name).touch()
        await turn
        await ledger.until(lambda line: line["type"] == "session" and line["state"] == "idle")
        await ledger.interrupt()
    assert json.loads((on.server.project / "config.json").read_text())["n_layer"] == 4
    check_notes(ledger.lines, on.model.requests)
    check_caveats(ledger)


def check_caveats(ledger: Ledger) -> None:
    """Stopped before the file is written, told once with the caveat after it, and as a fact again once confirmed."""
    lines = ledger.lines
    added, doubtful, fresh = (
        next(n for n, line in enumerate(lines) if change(seen)(line)) for seen in ("added", "doubtful", "fresh")
    )
    assert added < doubtful < fresh
    assert lines[doubtful]["reason"] == "config.json changed"
    before, between, after = (
        touches_of(lines, *span) for span in ((added, doubtful), (doubtful, fresh), (fresh, len(lines)))
    )
    assert before == [("gentle", 1), ("quiet", 2), ("stop", 3)]
    assert between == [("gentle", 4), *(("quiet", n) for n in range(5, 11))]
    assert after == [("stop", 11)]
    notes = of_type(lines, "note")
    assert [CAVEAT in note["text"] for note in notes] == [False, False, True, False]
    assert all(WIDTH in note["text"] for note in notes)


INVENTED = "model.ckpt has a header of 128 bytes"
FOUND = "model.ckpt is 4096 bytes long"


def survey() -> Plans:
    """Five probes, a wait for what comes from them, seven more; one of the two facts is in no output."""
    probes: list[Turn] = [run(bash(command, what)) for command, what in probe_commands()[:12]]
    probes.insert(5, run(until_there("known", "echo go on")))
    facts = findings((INVENTED, "file-format:model.ckpt"), (FOUND, "file-format:model.ckpt"))
    return Plans({"[survey]": [*probes, say("Done.")]}, (facts, NOTHING))


async def test_an_invented_fact_is_held_and_never_told(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, survey(), plugin=True) as on, on.ledger() as ledger:
        await ledger.state("live")
        turn = on.begin(await on.session(), "[survey] Find out how model.ckpt is laid out.")
        done = await ledger.until(lambda line: line["type"] == "extraction" and line["state"] == "done")
        (on.server.project / "known").touch()
        await turn
        await ledger.until(lambda line: line["type"] == "extraction" and (line["id"], line["state"]) == ("x2", "done"))
        await ledger.interrupt()
    assert (done["found"], done["added"], done["held"]) == (2, 1, 1)
    told = {line["fact"]: (line["change"], line["reason"]) for line in of_type(ledger.lines, "finding")}
    assert told == {INVENTED: ("held", "no output says 128"), FOUND: ("added", "")}
    notes = of_type(ledger.lines, "note")
    assert {"gentle", "stop"} <= {note["kind"] for note in notes}
    assert all(FOUND in note["text"] for note in notes)
    assert all(any(FOUND in text for text in given(on.model.requests, note["call"])) for note in notes)
    assert not any("128 bytes" in json.dumps(request.body) for request in on.model.requests)
    assert [entry["fact"] for entry in json.loads(on.dump.read_text())] == [FOUND]
