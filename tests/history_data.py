"""Databases of past sessions in every layout that OpenCode has used, small and large, for tests and benchmarks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

BASE = 1_780_000_000_000
"""Time of the first session, ms since the epoch."""

_TIMES = "time_created integer NOT NULL, time_updated integer NOT NULL"
_SESSION = f"""(
    id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL,
    directory text NOT NULL, path text, title text, version text NOT NULL, share_url text, summary_diffs text,
    cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
    tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
    tokens_cache_write integer DEFAULT 0 NOT NULL, revert text, permission text, agent text, model text, {_TIMES},
    time_compacting integer, time_archived integer)"""
_SESSION_OLD = f"""(
    id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
    title text NOT NULL, version text NOT NULL, {_TIMES}, time_compacting integer, time_archived integer)"""
V1 = (
    f"CREATE TABLE session {_SESSION}",
    f"CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, {_TIMES}, data text NOT NULL)",
    "CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,"
    f" {_TIMES}, data text NOT NULL)",
    "CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id)",
    "CREATE INDEX part_message_id_id_idx ON part (message_id, id)",
    "CREATE INDEX part_session_idx ON part (session_id)",
    "CREATE INDEX session_parent_idx ON session (parent_id)",
)
"""Tables of OpenCode 1, as 1.18.33 has them."""
MESSAGES_V2 = (
    "CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL,"
    f" seq integer NOT NULL, {_TIMES}, data text NOT NULL)",
    "CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message (session_id, seq)",
    "CREATE INDEX session_message_session_type_seq_idx ON session_message (session_id, type, seq)",
)
V2 = (f"CREATE TABLE session_v2 {_SESSION}", *MESSAGES_V2)
"""Tables of OpenCode 2, as published for 2.0."""


class Builder:
    """Writes one database.

    Args:
        path: file, created.
        tables: statements that create the tables.
        wal: journal mode; a database in WAL mode is closed so that no log stays beside it.
    """

    def __init__(self, path: Path, tables: Iterable[str] = V1, *, wal: bool = True) -> None:
        self.path = path
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f"PRAGMA journal_mode = {'wal' if wal else 'delete'}")
        self.db.execute("PRAGMA synchronous = OFF")
        for statement in tables:
            self.db.execute(statement)

    def __enter__(self) -> Builder:
        self.db.execute("BEGIN")
        return self

    def __exit__(self, *_: object) -> None:
        if self.db.in_transaction:
            self.db.execute("COMMIT")
        self.db.close()

    def session(self, id: str, created: int = BASE, *, table: str = "session", **columns: Any) -> str:
        """One session; `columns` go before the defaults."""
        values = {
            "id": id, "project_id": "p", "slug": id, "directory": "/home/u/project", "title": f"Title of {id}",
            "version": "1.18.33", "time_created": created, "time_updated": created,
        } | columns  # fmt: skip
        self.insert(table, **values)
        return id

    def message(self, session: str, id: str, role: str = "user", created: int = BASE, **data: Any) -> str:
        """One message of OpenCode 1; `data` goes into its JSON, or `raw` is stored as it is."""
        raw = data.pop("raw", None)
        body = raw if raw is not None else dump({"role": role, "time": {"created": created}} | data)
        self.insert("message", id=id, session_id=session, time_created=created, time_updated=created, data=body)
        return id

    def part(self, message: str, id: str, data: Any, created: int = BASE, *, session: str | None = None) -> str:
        """One part of OpenCode 1: `data` as JSON, or as it is when it is text or bytes."""
        if session is None:
            row = self.db.execute("SELECT session_id FROM message WHERE id = ?", (message,)).fetchone()
            session = row[0] if row else ""
        body = data if isinstance(data, str | bytes) else dump(data)
        self.insert(
            "part", id=id, message_id=message, session_id=session, time_created=created, time_updated=created, data=body
        )
        return id

    def message_v2(self, session: str, id: str, type: str, seq: int, created: int = BASE, **data: Any) -> str:
        """One message of OpenCode 2, its content in its JSON."""
        raw = data.pop("raw", None)
        body = raw if raw is not None else dump({"time": {"created": created}} | data)
        self.insert(
            "session_message", id=id, session_id=session, type=type, seq=seq, time_created=created,
            time_updated=created, data=body,
        )  # fmt: skip
        return id

    def insert(self, table: str, **columns: Any) -> None:
        """One row."""
        marks = ", ".join("?" * len(columns))
        self.db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))


def dump(data: Any) -> str:
    """JSON as OpenCode stores it: no spaces."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def text(words: str, **more: Any) -> dict[str, Any]:
    """A part of type text."""
    return {"type": "text", "text": words} | more


def tool(name: str, given: Any, output: str, status: str = "completed", **more: Any) -> dict[str, Any]:
    """A part of type tool; the output of a failed call is its error."""
    result = {"error": output} if status == "error" else {"output": output}
    return {"type": "tool", "tool": name, "callID": "c", "state": {"status": status, "input": given} | result} | more


def small_v1(path: Path, **options: Any) -> Path:
    """Two root sessions of OpenCode 1 and a sub-agent's, with every kind of part."""
    with Builder(path, (*V1, *MESSAGES_V2), **options) as b:
        b.session("ses_a", BASE, title="First", cost=0.25, tokens_input=10, tokens_output=5, agent="build",
                  model=dump({"id": "m1", "providerID": "fake"}))  # fmt: skip
        b.message("ses_a", "msg_a1", "user", BASE + 1)
        b.part("msg_a1", "prt_a1", text("Why does the build fail?"), BASE + 2)
        b.message("ses_a", "msg_a2", "assistant", BASE + 3, modelID="m1", providerID="fake")
        b.part("msg_a2", "prt_a2", {"type": "step-start"}, BASE + 4)
        b.part("msg_a2", "prt_a3", {"type": "reasoning", "text": "Look at the log first."}, BASE + 5)
        b.part("msg_a2", "prt_a4", tool("bash", {"command": "make"}, "error: no rule"), BASE + 6)
        b.part("msg_a2", "prt_a5", text("The Makefile has no rule for it."), BASE + 7)
        b.part("msg_a2", "prt_a6", {"type": "patch", "hash": "h", "files": ["/home/u/project/Makefile"]}, BASE + 8)
        b.part("msg_a2", "prt_a7", {"type": "step-finish", "reason": "stop"}, BASE + 9)
        b.session("ses_b", BASE + 1_000, title="Second", time_archived=BASE + 5_000)
        b.message("ses_b", "msg_b1", "user", BASE + 1_001)
        b.part("msg_b1", "prt_b1", text("Read the picture"), BASE + 1_002)
        b.part("msg_b1", "prt_b2", {"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:x"},
               BASE + 1_003)  # fmt: skip
        b.session("ses_c", BASE + 500, parent_id="ses_a", title="Child (@general subagent)")
    return path


def small_v2(path: Path) -> Path:
    """One session of OpenCode 2 with every kind of message."""
    with Builder(path, V2) as b:
        fill_v2(b, "ses_two")
    return path


def fill_v2(b: Builder, id: str, created: int = BASE) -> None:
    """One session with every kind of message into tables of OpenCode 2."""
    b.session(id, created, table="session_v2", title=None, version="2.0.12")
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("user", {"text": "Count the lines", "files": [{"uri": "file:///home/u/a.txt", "mime": "text/plain"}]}),
        ("model-switched", {"model": {"id": "m2", "providerID": "fake"}}),
        ("synthetic", {"text": "hidden from the user"}),
        ("assistant", {
            "agent": "build", "model": {"id": "m2", "providerID": "fake"}, "cost": 0.5,
            "tokens": {"input": 7, "output": 3, "reasoning": 1, "cache": {"read": 2, "write": 0}},
            "content": [
                {"type": "reasoning", "text": "wc will do"},
                {"type": "tool", "id": "c1", "name": "shell", "time": {"created": created + 4}, "state": {
                    "status": "completed", "input": {"command": "wc -l a.txt"},
                    "content": [{"type": "text", "text": "12 a.txt"}]}},
                {"type": "tool", "id": "c2", "name": "read", "time": {"created": created + 5}, "state": {
                    "status": "error", "input": {"path": "b.txt"}, "error": {"message": "no b.txt"}}},
                {"type": "text", "text": "It has 12 lines."},
            ]}),
        ("shell", {"shellID": "s", "command": "ls", "status": "exited", "exit": 0, "output": {"output": "a.txt"}}),
        ("compaction", {"status": "completed", "reason": "auto", "summary": "Lines were counted.", "recent": ""}),
        ("idle", {"outcome": "succeeded"}),
    ]  # fmt: skip
    for seq, (type_, data) in enumerate(kinds):
        b.message_v2(id, f"msg_{id}_{seq}", type_, seq, created + seq, **data)


def legacy(folder: Path, sessions: int = 1) -> Path:
    """Sessions as JSON files below `folder`/storage; the first of `sessions` is ses_old0."""
    for n in range(sessions):
        id = f"ses_old{n}"
        created = BASE - 10_000 + n
        _write(
            folder,
            f"session/proj/{id}.json",
            {
                "id": id,
                "title": f"Old {n}",
                "directory": "/home/u/old",
                "time": {"created": created, "updated": created},
            },
        )
        for m, (role, words) in enumerate((("user", "What is in it?"), ("assistant", "A lot."))):
            message = f"msg_old{n}_{m}"
            _write(
                folder,
                f"message/{id}/{message}.json",
                {
                    "id": message,
                    "sessionID": id,
                    "role": role,
                    "time": {"created": created + m},
                    "cost": 0.125,
                    "modelID": "m0",
                    "providerID": "fake",
                    "tokens": {"input": 3, "output": 1},
                },
            )
            _write(
                folder,
                f"part/{message}/prt_old{n}_{m}.json",
                {"id": f"prt_old{n}_{m}", "messageID": message, "sessionID": id, "type": "text", "text": words},
            )
    return folder  # fmt: skip


def large(path: Path, sessions: int = 10_000, messages: int = 20, parts: int = 5, output: int = 300) -> Path:
    """A database of OpenCode 1 with `sessions` * `messages` * `parts` parts (by default 1 million), in one go."""
    filler = "The quick brown fox jumps over the lazy dog. " * (output // 45 + 1)
    with Builder(path, V1) as b:
        b.db.executemany(
            "INSERT INTO session (id, project_id, slug, directory, title, version, cost, tokens_input, tokens_output,"
            " agent, model, time_created, time_updated) VALUES (?, 'p', 's', ?, ?, '1.18.33', 0.01, 1000, 100, 'build',"
            """ '{"id":"m1","providerID":"fake"}', ?, ?)""",
            (
                (f"ses_{n:06}", f"/home/u/p{n % 7}", f"Session number {n}", BASE + n * 60_000, BASE + n * 60_000 + 1)
                for n in range(sessions)
            ),
        )
        b.db.executemany("INSERT INTO message VALUES (?, ?, ?, ?, ?)", _large_messages(sessions, messages))
        b.db.executemany(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", _large_parts(sessions, messages, parts, filler[:output])
        )
    return path


def _large_messages(sessions: int, messages: int) -> Iterator[tuple[Any, ...]]:
    user = dump({"role": "user", "time": {"created": 1}, "agent": "build", "model": {"providerID": "fake"}})
    assistant = dump({
        "parentID": "msg_22bd6042c001qyrNtNKPYPAk0F", "role": "assistant", "mode": "build", "agent": "build",
        "path": {"cwd": "/home/u/project", "root": "/home/u/project"}, "cost": 0, "modelID": "m1", "providerID": "fake",
        "tokens": {"total": 2466, "input": 2444, "output": 22, "reasoning": 0, "cache": {"write": 0, "read": 0}},
        "time": {"created": 1796031775882, "completed": 1796031780726}, "finish": "tool-calls"})  # fmt: skip
    for n in range(sessions):
        for m in range(messages):
            t = BASE + n * 60_000 + m * 100
            yield f"msg_{n:06}_{m:04}", f"ses_{n:06}", t, t, user if m % 10 == 0 else assistant


def _large_parts(sessions: int, messages: int, parts: int, filler: str) -> Iterator[tuple[Any, ...]]:
    for n in range(sessions):
        for m in range(messages):
            t = BASE + n * 60_000 + m * 100
            for p in range(parts):
                words = f"s{n}m{m}p{p} {filler}"
                data = tool("bash", {"command": f"ls {n}"}, words) if p % 2 else text(words)
                yield f"prt_{n:06}_{m:04}_{p:02}", f"msg_{n:06}_{m:04}", f"ses_{n:06}", t + p, t + p, dump(data)


def _write(folder: Path, name: str, data: Any) -> None:
    path = folder / "storage" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
