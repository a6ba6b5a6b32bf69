from __future__ import annotations

import pytest
from rich.color import Color

from ledger_tui.theme import ASCII, ROLES, THEMES, UNICODE, palette, textual_theme

COLOURED = [name for name, colours in THEMES.items() if not colours.ansi]
CHIPS = {"title-active", "brand", "replay"}
"""Never under a cursor."""
QUIET = {"frame", "gauge-rest"}
"""Lines and the empty part of gauges: not read, so 4.5 is not needed."""


def test_each_role_has_a_word_a_sign_and_an_ascii_sign_of_one_cell() -> None:
    for role in ROLES.values():
        assert role.word
        assert len(role.sign) == 1
        assert role.plain.isascii() and len(role.plain) == 1


def test_roles_of_one_kind_differ_by_sign_alone() -> None:
    for kind in (("live", "busy", "waiting", "error"), ("calm", "quiet", "stop")):
        for signs in (UNICODE, ASCII):
            assert len({signs.of(role) for role in kind}) == len(kind)
    findings = ("pinned", "known", "fresh", "doubtful", "held", "superseded", "marked")
    assert len({UNICODE.of(role) for role in findings}) == len({ASCII.of(role) for role in findings}) == len(findings)


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [value / 255 for value in colour.get_truecolor()]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(front: Color, back: Color) -> float:
    """Contrast ratio, 1 to 21."""
    low, high = sorted((luminance(front), luminance(back)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", COLOURED)
@pytest.mark.parametrize("cursor", [False, True])
def test_text_can_be_read(name: str, cursor: bool) -> None:
    styles = palette(name).cursor if cursor else palette(name).plain
    for style_name, style in styles.items():
        if style_name in QUIET or (cursor and style_name in CHIPS) or not style.color or not style.bgcolor:
            continue
        assert contrast(style.color, style.bgcolor) >= 4.5, style_name


def test_ansi_uses_the_terminal_s_own_colours() -> None:
    for style in palette("ledger-ansi").plain.values():
        assert style.color is None or style.color.triplet is None
        assert style.bgcolor is None or style.bgcolor.is_default


def test_ascii_stand_ins_keep_the_width() -> None:
    assert ASCII.shown("a…b“c”漢é") == 'a~b"c"???'
    assert UNICODE.shown("a…漢") == "a…漢"


@pytest.mark.parametrize("name", THEMES)
def test_textual_gets_the_same_colours(name: str) -> None:
    theme = textual_theme(name)
    assert theme.name == name
    assert theme.ansi == THEMES[name].ansi
    assert theme.background is not None and theme.background.endswith(THEMES[name].background)
