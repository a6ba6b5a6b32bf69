"""Checks of what the program itself runs on: Python, Textual, the terminal, the settings."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import metadata
from typing import Final

from core.config import shown
from core.doctor.lines import Line, fail, ok, warn
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings
from core.errors import LedgerError
from core.text import clean_line

OLDEST_PYTHON: Final = (3, 11)
USABLE: Final = (80, 24)
"""Columns and lines at which nothing is missing."""
READABLE: Final = (60, 20)
"""Below that there is only a notice."""
SLOW_ESCAPE_MS: Final = 100
"""tmux waits so long after an escape before it passes it on; its own default was 500 for years."""


def python(_: Surroundings, __: Reach) -> Iterable[Line]:
    """The interpreter."""
    text = f"Python {sys.version.split()[0]} ({sys.executable})"
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield fail("python", text, f"Install Python {'.'.join(map(str, OLDEST_PYTHON))} or later.")
    else:
        yield ok("python", text)


def textual(_: Surroundings, __: Reach) -> Iterable[Line]:
    """The library that draws the dashboard, against the version it is made for."""
    try:
        installed = metadata.version("textual")
    except metadata.PackageNotFoundError:
        yield fail("textual", "not installed", "Install ledger-tui again.")
        return
    required = next((r for r in metadata.requires("ledger-tui") or [] if r.startswith("textual==")), "")
    wanted = required.removeprefix("textual==").split(";")[0].strip()
    if wanted and installed != wanted:
        yield warn("textual", f"Textual {installed}; made for {wanted}", f"pip install textual=={wanted}")
    else:
        yield ok("textual", f"Textual {installed}")


def terminal(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """What the terminal can do."""
    name = clean_line(surroundings.environ.get("TERM", ""), 40)
    if not surroundings.terminal.is_there:
        yield warn("terminal", "there is none here", "The dashboard needs one; `ledger-tui headless` does not.")
    elif name in ("", "dumb"):
        yield fail("terminal", f"TERM is {name or 'not set'}", "Set TERM, for example to xterm-256color.")
    else:
        yield _size(name, surroundings.terminal.size)
        yield _colours(name, surroundings)
    yield _unicode(surroundings)


def _size(name: str, size: tuple[int, int] | None) -> Line:
    if size is None:
        return warn("terminal", f"{name}, of unknown size")
    columns, lines = size
    text = f"{name}, {columns}×{lines}"
    if columns < READABLE[0] or lines < READABLE[1]:
        return warn("terminal", text, f"Too small for the dashboard: make it {USABLE[0]}×{USABLE[1]} or larger.")
    if columns < USABLE[0] or lines < USABLE[1]:
        return warn("terminal", text, f"Some panes are left out below {USABLE[0]}×{USABLE[1]}.")
    return ok("terminal", text)


def _colours(name: str, surroundings: Surroundings) -> Line:
    environ = surroundings.environ
    if environ.get("NO_COLOR"):
        return ok("colour", "none, as NO_COLOR asks for")
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit") or name.endswith("-direct"):
        return ok("colour", "16 million")
    if "256" in name:
        return ok("colour", "256", "COLORTERM=truecolor, if the terminal can show more.")
    fix = "Set TERM to a name with 256color, or COLORTERM=truecolor, if the terminal can show more."
    return warn("colour", "16 at most", fix)


def _unicode(surroundings: Surroundings) -> Line:
    encoding = clean_line(surroundings.terminal.encoding, 40)
    if encoding.lower().replace("-", "").replace("_", "") == "utf8":
        return ok("unicode", encoding)
    if surroundings.settings.ascii:
        return ok("unicode", f"{encoding}; ASCII is drawn, as the setting ascii asks for")
    return warn("unicode", encoding, "Set LANG to a UTF-8 locale, or run `ledger-tui config set ascii true`.")


def tmux(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """The options of tmux that bear on the dashboard; no line outside of tmux."""
    if not surroundings.environ.get("TMUX"):
        return
    name = surroundings.environ.get("TERM", "")
    if not name.startswith(("tmux", "screen")):
        fix = "Set default-terminal to tmux-256color in ~/.tmux.conf, and TERM nowhere else."
        yield warn("tmux", f"TERM is {clean_line(name, 40)} inside of tmux", fix)
    wait = surroundings.run(["tmux", "show-options", "-sqv", "escape-time"])
    if wait.isdigit() and int(wait) > SLOW_ESCAPE_MS:
        yield warn("tmux", f"the escape key takes {wait} ms", "Put `set -sg escape-time 10` into ~/.tmux.conf.")
    if surroundings.run(["tmux", "show-options", "-sqv", "set-clipboard"]) == "off":
        fix = "Put `set -s set-clipboard on` into ~/.tmux.conf to copy over ssh."
        yield warn("tmux", "programs cannot reach the clipboard", fix)
    version = clean_line(surroundings.run(["tmux", "-V"]), 40)
    yield ok("tmux", version or "of unknown version")


def settings(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """The settings that are not defaults, each with where it comes from."""
    try:
        config = surroundings.load()
    except LedgerError as error:
        yield fail("settings", clean_line(error.message, 500), error.hint)
        return
    for warning in config.warnings:
        yield warn("settings", clean_line(warning, 500), "Rename it if it is meant for the ledger; else leave it.")
    given = [value for value in config.values if value.source != "default"]
    if not given:
        yield ok("settings", "all defaults")
    for value in given:
        origin = f"{value.source}: {value.where}" if value.where else value.source
        yield ok("settings", clean_line(f"{value.key} = {shown(value.value) or 'empty'} ({origin})", 500))
