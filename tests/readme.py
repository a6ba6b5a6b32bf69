"""The tables of the README that are made from the program: keys and settings. `python -m tests.readme` writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from core.settings import Settings
from ledger_tui.actions import ACTIONS, PANES, PLACE_TITLES

README = Path(__file__).parents[1] / "README.md"


def keys() -> str:
    """Every action with its keys, its id for `[keys]`, and where it applies."""
    rows = ["| keys | action | what it does | where |", "|---|---|---|---|"]
    for action in ACTIONS:
        shown = " ".join(f"`{key}`" for key in action.keys)
        rows.append(f"| {shown} | `{action.id}` | {action.help} | {_places(action.contexts)} |")
    return "\n".join(rows)


def settings() -> str:
    """Every setting with its default and its description."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        value = Settings().model_dump(mode="json")[name]
        shown = value if isinstance(value, str) else json.dumps(value)
        shown = " ".join(value) if isinstance(value, list) else shown
        default = f"`{shown}`" if shown else "empty"
        rows.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(rows)


def _places(contexts: frozenset[str]) -> str:
    if contexts >= set(PANES):
        return "everywhere" if "welcome" in contexts else "lists"
    places = (
        *PANES,
        "held",
        "receipt",
        "held_receipt",
        "repeats",
        "help",
        "inbox",
        "picker",
        "permission",
        "question",
        "welcome",
        "history",
        "past",
        "past_fact",
    )
    return ", ".join(PLACE_TITLES.get(place, place) for place in places if place in contexts)


def rendered(text: str) -> str:
    """The README with its tables made anew."""
    for name, table in (("keys", keys()), ("settings", settings())):
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{table}\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    README.write_text(rendered(README.read_text()))
    sys.stdout.write("README.md: tables written\n")
