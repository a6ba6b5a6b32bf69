"""How well files and their changes are recognised, on the labelled cases in `tests/corpus/stale.jsonl`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from core.files import FileWatch
from core.files.state import MAX_HASHED
from core.files.watch import MAX_FILES
from core.ledger.files import MAX_FILES as MOST_ABOUT
from core.ledger.files import files_of, is_about, written_by
from core.ledger.observations import ToolFinished
from core.ledger.patched import patched_files
from core.ledger.places import resolved, same_place
from core.ledger.steps import Call
from tests.corpus.cases import StaleCase
from tests.corpus.load import Part, load_as


def calls_of(commands: list[str]) -> list[Call]:
    """Bash calls as a receipt holds them."""
    return [
        Call(
            call=f"call_{n}",
            tool="bash",
            ok=True,
            summary=command,
            command=command,
            path="",
            output="",
            exit=0,
            ended=n,
            ms=1,
        )
        for n, command in enumerate(commands)
    ]


def files(case: StaleCase) -> tuple[str, ...]:
    """The files that the case's fact is about."""
    return files_of(case.topic, calls_of(case.commands), case.cwd, fact=case.fact)


def told(case: StaleCase) -> tuple[str, ...]:
    """The files that the event, taken at its word, changes."""
    event = case.event
    if event.tool == "disk":
        return ()
    if event.tool == "file.edited":
        return (resolved(event.path, case.cwd),)
    done = ToolFinished(
        t=1,
        session="ses",
        message="msg",
        part="prt",
        call="call",
        tool=event.tool,
        ok=True,
        summary="",
        command=event.command,
        path=event.path,
        patched=patched_files(event.patch),
    )
    return written_by(done, case.cwd)


def judge(case: StaleCase) -> str:
    """`doubtful` or `unchanged`, as the ledger decides where it sees the disk: other bytes, or gone.

    Above :data:`core.files.state.MAX_HASHED` bytes a new time is a change. The call only says when to look, so what
    it says it would do decides nothing here.
    """
    event = case.event
    changed = [*event.changed, *event.gone, *(event.touched if case.size > MAX_HASHED else ())]
    mine = files(case)
    return "doubtful" if any(is_about(mine, path) for path in changed) else "unchanged"


def judge_unseen(case: StaleCase) -> str:
    """The same where the disk is not seen (a replay, another machine): the call is taken at its word."""
    mine = files(case)
    return "doubtful" if any(is_about(mine, path) for path in told(case)) else "unchanged"


async def judge_on_disk(cases: Sequence[StaleCase], root: Path) -> dict[str, str]:
    """Decisions by case id, found with files that are made below `root`, changed, and watched by one `FileWatch`.

    What a call says counts for files only that the watch does not vouch for. Large files are sparse.
    """
    changed: set[str] = set()
    watch = FileWatch(changed.add, beat=0.2, quiet=0.05)
    watched = {case.id: [_below(root, case, path) for path in files(case)] for case in cases}
    for case in cases:
        _prepare(root, case)
    running = asyncio.create_task(watch.run())
    try:
        for start in range(0, len(cases), MAX_FILES // MOST_ABOUT):
            some = cases[start : start + MAX_FILES // MOST_ABOUT]
            watch.watch({path: 0 for case in some for path in watched[case.id]})
            await watch.settled()
            for case in some:
                _happen(root, case)
            watch.check([path for case in some for path in watched[case.id]])
            await watch.settled()
            for case in some:
                said = {same_place(_below(root, case, path)) for path in told(case)}
                mine = watched[case.id]
                changed |= {path for path in mine if same_place(path) in said and not watch.vouches_for(path)}
    finally:
        running.cancel()
        await asyncio.wait([running])
    return {case.id: "unchanged" if changed.isdisjoint(watched[case.id]) else "doubtful" for case in cases}


def _below(root: Path, case: StaleCase, path: str) -> str:
    return f"{root}/{case.id}{path}"


def _prepare(root: Path, case: StaleCase) -> None:
    event = case.event
    names = [*files(case), *event.changed, *event.gone, *event.touched]
    for path in {same_place(name): name for name in names}.values():  # one file, named as it is on disk
        file = Path(_below(root, case, path))
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            out.truncate(case.size)


def _happen(root: Path, case: StaleCase) -> None:
    for path in case.event.changed:
        with Path(_below(root, case, path)).open("ab") as out:
            out.write(b"more")
    for path in case.event.gone:
        Path(_below(root, case, path)).unlink()
    for path in case.event.touched:
        os.utime(_below(root, case, path), (1_000_000_000, 1_000_000_000))


def judge_plainly(_: StaleCase) -> str:
    """What the seed does: a fact stays as it is."""
    return "unchanged"


def misses(part: Part = "open") -> list[str]:
    """Lines that name each case :func:`judge` decides otherwise than its label."""
    return [
        f"{case.id} {case.kind}: {judge(case)}, should be {case.label} ({case.why}); about {files(case)}"
        for case in load_as(StaleCase, part)
        if judge(case) != case.label
    ]
