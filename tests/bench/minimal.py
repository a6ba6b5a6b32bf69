"""The smallest Textual app there is: what start and memory of the dashboard are compared with."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static


class Minimal(App[None]):
    """One line of text."""

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static("minimal app", markup=False)


if __name__ == "__main__":
    Minimal().run()
