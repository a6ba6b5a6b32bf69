"""Putting the plugin and the agent's file into place, and taking them away."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec

from core.errors import FileError
from core.installing import texts
from core.installing.files import Found, leftovers, look, missing_folders, remove_empty, write
from core.installing.marks import marked, release
from core.installing.places import Place
from core.text import clean_line

What = Literal["written", "updated", "present", "removed", "absent", "kept"]
_CHANGES: Final = ("written", "updated", "removed")


class Deed(msgspec.Struct, frozen=True, kw_only=True):
    """What was done (in a dry run: would be done) about one file or folder; `detail` is half a sentence, or empty."""

    path: Path
    what: What
    detail: str = ""

    @property
    def changes(self) -> bool:
        """Whether anything is another after it than before."""
        return self.what in _CHANGES


class _Planned(msgspec.Struct, frozen=True):
    found: Found
    text: str
    deed: Deed


def install(place: Place, *, plugin: str, version: str, model: str | None = None, dry_run: bool = False) -> list[Deed]:
    """Write what is missing, bring up to date what an earlier version wrote; nothing is written unless all can be.

    Args:
        place: where.
        plugin: the plugin's text.
        version: of this program.
        model: for the agent's file; empty: none; None: that which the file names already.
        dry_run: only say what would be done.

    Raises:
        FileError: a file in the way is not ours, or was edited or written by a later version; or writing failed, and
            then all is as it was.
        UsageError: `model` is none.
    """
    agent = look(place.agent)
    if model is None:
        model = texts.model_of(agent.text) if agent.state == "ours" else ""
    elif agent.state == "edited" and texts.model_of(agent.text) != texts.check_model(model):
        raise FileError(
            f"{_name(place.agent)} was edited and is not overwritten", "Write the line `model:` into it yourself."
        )
    plans = [
        _plan(place, look(place.plugin), plugin, version, comment="//", line=0),
        _plan(place, agent, texts.agent_text(texts.check_model(model)), version, comment="#", line=1),
    ]
    if not dry_run:
        _write_all([plan for plan in plans if plan.deed.changes])
    return [plan.deed for plan in plans]


def _write_all(plans: Iterable[_Planned]) -> None:
    """Write all the files; when one cannot be written, take back those before it."""
    with contextlib.ExitStack() as undo:
        for plan in plans:
            folders = missing_folders(plan.found.path)
            write(plan.found.path, plan.text, replace=plan.found.state == "ours")
            undo.callback(_take_back, plan.found, folders)
        undo.pop_all()


def _take_back(found: Found, folders: Iterable[Path]) -> None:
    """Bring back what was found at a path before it was written."""
    with contextlib.suppress(OSError, FileError):
        if found.state == "ours":
            write(found.path, found.text, replace=True)
        else:
            found.path.unlink()
            remove_empty(folders)


def _plan(place: Place, found: Found, text: str, version: str, *, comment: str, line: int) -> _Planned:
    _check(place, found, version)
    folders = found.mark.folders if found.mark else len(missing_folders(found.path))
    wanted = marked(text, version=version, folders=folders, comment=comment, line=line)
    if found.state == "edited":
        deed = Deed(path=found.path, what="present", detail="with your edits, left as it is")
    elif found.state == "missing":
        deed = Deed(path=found.path, what="written")
    elif found.text.replace("\r\n", "\n") == wanted:
        deed = Deed(path=found.path, what="present")
    else:
        detail = "" if found.version == version else f"{found.version} to {version}"
        deed = Deed(path=found.path, what="updated", detail=detail)
    if deed.changes:
        _check_writable(found.path)
    return _Planned(found, wanted, deed)


def _check(place: Place, found: Found, version: str) -> None:
    """Raise FileError where nothing may be written."""
    name = _name(found.path)
    if not _is_inside(place, found.path):
        raise FileError(f"{name} would be outside of the project: a folder of it is a link", "Remove the link.")
    blocker = next((folder for folder in found.path.parents if os.path.lexists(folder)), None)
    if blocker is not None and not blocker.is_dir():
        raise FileError(f"{_name(blocker)} is in the way: it is no folder", "Move it away, then run init again.")
    if found.state == "foreign":
        raise FileError(f"{name} is there and not overwritten: {found.why}", "Move it away, then run init again.")
    if found.state != "missing" and release(found.version) > release(version):
        raise FileError(f"{name} is of a later version, {found.version}", f"Update ledger-tui, which is {version}.")
    if found.state == "edited" and found.version != version:
        raise FileError(
            f"{name} is of version {found.version} and was edited, so it is not replaced by {version}",
            "Move it away, then run init again and carry your edits over.",
        )


def _check_writable(path: Path) -> None:
    """Raise FileError where the nearest folder that is there takes no files, so that a dry run says it too."""
    nearest = next(folder for folder in path.parents if folder.is_dir())
    if not os.access(nearest, os.W_OK | os.X_OK):
        hint = "Make the folder writable, or install for all projects with `ledger-tui init --global`."
        raise FileError(f"cannot write {_name(path)}: {_name(nearest)} cannot be written to", hint)


def uninstall(place: Place, *, dry_run: bool = False) -> list[Deed]:
    """Remove the files that are as they were written, and the folders that were made for them and are empty then.

    What was edited, or is not ours, is kept and named. Folders come last, the deepest first.

    Raises:
        FileError: a file cannot be removed.
    """
    finds = [look(place.plugin), look(place.agent)]
    deeds = [_removal(place, found) for found in finds]
    files = [found for found, deed in zip(finds, deeds, strict=True) if deed.what == "removed"]
    broken = [path for found in finds if _is_inside(place, found.path) for path in leftovers(found.path)]
    deeds += [Deed(path=path, what="removed", detail="left by an init that was cut short") for path in broken]
    gone = {found.path for found in files}.union(broken)
    others = len(deeds)
    for folder in _made_for(place, files):
        if _within(folder, place.top) and _entries(folder) <= gone:
            gone.add(folder)
            deeds.append(Deed(path=folder, what="removed", detail="made by init, empty now"))
        elif folder.is_dir():
            deeds.append(Deed(path=folder, what="kept", detail="made by init, but there is something else in it"))
    if not dry_run:
        _remove([*(found.path for found in files), *broken])
        remove_empty(deed.path for deed in deeds[others:] if deed.what == "removed")
    return deeds


def _removal(place: Place, found: Found) -> Deed:
    if found.state == "missing":
        return Deed(path=found.path, what="absent")
    if not _is_inside(place, found.path):
        return Deed(path=found.path, what="kept", detail="outside of the project: a folder of it is a link")
    if found.state == "ours":
        return Deed(path=found.path, what="removed")
    why = "you edited it; delete it yourself" if found.state == "edited" else found.why
    return Deed(path=found.path, what="kept", detail=why)


def _made_for(place: Place, files: Iterable[Found]) -> list[Path]:
    """The folders that had to be made for these files, the deepest first."""
    made = {
        folder
        for found in files
        if found.mark
        for folder in list(found.path.parents)[: found.mark.folders]
        if place.top in folder.parents
    }
    return sorted(made, key=lambda folder: (-len(folder.parts), folder))


def _remove(files: Iterable[Path]) -> None:
    for path in files:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(f"cannot remove {_name(path)}: {error.strerror}") from error


def _entries(folder: Path) -> set[Path]:
    """What is in a folder; itself, which is in no set of removed things, when that cannot be told."""
    try:
        return set(folder.iterdir())
    except OSError:
        return {folder}


def _is_inside(place: Place, path: Path) -> bool:
    """Whether a project's file would really be in the project; the user's own folder may be a link to anywhere."""
    return place.scope == "global" or _within(path.parent, place.top)


def _within(path: Path, top: Path) -> bool:
    try:
        return path.resolve().is_relative_to(top.resolve())
    except (OSError, RuntimeError):
        return False


def _name(path: Path) -> str:
    return clean_line(str(path), 300)
