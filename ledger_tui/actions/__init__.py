"""The one table of everything a key can do: id, keys, words, where it applies, when it is possible and why not.

The footer, the help of each pane, the palette, the key cheatsheet and the dispatch of key presses all read it.
"""

from __future__ import annotations

from ledger_tui.actions.action import PANE_TITLES, PANES, PLACE_TITLES, WINDOWS, Action, Situation
from ledger_tui.actions.history import HISTORY_ACTIONS
from ledger_tui.actions.panes import PANE_ACTIONS
from ledger_tui.actions.review import REVIEW_ACTIONS
from ledger_tui.actions.screens import SCREEN_ACTIONS

ACTIONS: tuple[Action, ...] = (*REVIEW_ACTIONS, *HISTORY_ACTIONS, *PANE_ACTIONS, *SCREEN_ACTIONS)
"""Every action, in the order in which footer and help show them."""

BY_ID = {action.id: action for action in ACTIONS}

__all__ = ["ACTIONS", "BY_ID", "PANES", "PANE_TITLES", "PLACE_TITLES", "WINDOWS", "Action", "Situation"]
