"""All that the checks look at, passed in, so that tests can make up a machine."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from core.config import Config
from core.errors import LedgerError
from core.host.options import HostOptions
from core.settings import Settings

COMMAND_SECONDS: Final = 1.0


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """Where the dashboard would be drawn; `size` is columns and lines, None where that cannot be told."""

    is_there: bool
    size: tuple[int, int] | None = None
    encoding: str = "utf-8"


def run_command(command: list[str]) -> str:
    """Standard output of a command, stripped; empty when it fails or takes too long."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@dataclass(frozen=True)
class Surroundings:
    """The machine as seen from one project.

    Attributes:
        options: the project's folder, the server that was named, the password.
        named_by: what named the server: a flag or a variable; empty when none was.
        load: reads the settings; raises LedgerError.
        environ: the environment.
        version: of this program.
        state_dir: the ledger's own files.
        run: gives the standard output of a command.
        proc: the process file system.
    """

    options: HostOptions
    load: Callable[[], Config]
    environ: Mapping[str, str]
    terminal: Terminal
    version: str
    state_dir: Path
    named_by: str = ""
    run: Callable[[list[str]], str] = field(default=run_command)
    proc: Path = Path("/proc")

    @property
    def directory(self) -> Path:
        """The project."""
        return self.options.directory

    @cached_property
    def settings(self) -> Settings:
        """The settings; the defaults where they cannot be read, about which a check of its own complains."""
        try:
            return self.load().settings
        except LedgerError:
            return Settings()
