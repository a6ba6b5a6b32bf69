"""Colours and signs: the roles things can have, and the palettes that paint them.

A role always has a word and a sign besides its colour, and the sign has an ASCII stand-in, so that nothing is said by
colour alone. A palette maps style names (roles among them) to Rich styles; Textual's own widgets get a theme made from
the same colours.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style

from core.errors import UsageError

if TYPE_CHECKING:
    from textual.theme import Theme

DEFAULT_THEME = "ledger-dark"


@dataclass(frozen=True, slots=True)
class Role:
    """Something a row or a chip can be: its word, its sign, and the sign in ASCII."""

    word: str
    sign: str
    plain: str


ROLES: dict[str, Role] = {
    "live": Role("live", "●", "*"),
    "busy": Role("running", "◐", ">"),
    "waiting": Role("waiting", "○", "o"),
    "error": Role("error", "✗", "x"),
    "pinned": Role("pinned", "◆", "#"),
    "known": Role("known", "●", "*"),
    "fresh": Role("fresh", "✓", "+"),
    "doubtful": Role("doubtful", "◌", "~"),
    "held": Role("held", "?", "?"),
    "superseded": Role("superseded", "×", "-"),
    "marked": Role("marked", "▲", "!"),
    "calm": Role("calm", "●", "*"),
    "quiet": Role("quiet", "▲", "!"),
    "stop": Role("STOP", "■", "#"),
}
"""Every role by its name; the names are style names too."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters the screen draws with besides letters."""

    full: str
    empty: str
    cursor: str
    chosen: str
    child: str
    down: str
    warn: str
    dot: str
    crumb: str
    dash: str
    gap: str
    frame: str
    """Top left, top right, bottom left, bottom right, horizontal, vertical, scroll thumb."""
    plain: bool = False

    def of(self, role: str) -> str:
        """The sign of a role."""
        found = ROLES[role]
        return found.plain if self.plain else found.sign

    def shown(self, text: str) -> str:
        """`text` as this terminal can show it: unchanged, or with ASCII stand-ins of the same width."""
        return text if not self.plain or text.isascii() else "".join(map(_to_ascii, text))


def check_theme(name: str) -> None:
    """Raises UsageError when there is no theme of this name."""
    if name not in THEMES:
        nearest = get_close_matches(name, THEMES, n=1, cutoff=0.0)
        raise UsageError(f"Unknown theme {name!r}", f"Did you mean {nearest[0]}? Themes: {', '.join(THEMES)}.")


@lru_cache(maxsize=4096)
def _to_ascii(character: str) -> str:
    return character if character.isascii() else _STAND_INS.get(character, "?" * cell_len(character))


_STAND_INS = {
    **{"…": "~", "–": "-", "—": "-", "·": "|", "“": '"', "”": '"', "‘": "'", "’": "'", "↓": "v", "↑": "^", "×": "x"},
    **{"▸": ">", "⋮": ":", "└": "`", "≈": "~", "→": ">"},
}

UNICODE = Signs("▰", "▱", "▸", "✓", "└", "↓", "▲", "·", "▸", "–", "⋮", "╭╮╰╯─│┃")
ASCII = Signs("#", ".", ">", "+", "\\", "v", "!", "|", ">", "-", ":", "++++-|#", plain=True)


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one theme, as Rich and Textual both read them."""

    background: str
    panel: str
    cursor: str
    text: str
    muted: str
    faint: str
    frame: str
    accent: str
    on_accent: str
    green: str
    blue: str
    amber: str
    red: str
    violet: str
    mark: str
    on_mark: str
    dark: bool = True
    ansi: bool = False


THEMES: dict[str, Colours] = {
    "ledger-dark": Colours(
        background="#12161b",
        panel="#1a2027",
        cursor="#222d37",
        text="#d9e0e7",
        muted="#9aa7b4",
        faint="#8b97a3",
        frame="#3a4653",
        accent="#6fd0bd",
        on_accent="#0d1614",
        green="#86d28f",
        blue="#7cb7f5",
        amber="#e6b866",
        red="#ff8a85",
        violet="#c9a5f7",
        mark="#4a3f1b",
        on_mark="#ffe9a8",
    ),
    "ledger-light": Colours(
        background="#fbfaf6",
        panel="#f0eee7",
        cursor="#e2eaec",
        text="#20262c",
        muted="#4f5a64",
        faint="#5b6670",
        frame="#b9b9ae",
        accent="#0b665c",
        on_accent="#ffffff",
        green="#1d6b2c",
        blue="#0d559e",
        amber="#7a4d00",
        red="#a8202a",
        violet="#6a34a8",
        mark="#ffe08a",
        on_mark="#3a2a00",
        dark=False,
    ),
    "ledger-ansi": Colours(
        background="default",
        panel="default",
        cursor="default",
        text="default",
        muted="default",
        faint="default",
        frame="default",
        accent="cyan",
        on_accent="default",
        green="green",
        blue="blue",
        amber="yellow",
        red="red",
        violet="magenta",
        mark="default",
        on_mark="default",
        ansi=True,
    ),
}
"""The themes by name; `ledger-ansi` uses the terminal's own sixteen colours and its background."""


@dataclass(frozen=True, slots=True)
class Palette:
    """Rich styles by style name, once plain and once for the row under the cursor."""

    name: str
    plain: dict[str, Style]
    cursor: dict[str, Style]
    colours: Colours

    def style(self, name: str, *, cursor: bool = False) -> Style:
        """The style called `name`, "text" when there is none."""
        table = self.cursor if cursor else self.plain
        return table.get(name) or table["text"]


def _colour_of(c: Colours) -> dict[str, str]:
    """Foreground colour by style name."""
    return {
        **{"text": c.text, "strong": c.text, "muted": c.muted, "faint": c.faint, "frame": c.frame, "topic": c.violet},
        **{"frame-active": c.accent, "title": c.muted, "key": c.accent, "match": c.accent, "tab": c.faint},
        **{"live": c.green, "busy": c.blue, "waiting": c.amber, "error": c.red, "warn": c.amber, "info": c.text},
        **{"pinned": c.accent, "known": c.text, "fresh": c.green, "doubtful": c.amber, "held": c.violet},
        **{
            "superseded": c.faint,
            "marked": c.amber,
            "calm": c.green,
            "quiet": c.amber,
            "stop": c.red,
            "gauge-rest": c.faint,
        },
    }


_BOLD = {"strong", "key", "stop", "topic", "title-active", "brand", "replay", "match", "mark", "pinned"}
_DIM_IN_ANSI = {"muted", "faint", "frame", "title", "superseded", "gauge-rest", "tab"}
_CHIPS = ("title-active", "brand")


def _plain_styles(c: Colours) -> dict[str, Style]:
    styles = {
        name: Style(
            color=colour,
            bgcolor=c.background,
            bold=name in _BOLD or None,
            dim=(c.ansi and name in _DIM_IN_ANSI) or None,
        )
        for name, colour in _colour_of(c).items()
    }
    if c.ansi:
        styles |= {name: Style(color=c.accent, bold=True, reverse=True) for name in _CHIPS}
        styles["replay"] = Style(color=c.amber, bold=True, reverse=True)
        styles["mark"] = Style(bold=True, underline=True, reverse=True)
        return styles
    styles |= {name: Style(color=c.on_accent, bgcolor=c.accent, bold=True) for name in _CHIPS}
    styles["replay"] = Style(color=c.background, bgcolor=c.amber, bold=True)
    styles["mark"] = Style(color=c.on_mark, bgcolor=c.mark, bold=True)
    return styles


@lru_cache(maxsize=8)
def palette(name: str) -> Palette:
    """The palette of the theme `name`; the default theme's for an unknown name."""
    colours = THEMES.get(name) or THEMES[DEFAULT_THEME]
    plain = _plain_styles(colours)
    under = Style(color="default", reverse=True, dim=False) if colours.ansi else Style(bgcolor=colours.cursor)
    cursor = {key: style if key == "mark" else style + under for key, style in plain.items()}
    return Palette(name, plain, cursor, colours)


def textual_theme(name: str) -> Theme:
    """The Textual theme made from the same colours, for its own widgets (inputs)."""
    from textual.theme import BUILTIN_THEMES, Theme  # noqa: PLC0415 - keeps this module free of Textual

    c = THEMES[name]

    def colour(value: str) -> str:
        return f"ansi_{value}" if c.ansi else value

    return Theme(
        name=name,
        primary=colour(c.accent),
        secondary=colour(c.blue),
        accent=colour(c.accent),
        warning=colour(c.amber),
        error=colour(c.red),
        foreground=colour(c.text),
        background=colour(c.background),
        surface=colour(c.panel),
        panel=colour(c.panel),
        boost=colour(c.panel),
        success=colour(c.green),
        dark=c.dark,
        ansi=c.ansi,
        variables={
            **(BUILTIN_THEMES["ansi-dark"].variables if c.ansi else {}),
            "border": colour(c.accent),
            "border-blurred": colour(c.frame),
        },
    )
