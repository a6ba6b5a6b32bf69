"""`init` for one project, as the dashboard offers it: is it needed, what would it do, do it.

Everything here looks at files and processes, and so belongs into a thread.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.installing.install import Deed, install
from core.installing.places import Place, project_place
from core.installing.present import plugin_is_there
from core.installing.telling import deed_line, installed_lines
from core.installing.texts import plugin_text, program_version


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, or would be.

    Attributes:
        deeds: a line for each file.
        then: sentences about OpenCode; empty when nothing changed.
        changes: whether anything is another after it than before.
    """

    deeds: tuple[str, ...]
    then: tuple[str, ...] = ()
    changes: bool


class Preparation:
    """Installs the plugin and the agent's file for the project of `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def is_missing(self) -> bool:
        """True when OpenCode loads the plugin for the project from nowhere."""
        return not plugin_is_there(self._directory)

    def plan(self) -> Told:
        """What :meth:`carry_out` would do. Raises FileError where it would."""
        _, deeds = self._install(dry_run=True)
        return Told(deeds=_lines(deeds, dry_run=True), changes=_change(deeds))

    def carry_out(self) -> Told:
        """Install.

        Raises:
            FileError: a file in the way is not ours or was edited, or writing failed; then nothing was changed.
        """
        place, deeds = self._install(dry_run=False)
        return Told(
            deeds=_lines(deeds, dry_run=False), then=tuple(installed_lines(place, deeds)), changes=_change(deeds)
        )

    def _install(self, *, dry_run: bool) -> tuple[Place, list[Deed]]:
        place, version = project_place(self._directory), program_version()
        return place, install(place, plugin=plugin_text(version), version=version, dry_run=dry_run)


def _lines(deeds: list[Deed], *, dry_run: bool) -> tuple[str, ...]:
    return tuple(deed_line(deed, dry_run=dry_run) for deed in deeds)


def _change(deeds: list[Deed]) -> bool:
    return any(deed.changes for deed in deeds)
