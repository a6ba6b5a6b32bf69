"""Where the generated files go: a project's `.opencode`, or OpenCode's own configuration folder.

OpenCode loads the plugins and agents of both, those of a project from each `.opencode` between the folder it works in
and the top of the work tree. Seen with 1.18.33: where OPENCODE_CONFIG_DIR is set, that folder's are loaded *as well as*
those of the usual configuration folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

PLUGIN: Final = Path("plugins") / "ledger.js"
AGENT: Final = Path("agent") / "ledger-extractor.md"

Scope = Literal["project", "global"]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration folder of OpenCode.

    Attributes:
        scope: a project's, or the user's own.
        root: the folder that holds `plugins` and `agent`; it need not exist.
        top: nothing at or above it is ever removed, and for a project nothing outside it is written.
    """

    scope: Scope
    root: Path
    top: Path

    @property
    def plugin(self) -> Path:
        """The plugin's file."""
        return self.root / PLUGIN

    @property
    def agent(self) -> Path:
        """The agent's file."""
        return self.root / AGENT


def project_place(directory: Path) -> Place:
    """The project's: the nearest `.opencode` from `directory` up to the top of its work tree, else one at that top.

    Outside of a work tree it is that of `directory` itself.
    """
    start = directory.absolute()
    home = Path.home()
    passed: list[Path] = []
    for folder in (start, *start.parents):
        if folder == home and folder != start:
            break
        passed.append(folder)
        if (folder / ".git").exists():
            base = next((f for f in passed if (f / ".opencode").is_dir()), folder)
            return Place(scope="project", root=base / ".opencode", top=base)
    return Place(scope="project", root=start / ".opencode", top=start)


def global_place(environ: Mapping[str, str] | None = None) -> Place:
    """The user's: `$OPENCODE_CONFIG_DIR`, else `$XDG_CONFIG_HOME/opencode`, else `~/.config/opencode`."""
    variables = os.environ if environ is None else environ
    named = variables.get("OPENCODE_CONFIG_DIR")
    return _global(Path(named).absolute() if named else _usual(variables))


def all_places(directory: Path, environ: Mapping[str, str] | None = None) -> list[Place]:
    """Every place whose plugins OpenCode loads for `directory`, that of the project first."""
    variables = os.environ if environ is None else environ
    roots = dict.fromkeys((global_place(variables).root, _usual(variables)))
    return [project_place(directory), *map(_global, roots)]


def _usual(variables: Mapping[str, str]) -> Path:
    base = variables.get("XDG_CONFIG_HOME")
    home = Path(variables.get("HOME") or Path.home())
    return (Path(base) if base else home / ".config").absolute() / "opencode"


def _global(root: Path) -> Place:
    return Place(scope="global", root=root, top=Path(root.anchor))
