"""A made-up machine for the checks: nothing of the real one is looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.config import Config, load
from core.doctor.lines import Line
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings, Terminal
from core.host.options import HostOptions

VERSION = "0.2.0"
NO_WAY = Reach()


class Stage:
    """Makes surroundings in a temporary folder; `environ` and `sets` may be changed before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        (self.project / ".git").mkdir(parents=True)
        (root / "run").mkdir()
        (root / "proc").mkdir()
        self.environ = {
            "HOME": str(root / "home"),
            "XDG_RUNTIME_DIR": str(root / "run"),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PATH": str(root / "bin"),
        }
        self.sets = [f"dump_path={root / 'facts.json'}"]
        self.terminal = Terminal(is_there=True, size=(120, 40))
        self.said: dict[str, str] = {}
        """What commands put out."""
        self.options: dict[str, Any] = {}

    def config(self) -> Config:
        return load(directory=self.project, sets=self.sets, environ={})

    def surroundings(self, **changes: Any) -> Surroundings:
        given: dict[str, Any] = {
            "options": HostOptions(directory=self.project, **self.options),
            "load": self.config,
            "environ": self.environ,
            "terminal": self.terminal,
            "version": VERSION,
            "state_dir": self.root / "state",
            "run": lambda command: self.said.get(" ".join(command), ""),
            "proc": self.root / "proc",
        }
        return Surroundings(**{**given, **changes})

    def lines(self, check: Callable[..., Any], way: Reach = NO_WAY, **changes: Any) -> list[Line]:
        """What a check that does not wait says."""
        return list(check(self.surroundings(**changes), way))


def summary(lines: list[Line]) -> list[tuple[str, str]]:
    return [(line.check, line.status) for line in lines]
