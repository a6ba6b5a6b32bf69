"""The flags that every sub-command takes, and what becomes of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from core.errors import UsageError
from ledger_tui.output import complain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.config import Config
    from core.host.options import HostOptions
    from core.opencode.address import Address
    from core.settings import Settings

ALL: Final = ("--server", "--session", "--latest", "--directory", "--password-file", "--set")
"""The common flags."""
SETTINGS: Final = ("--directory", "--set")
"""Those with a meaning where no server is concerned: whose settings, and which."""


def add_common(
    parser: argparse.ArgumentParser,
    used: Collection[str] = ALL,
    *,
    first: bool = False,
    words: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Add the common flags.

    They are accepted before and after the sub-command, all of them everywhere, and those in `used` are shown in its
    help. No default is stored, so that the one place does not overwrite the other; `first` marks the place before it,
    whose `--set` are kept apart to come first. `words`: help of flags that mean something of their own to a command.
    """
    common = parser.add_argument_group("common options")

    def add(flag: str, *, help: str, **how: Any) -> None:
        common.add_argument(flag, help=words.get(flag, help) if flag in used else argparse.SUPPRESS, **how)

    add(
        "--server",
        metavar="URL",
        default=argparse.SUPPRESS,
        help="address of OpenCode, for example http://127.0.0.1:4096 or 4096 (default: $OPENCODE_SERVER, else the one "
        "found on loopback for this folder)",
    )
    add(
        "--session",
        metavar="ID",
        default=argparse.SUPPRESS,
        help="follow this session (default: the busy one of the folder)",
    )
    add(
        "--latest",
        action="store_true",
        default=argparse.SUPPRESS,
        help="follow the session that was active last (default: no)",
    )
    add(
        "--directory",
        metavar="DIR",
        default=argparse.SUPPRESS,
        help="folder of the project (default: the current folder)",
    )
    add(
        "--password-file",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="file that holds the server's password (default: $OPENCODE_SERVER_PASSWORD)",
    )
    add(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        dest="set_first" if first else "set_last",
        default=argparse.SUPPRESS,
        help="override a setting, may be repeated (default: none); `ledger-tui config list` shows all and their values",
    )


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add `--resume`, for commands that follow sessions."""
    parser.add_argument(
        "--resume",
        metavar="ID",
        default=argparse.SUPPRESS,
        help="begin the session followed (without --session: the first that works) with the facts stored of this one, "
        "if it has none (default: no)",
    )


def database() -> Path:
    """Where the ledger keeps its facts."""
    from core.paths import state_dir  # noqa: PLC0415
    from core.store.database import DATABASE  # noqa: PLC0415

    return state_dir() / DATABASE


def _resumed(args: argparse.Namespace) -> str | None:
    """The whole id of the session named by `--resume`.

    Raises:
        UsageError: it is not stored.
        FileError: the database cannot be used.
    """
    start = getattr(args, "resume", None)
    if start is None:
        return None
    if not database().exists():
        raise UsageError("--resume: no facts are stored yet", "Leave it out.")
    from core.store.archive import Archive  # noqa: PLC0415

    with Archive(database()) as archive:
        return archive.find(start).root


def config(args: argparse.Namespace, *, quiet: bool = False) -> Config:
    """The settings in force and where they come from; what was ignored is complained about, unless `quiet`.

    Raises:
        UsageError, FileError: see :func:`core.config.load`.
    """
    from core.config import load  # noqa: PLC0415

    sets = [*getattr(args, "set_first", []), *getattr(args, "set_last", [])]
    found = load(directory=directory(args), sets=sets)
    for warning in () if quiet else found.warnings:
        complain(warning)
    return found


def screen_settings(args: argparse.Namespace) -> Settings:
    """The settings in force, for a dashboard: theme and keys are known to be good.

    Raises:
        UsageError, FileError: see :func:`core.config.load`; an unknown theme, or keys that cannot be, with where they
            were set.
    """
    from ledger_tui.keys import keymap  # noqa: PLC0415
    from ledger_tui.theme import check_theme  # noqa: PLC0415

    found = config(args)
    try:
        check_theme(found.settings.theme)
    except UsageError as error:
        raise _at(found.value("theme").where, error) from error
    try:
        keymap(found.settings.keys)
    except UsageError as error:
        where = next(_places_of_wrong_keys(found), "")
        raise _at(where, error) from error
    return found.settings


def _places_of_wrong_keys(found: Config) -> Iterator[str]:
    """The sources whose keys are wrong by themselves; then all of them, which are wrong together."""
    from ledger_tui.keys import keymap  # noqa: PLC0415

    given: dict[str, dict[str, str]] = {}
    for value in found.values:
        if value.key.startswith("keys."):
            given.setdefault(value.where, {})[value.key.removeprefix("keys.")] = value.value
    for where, keys in given.items():
        try:
            keymap(keys)
        except UsageError:
            yield where
    yield " and ".join(given)


def _at(where: str, error: UsageError) -> UsageError:
    return UsageError(f"{where}: {error.message[0].lower()}{error.message[1:]}", error.hint) if where else error


def host_options(args: argparse.Namespace) -> HostOptions:
    """Which server and which session. The flag wins over OPENCODE_SERVER; with neither the host looks on loopback.

    Raises:
        UsageError: an address that is none, flags that exclude each other.
        FileError: the password file cannot be read or is empty.
    """
    from core.host.options import HostOptions  # noqa: PLC0415
    from core.opencode.address import DEFAULT_USERNAME, find_credentials  # noqa: PLC0415

    session, latest = getattr(args, "session", None), getattr(args, "latest", False)
    if session and latest:
        raise UsageError("--session and --latest exclude each other", "Leave one of them out.")
    address = _address(args)
    file = getattr(args, "password_file", None)
    found = find_credentials(password_file=Path(file).expanduser() if file else None)
    credentials = found if file else (address and address.credentials) or found
    return HostOptions(
        server=address.url if address else None,
        password=credentials.password if credentials else None,
        username=credentials.username if credentials else DEFAULT_USERNAME,
        directory=directory(args),
        session=session,
        latest=latest,
        resume=_resumed(args),
    )


def _address(args: argparse.Namespace) -> Address | None:
    from core.opencode.address import parse_address  # noqa: PLC0415

    where, text = "--server", getattr(args, "server", None)
    if text is None:
        where, text = "OPENCODE_SERVER", os.environ.get("OPENCODE_SERVER") or None
    if text is None:
        return None
    try:
        return parse_address(text.strip().removeprefix(":"))
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", error.hint) from error


def directory(args: argparse.Namespace) -> Path:
    """The project's folder, absolute and without symbolic links.

    Raises:
        UsageError: there is no such folder.
    """
    try:
        folder = Path(getattr(args, "directory", ".")).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        name = getattr(args, "directory", "the current folder")
        raise UsageError(f"{name}: no such folder", "Give an existing one with --directory.") from error
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "Give the project's folder with --directory.")
    return folder
