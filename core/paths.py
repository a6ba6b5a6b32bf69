"""Where the ledger keeps its own files.

The folders are those of the operating system (XDG on Linux). `LEDGER_HOME` names one folder that holds all of them
instead. Nothing is created by asking; :func:`ensure` creates.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from core.errors import FileError

_NAME = "ledger-tui"
RUNTIME = "runtime"
"""Name of the runtime folder in LEDGER_HOME."""
PROJECT_FILE = Path(".opencode") / "ledger.toml"
"""A project's configuration, relative to the project's folder."""


def state_dir() -> Path:
    """What must survive a restart: the journal, the ids of the ledger's own sessions."""
    return _folder("state")


def config_dir() -> Path:
    """The user's configuration."""
    return _folder("config")


def runtime_dir(environ: Mapping[str, str] | None = None) -> Path:
    """What is of use only while a process runs: announcements, locks. :mod:`core.rendezvous` checks and creates it.

    The plugin inside OpenCode has to come to the same path, so the rule is its own: `$LEDGER_HOME/runtime`, else
    `$XDG_RUNTIME_DIR/ledger-tui`, else `ledger-tui-<uid>` in the folder for temporary files as Node's `os.tmpdir()`
    names it (TMPDIR, TMP, TEMP, /tmp). `environ` defaults to the environment of the process.
    """
    variables = os.environ if environ is None else environ
    home, runtime = variables.get("LEDGER_HOME"), variables.get("XDG_RUNTIME_DIR")
    if home:
        return Path(home).expanduser().absolute() / RUNTIME
    if runtime:
        return Path(runtime).absolute() / _NAME
    named = (variables.get(name) for name in ("TMPDIR", "TMP", "TEMP"))
    temporary = next(filter(None, named), "/tmp")  # noqa: S108 - the name below it is checked before use
    return Path(temporary).absolute() / f"{_NAME}-{os.getuid()}"


def cache_dir() -> Path:
    """What can be made again."""
    return _folder("cache")


def user_config_file() -> Path:
    """The user's configuration file; it need not exist."""
    return config_dir() / "config.toml"


def project_config_file(directory: Path) -> Path:
    """The project's configuration file; it need not exist.

    It is looked for in `directory` and upwards, not beyond the top of the git worktree nor into the home folder. Where
    there is none yet, its place is at the top of the worktree, or in `directory` when that is in no worktree.
    """
    start = directory.absolute()
    home = Path.home()
    for folder in (start, *start.parents):
        if folder == home and folder != start:
            break
        if (folder / PROJECT_FILE).is_file() or (folder / ".git").exists():
            return folder / PROJECT_FILE
    return start / PROJECT_FILE


def ensure(folder: Path) -> Path:
    """Create `folder`, readable by this user only, if it is not there yet.

    Raises:
        FileError: it cannot be created.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot create {folder}: {error.strerror}", "Set LEDGER_HOME to a folder you can write to."
        ) from error
    return folder


def _folder(kind: str) -> Path:
    home = os.environ.get("LEDGER_HOME")
    if home:
        return Path(home).expanduser().absolute() / kind
    from platformdirs import PlatformDirs  # noqa: PLC0415 - not needed when LEDGER_HOME is set

    return Path(getattr(PlatformDirs(_NAME, appauthor=False), f"user_{kind}_path"))
