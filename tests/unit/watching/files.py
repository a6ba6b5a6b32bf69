"""Dump files as their writers write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.store.dump import DumpEntry
from core.store.entries import encode
from core.store.guarded import GuardedFile

POLL = 0.2
"""Seconds; short, so that what only polling notices is noticed soon."""
T = 1_760_000_000_000


def entry(fact: str, n: int = 1, **more: Any) -> DumpEntry:
    values = {"topic": "t:a.bin", "established_at": T + n, "source_step": n, "session": "ses_1", "id": f"f{n}"}
    return DumpEntry(fact=fact, **{**values, **more})


def replace(path: Path, *entries: DumpEntry) -> None:
    """As our writer does it."""
    file = GuardedFile(path)
    file.write(encode(entries))
    file.release()


def overwrite(path: Path, content: bytes) -> None:
    """As the original plugin does it: in place."""
    path.write_bytes(content)
