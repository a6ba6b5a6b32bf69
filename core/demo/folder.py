"""The demo's temporary folder. Its name says whose it is, so that one left by a killed demo is found and removed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

from core.store.process import is_running, this_process

_PREFIX: Final = "ledger-demo-"
_NAME: Final = re.compile(rf"{_PREFIX}(?P<boot>[0-9a-f-]+)\.(?P<pid>[0-9]+)\.(?P<start>[0-9-]+)-[^-]+")


def make_folder() -> Path:
    """A new folder for this process; those that demos of this user left behind are removed. Raises OSError."""
    parent = Path(tempfile.gettempdir())
    remove_stale(parent)
    owner = this_process().replace(":", ".")
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{owner}-", dir=parent))


def remove_stale(parent: Path) -> None:
    """Remove the folders in `parent` that belong to demos of this user that no longer run. Never raises."""
    try:
        with os.scandir(parent) as entries:
            stale = [Path(entry.path) for entry in entries if _is_stale(entry)]
    except OSError:
        return
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)


def _is_stale(entry: os.DirEntry[str]) -> bool:
    found = _NAME.fullmatch(entry.name)
    if found is None or is_running(f"{found['boot']}:{found['pid']}:{found['start']}"):
        return False
    try:
        return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False
