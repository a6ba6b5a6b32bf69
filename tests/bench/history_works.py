"""What is measured on a database of past sessions, each work in a process of its own.

Nothing else is in that process's memory, and it prints what it took as one line of JSON::

    python -m tests.bench.history_works WORK DATABASE [WORD…]
"""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from core.history.index import DATABASE, Index
from core.history.listing import list_sessions
from core.history.parts import read_parts
from core.history.search import search
from core.history.source import Source
from core.history.stats import count_up
from core.history.transcript import transcript

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = 50
"""Sessions of a page."""
SAMPLE: Final = 200
"""Sessions of which transcripts are made, at equal distances."""
_LINES: Final = "SELECT * FROM part JOIN message ON message.id = message_id WHERE message.session_id = ?"
_ORDER: Final = "ORDER BY message.time_created, message.id, part.time_created, part.id"


class Measured(msgspec.Struct, kw_only=True):
    """What a work took.

    Attributes:
        answer: how much it found: sessions, hits, or code points.
        wall: seconds, without the start of the interpreter and imports.
        cpu: seconds of the same.
        memory: the most the process ever had resident, in bytes.
        each: CPU seconds of the single pieces, of works that have several.
    """

    answer: int
    wall: float
    cpu: float
    memory: int
    each: list[float] = []


def measure(work: str, database: Path, *words: str) -> Measured:
    """What `work`, a key of WORKS, takes in a process of its own."""
    command = (sys.executable, "-m", "tests.bench.history_works", work, str(database), *words)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Measured)


def run(work: str, database: Path, *words: str) -> Measured:
    """What `work` takes here and now; the memory is that of the whole process so far."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer, each = WORKS[work](database, *words)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Measured(answer=answer, wall=wall, cpu=cpu, memory=_peak(), each=each)


def index_of(database: Path) -> Path:
    """Where the index of `database` is kept."""
    return database.with_name(DATABASE)


def nothing(_: Path) -> tuple[int, list[float]]:
    """What the others have on top."""
    return 0, []


def listed(database: Path) -> tuple[int, list[float]]:
    """Every session."""
    with Source.open(database) as source:
        return sum(1 for _ in list_sessions(source)), []


def plainly_listed(database: Path) -> tuple[int, list[float]]:
    """Every session with its message counts, as somebody would write it at first."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        sessions = _plain_sessions(db)
        for row in db.execute("SELECT * FROM message").fetchall():
            role = json.loads(row["data"])["role"]
            sessions[row["session_id"]]["counts"][role] += 1
    return len(sessions), []


def plainly_read(database: Path) -> tuple[int, list[float]]:
    """The same with the parts counted by type, a row at a time."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        sessions = _plain_sessions(db)
        for table, key in (("message", "role"), ("part", "type")):
            for row in db.execute(f"SELECT * FROM {table}"):
                sessions[row["session_id"]]["counts"][json.loads(row["data"])[key]] += 1
    return len(sessions), []


def first_page(database: Path) -> tuple[int, list[float]]:
    """The oldest sessions."""
    with Source.open(database) as source:
        return sum(1 for _ in list_sessions(source, limit=PAGE)), []


def last_page(database: Path, sessions: str) -> tuple[int, list[float]]:
    """The latest of so many."""
    with Source.open(database) as source:
        return sum(1 for _ in list_sessions(source, limit=PAGE, offset=int(sessions) - PAGE)), []


def counted_up(database: Path) -> tuple[int, list[float]]:
    """The sums by day, model, project and tool."""
    with Source.open(database) as source:
        return count_up([source]).total.sessions, []


def indexed(database: Path) -> tuple[int, list[float]]:
    """The index brought up to date."""
    with Source.open(database) as source, Index.open(index_of(database)) as index:
        return index.update([source]), []


def searched(database: Path, *words: str) -> tuple[int, list[float]]:
    """One search after the other, with the index as it is."""
    found, each = 0, []
    with Index.open(index_of(database)) as index:
        for word in words:
            begun = time.process_time()
            found += len(search(index, word, [database]))
            each.append(time.process_time() - begun)
    return found, each


def plainly_searched(database: Path, word: str) -> tuple[int, list[float]]:
    """The sessions that hold a word, without an index."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        statement = "SELECT DISTINCT session_id FROM part WHERE data LIKE '%' || ? || '%'"
        return len(db.execute(statement, (word,)).fetchall()), []


def transcribed(database: Path) -> tuple[int, list[float]]:
    """Transcripts of sessions from all over the database."""
    with Source.open(database) as source:
        ids = _sample(row.id for row in list_sessions(source))
        return _each(ids, lambda id: len(transcript(read_parts(source, id)).text))


def plainly_transcribed(database: Path) -> tuple[int, list[float]]:
    """The same sessions whole, as somebody would write it at first."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        ids = _sample(id for (id,) in db.execute("SELECT id FROM session ORDER BY time_created, id"))
        return _each(ids, lambda id: len("\n".join(_plain_lines(db, id))))


WORKS: Final[dict[str, Callable[..., tuple[int, list[float]]]]] = {
    work.__name__: work
    for work in (
        nothing, listed, plainly_listed, plainly_read, first_page, last_page, counted_up, indexed, searched,
        plainly_searched, transcribed, plainly_transcribed,
    )
}  # fmt: skip


def _plain_sessions(db: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    rows = db.execute("SELECT * FROM session ORDER BY time_created, id").fetchall()
    zero = {"user": 0, "assistant": 0, "text": 0, "tool": 0}
    return {row["id"]: {**row, "counts": dict(zero)} for row in rows}


def _plain_lines(db: sqlite3.Connection, id: str) -> Iterator[str]:
    for row in db.execute(f"{_LINES} {_ORDER}", (id,)):
        part, message = json.loads(row[5]), json.loads(row[10])
        state = part.get("state", {})
        yield f"[{message['role']}] {part.get('text') or state.get('input')}\n{state.get('output', '')}"


def _sample(ids: Iterator[str]) -> list[str]:
    every = list(ids)
    return list(islice(every, 0, None, max(1, len(every) // SAMPLE)))[:SAMPLE]


def _each(ids: Sequence[str], work: Callable[[str], int]) -> tuple[int, list[float]]:
    total, each = 0, []
    for id in ids:
        begun = time.process_time()
        total += work(id)
        each.append(time.process_time() - begun)
    return total, each


def _peak() -> int:
    """The most this program had resident, in bytes; getrusage alone would count what its parent had before it."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(run(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])).decode())
