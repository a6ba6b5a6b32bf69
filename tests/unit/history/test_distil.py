"""Runs from sessions to notes, on a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.errors import FileError, Refused, ServerError, UsageError
from core.history.distil import FAILURES, Options, Plan, Run, plan
from core.history.fates import Fate, Progress
from core.history.folder import STATE, Folder
from core.history.material import Work
from core.history.sinks import Delivery, FilesSink
from core.history.state import Book, Record, State
from core.history.transcript import Bounds
from tests.unit.history.notemaking import GOOD, Model, Sessions, works

BAD = "I have read it."


class Out:
    """An output folder; each call of :meth:`run` is a run of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sessions = Sessions()
        self.model = Model()
        self.told: list[Progress] = []

    async def run(self, count: int = 3, sinks: Sequence[FilesSink] | None = None, **options: Any) -> Progress:
        with Folder.open(self.path) as folder:
            book = Book.open(folder.path / STATE)
            try:
                run = Run(
                    folder, book, self.model, [FilesSink(folder)] if sinks is None else sinks,
                    Options(**options), read=self.sessions, on_progress=self.told.append, clock=lambda: 5,
                )  # fmt: skip
                return await run.run(works(count))
            finally:
                book.close()

    def plan(self, count: int = 3, **options: Any) -> Plan:
        return plan(works(count), self.path, Options(**options), read=self.sessions)

    def notes(self) -> dict[str, str]:
        return {path.stem: path.read_text() for path in sorted((self.path / "notes").iterdir())}

    def record(self, id: str) -> Record:
        book = Book.open(self.path / STATE)
        try:
            found = book.find(id)
            assert found is not None
            return found
        finally:
            book.close()


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Out]:
    yield Out(tmp_path / "out")


async def test_each_session_gets_a_note_and_its_input_is_kept(out: Out) -> None:
    done = await out.run(bounds=Bounds(head=100))
    assert (done.done, done.count(Fate.NOTE), done.spent.requests, done.spent.cost) == (3, 3, 3, 1.5)
    assert list(out.notes()) == ["ses_0", "ses_1", "ses_2"]
    note = out.notes()["ses_1"]
    assert note.startswith('---\nsource: "opencode"\n')
    assert "head: 100" in note
    assert note.endswith(f"\n# Title of ses_1\n\n{GOOD}")
    assert (out.path / "transcripts" / "ses_1.txt").read_text() == out.model.questions[1]
    record = out.record("ses_1")
    assert (record.state, record.model, record.spent.tokens.input) == (State.DONE, "p/m", 100)
    assert json.loads(record.bounds) == msgspec.to_builtins(Bounds(head=100))


async def test_the_transcript_is_written_before_the_model_is_asked(out: Out) -> None:
    seen: list[bool] = []
    out.model.before = lambda: seen.append((out.path / "transcripts" / "ses_0.txt").is_file())
    await out.run(1)
    assert seen == [True]


async def test_the_second_run_asks_nothing(out: Out) -> None:
    out.model.answers = [GOOD, "JUNK", BAD, BAD]
    first = await out.run()
    assert [first.count(fate) for fate in (Fate.NOTE, Fate.JUNK, Fate.ERROR)] == [1, 1, 1]
    assert list(out.notes()) == ["ses_0"]
    second = await out.run()
    assert second.count(Fate.KEPT) == 3
    assert (second.spent.requests, len(out.model.questions)) == (0, 4)


async def test_a_bad_answer_is_asked_for_once_more_with_the_reason(out: Out) -> None:
    out.model.answers = [BAD, GOOD]
    done = await out.run(1)
    assert (done.count(Fate.NOTE), done.spent.requests) == (1, 2)
    assert out.model.questions[1].startswith(out.model.questions[0])
    assert "could not be used: the answer is no note" in out.model.questions[1]
    assert out.record("ses_0").digest


async def test_two_bad_answers_are_kept_as_an_error_until_it_is_to_be_redone(out: Out) -> None:
    out.model.answers = [BAD, BAD]
    await out.run(1)
    record = out.record("ses_0")
    assert (record.state, record.spent.requests) == (State.ERROR, 2)
    assert BAD in record.error
    assert (await out.run(1, redo_errors=True)).count(Fate.NOTE) == 1
    assert out.record("ses_0").error == ""


async def test_an_answer_that_was_cut_off_is_no_note(out: Out) -> None:
    out.model.cut = True
    assert (await out.run(1)).count(Fate.ERROR) == 1


async def test_a_note_never_repeats_the_reasoning_of_the_session(out: Out) -> None:
    out.sessions.hints = ("The parser in `alpha.py` is not to be trusted",)
    out.model.otherwise = "## Follow-ups\n\nThe parser in `alpha.py` is not to be trusted.\n"
    assert (await out.run(1)).count(Fate.ERROR) == 1
    assert out.notes() == {}


async def test_a_changed_session_is_stale_until_it_is_to_be_redone(out: Out) -> None:
    await out.run()
    out.sessions.texts["ses_1"] = "more was said"
    out.model.otherwise = "## Follow-ups\n\nNew.\n"
    done = await out.run()
    assert (done.count(Fate.KEPT), done.count(Fate.STALE), done.spent.requests) == (2, 1, 0)
    assert out.notes()["ses_1"].endswith(GOOD)
    done = await out.run(redo_stale=True)
    assert (done.count(Fate.KEPT), done.count(Fate.NOTE), done.spent.requests) == (2, 1, 1)
    assert out.notes()["ses_1"].endswith("New.\n")
    assert (await out.run()).count(Fate.KEPT) == 3


async def test_other_bounds_make_a_session_stale_only_where_its_input_changes(out: Out) -> None:
    await out.run(1)
    assert (await out.run(1, bounds=Bounds(head=7))).count(Fate.KEPT) == 1


async def test_a_session_that_turns_to_junk_loses_its_note(out: Out) -> None:
    await out.run(1)
    out.sessions.texts["ses_0"] = "hello"
    out.model.otherwise = "JUNK."
    await out.run(1, redo_stale=True)
    assert out.notes() == {}


async def test_a_redo_without_a_usable_answer_leaves_the_earlier_note(out: Out) -> None:
    await out.run(1)
    before = out.notes()
    out.sessions.texts["ses_0"] = "more"
    out.model.otherwise = BAD
    assert (await out.run(1, redo_stale=True)).count(Fate.ERROR) == 1
    assert out.notes() == before


async def test_empty_and_deleted_sessions_cost_nothing(out: Out) -> None:
    out.sessions.texts.update(ses_0="", ses_1=None)
    done = await out.run()
    assert [done.count(fate) for fate in (Fate.JUNK, Fate.GONE, Fate.NOTE)] == [1, 1, 1]
    assert done.spent.requests == 1
    assert (await out.run()).count(Fate.KEPT) == 2


async def test_a_note_file_that_was_lost_is_written_again_without_asking(out: Out) -> None:
    await out.run()
    before = out.notes()
    (out.path / "notes" / "ses_2.md").unlink()
    await out.run()
    assert out.notes() == before
    assert len(out.model.questions) == 3


class Full(FilesSink):
    """A disk without room."""

    def put(self, delivery: Delivery) -> None:
        raise FileError("cannot write it: no space left")


async def test_an_answer_outlasts_a_sink_that_fails(out: Out) -> None:
    with Folder.open(out.path.with_name("other")) as other, pytest.raises(FileError, match="no space"):
        await out.run(1, sinks=[Full(other)])
    assert out.notes() == {}
    assert (await out.run(1)).count(Fate.KEPT) == 1
    assert list(out.notes()) == ["ses_0"]
    assert len(out.model.questions) == 1


class Counting(FilesSink):
    """Counts how often a run came to its end, and with how many notes."""

    ended: tuple[int, ...] = ()

    def finish(self) -> None:
        self.ended += (len(list((self._folder.path / "notes").iterdir())),)


async def test_a_sink_is_told_once_when_the_run_has_come_to_its_end(out: Out) -> None:
    with Folder.open(out.path.with_name("other")) as other:
        sink = Counting(other)
        await out.run(sinks=[sink])
        out.model.otherwise = Refused("no")
        with pytest.raises(Refused):
            await out.run(5, sinks=[sink])
        assert sink.ended == (3,)


async def test_one_session_without_an_answer_does_not_stop_the_others(out: Out) -> None:
    out.model.answers = [GOOD, ServerError("too long for it"), GOOD]
    done = await out.run()
    assert (done.count(Fate.NOTE), done.count(Fate.FAILED)) == (2, 1)
    assert out.record("ses_1").error == "too long for it"
    done = await out.run()
    assert (done.count(Fate.KEPT), done.count(Fate.NOTE)) == (2, 1)


async def test_a_refusal_ends_the_run_at_once(out: Out) -> None:
    out.model.answers = [GOOD, Refused("the key is wrong")]
    with pytest.raises(Refused, match="the key is wrong"):
        await out.run()
    assert len(out.model.questions) == 2
    assert (await out.run()).count(Fate.NOTE) == 2


async def test_failures_in_a_row_end_the_run(out: Out) -> None:
    out.model.otherwise = ServerError("overloaded")
    with pytest.raises(ServerError, match="overloaded"):
        await out.run(20)
    assert len(out.model.questions) == FAILURES


@pytest.mark.parametrize("jobs", [1, 4])
async def test_no_more_questions_are_under_way_than_jobs(out: Out, jobs: int) -> None:
    await out.run(12, jobs=jobs)
    assert out.model.most_at_once <= jobs
    assert len(out.notes()) == 12
    assert len(set(out.model.questions)) == 12


async def test_a_run_that_is_stopped_goes_on_later(out: Out) -> None:
    waiting = asyncio.Event()

    class Slow(Model):
        async def distil(self, question: object) -> object:  # type: ignore[override]
            if len(self.questions) == 2:
                waiting.set()
                await asyncio.Event().wait()
            return await super().distil(question)

    out.model = Slow()
    task = asyncio.create_task(out.run())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert out.record("ses_2").state is State.RUNNING
    asked, out.model = len(out.model.questions), Model()
    done = await out.run()
    assert (asked, done.count(Fate.KEPT), done.count(Fate.NOTE)) == (2, 2, 1)


async def test_progress_is_told_from_the_start_to_the_end(out: Out) -> None:
    await out.run()
    assert [(progress.done, progress.total) for progress in out.told] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert out.told[-1].seconds_left == 0


async def test_a_plan_asks_nothing_and_creates_nothing(out: Out) -> None:
    out.sessions.texts.update(ses_3="", ses_4=None)
    before = out.plan(5)
    assert (before.total, before.ask, before.empty, before.gone, before.output_tokens) == (5, 3, 1, 1, 0)
    assert before.input_tokens > 3 * 400
    assert not out.path.exists()
    await out.run(2)
    out.sessions.texts["ses_1"] = "more"
    after = out.plan(5)
    assert (after.ask, after.kept, after.stale, after.output_tokens) == (1, 1, 1, 20)
    assert out.plan(5, redo_stale=True).ask == 2
    assert len(out.model.questions) == 2


async def test_no_sessions_are_no_trouble(out: Out) -> None:
    assert (await out.run(0)).total == 0


async def test_an_unreadable_source_ends_the_run_with_its_reason(out: Out) -> None:
    def locked(work: Work, bounds: Bounds) -> None:
        raise FileError("the database is locked")

    with Folder.open(out.path) as folder:
        book = Book.open(folder.path / STATE)
        with pytest.raises(FileError, match="locked"):
            await Run(folder, book, out.model, [], read=locked).run(works(2))
        book.close()


@pytest.mark.parametrize("jobs", [0, 65, -1])
def test_jobs_are_bounded(jobs: int) -> None:
    with pytest.raises(UsageError, match="--jobs"):
        Options(jobs=jobs)
