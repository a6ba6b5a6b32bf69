"""Which key does what: the table of actions with the user's own keys laid over it.

Key names are Textual's ("ctrl+p", "pagedown", "f2"), printable characters stand for themselves ("?", "G"), the comma,
which divides keys in a list, is called "comma".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from core.errors import UsageError
from ledger_tui.actions import ACTIONS, BY_ID, Action, Situation

_KEYS = "enter escape space tab backspace delete insert home end pageup pagedown up down left right comma"
_NAMED = frozenset(_KEYS.split()) | {f"f{number}" for number in range(1, 25)}
_MODIFIED = re.compile(r"(?:(?:ctrl|alt|shift|super)\+)+(.+)")
_ALIASES = {
    "esc": "escape",
    "return": "enter",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "page_up": "pageup",
    "page_down": "pagedown",
}
_SHOWN = {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup", "comma": ","}
_HINT = 'Write for example keys.pin = "V" or keys.down = "j, down, ctrl+n".'


class Keymap:
    """Keys by action and actions by key, per context."""

    def __init__(self, keys: Mapping[str, tuple[str, ...]]) -> None:
        self._keys = dict(keys)
        self._by_key: dict[str, list[Action]] = {}
        for action in ACTIONS:
            for key in self._keys[action.id]:
                self._by_key.setdefault(key, []).append(action)

    def keys(self, action: str) -> tuple[str, ...]:
        """All keys of an action; empty when the user took them away."""
        return self._keys[action]

    def shown(self, action: str) -> str:
        """The first key of an action as a person writes it; its palette name when it has none."""
        keys = self._keys[action]
        return shown(keys[0]) if keys else f"{shown(self._keys['palette'][0])} {BY_ID[action].label}"

    def action(self, key: str, context: str) -> Action | None:
        """What `key` does in `context`."""
        return next((action for action in self._by_key.get(key, ()) if context in action.contexts), None)

    def elsewhere(self, key: str) -> Action | None:
        """What `key` does in some other context, to say so."""
        return next(iter(self._by_key.get(key, ())), None)


def keymap(own: Mapping[str, str]) -> Keymap:
    """The table with the user's keys (action id -> comma-separated keys; empty: none) laid over it.

    Raises:
        UsageError: an unknown action or key, or one key for two actions in the same place.
    """
    keys = {action.id: action.keys for action in ACTIONS}
    for action, written in own.items():
        if action not in BY_ID:
            near = get_close_matches(action, BY_ID, n=1, cutoff=0.0)
            hint = f"Did you mean {near[0]}? The palette of the dashboard lists all actions."
            raise UsageError(f"Unknown action {action!r} in the setting keys", hint)
        keys[action] = tuple(dict.fromkeys(_key(piece, action) for piece in written.split(",") if piece.strip()))
    if not keys["palette"]:
        raise UsageError(
            "The setting keys leaves the action palette without a key", "It is the way to every other action."
        )
    _refuse_clashes(keys, own)
    return Keymap(keys)


def _key(written: str, action: str) -> str:
    name = written.strip()
    if len(name) == 1:
        return name
    name = _ALIASES.get(name.lower(), name.lower())
    modified = _MODIFIED.fullmatch(name)
    base = modified[1] if modified else name
    if base not in _NAMED and not (modified and len(base) == 1 and base.isprintable()):
        raise UsageError(f"Unknown key {written.strip()!r} for the action {action} in the setting keys", _HINT)
    return name


def _refuse_clashes(keys: Mapping[str, tuple[str, ...]], own: Mapping[str, str]) -> None:
    taken: dict[tuple[str, str], str] = {}
    for action in ACTIONS:
        for key in keys[action.id]:
            for context in action.contexts:
                other = taken.setdefault((context, key), action.id)
                if other != action.id:
                    raise UsageError(
                        f"The key {shown(key)} stands for both {other} and {action.id} in {context}",
                        f"Give one of them another key in the setting keys ({', '.join(own)} set there now).",
                    )


def canonical(key: str, character: str | None) -> str:
    """The name this module uses for a key press that Textual calls `key`."""
    if character and len(character) == 1 and character.isprintable() and character != " ":
        return "comma" if character == "," else character
    return key


def shown(key: str) -> str:
    """A key as a person writes it."""
    return _SHOWN.get(key, key)


def footer(keys: Keymap, now: Situation) -> list[tuple[str, str, bool, int, str]]:
    """Key, label, possible, rank and action id of what the footer may show here."""
    out = []
    for action in ACTIONS:
        if action.footer and now.context in action.contexts and keys.keys(action.id):
            possible = not action.check(now)
            never = ("Findings", "Agent") if now.read_only else ()
            if possible or action.group not in ("Replay", "Program", "Answer", "Agent", *never):
                out.append((shown(keys.keys(action.id)[0]), action.label, possible, action.footer, action.id))
    return out


def cheatsheet(keys: Keymap) -> str:
    """All keys as a Markdown table, for the README."""
    rows = ["| key | action | what it does |", "|---|---|---|"]
    for action in ACTIONS:
        written = " ".join(f"`{shown(key)}`" for key in keys.keys(action.id))
        rows.append(f"| {written} | {action.id} | {action.help} |")
    return "\n".join(rows)
