"""Which root sessions the plugin in OpenCode asks about.

Several OpenCode processes may work on one project, with the plugin or without it, and nothing tells which session is
in which. So it is learned by root session: one that was asked about has the plugin; one whose call ended without a
question has not, until it is asked about. One of which nothing is known yet has it while any plugin speaks.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

MAX_SESSIONS: Final = 2_000
GONE: Final = "The plugin in OpenCode no longer asks about this session's calls: its notes go by patch."
NEVER_THERE: Final = (
    "No plugin asks about this session's calls: its notes go by patch."
    " An OpenCode that was started before `ledger-tui init` has to be started again."
)
BACK: Final = "The plugin in OpenCode asks again: notes go in flight."


class Asking:
    """What was learned.

    Attributes:
        anybody: some plugin speaks, as far as is known.
    """

    def __init__(self) -> None:
        self.anybody = False
        self._asks: OrderedDict[str, bool] = OrderedDict()
        self._told: set[str] = set()

    @property
    def silent(self) -> tuple[str, ...]:
        """The root sessions without a plugin."""
        return tuple(root for root, asks in self._asks.items() if not asks)

    def expects(self, root: str) -> bool:
        """Whether a question about a call of this root session is worth waiting for."""
        return self._asks.get(root, self.anybody)

    def greeted(self) -> None:
        """A plugin was loaded: any session that had none may be in its process now."""
        self.anybody = True
        for root in self.silent:
            del self._asks[root]

    def asked(self, root: str | None) -> str:
        """The plugin asked about a call of `root` (None: not known yet); returns what is to be told, if anything."""
        self.anybody = True
        if root is None:
            return ""
        self._learn(root, asks=True)
        if root not in self._told:
            return ""
        self._told.discard(root)
        return BACK

    def not_asked(self, root: str) -> str:
        """A call of `root` ended without a question; returns what is to be told, if anything."""
        had_asked = self._asks.get(root, False)
        self._learn(root, asks=False)
        self.anybody = any(self._asks.values())
        if root in self._told:
            return ""
        self._told.add(root)
        return GONE if had_asked else NEVER_THERE

    def _learn(self, root: str, *, asks: bool) -> None:
        self._asks[root] = asks
        self._asks.move_to_end(root)
        if len(self._asks) > MAX_SESSIONS:
            forgotten, _ = self._asks.popitem(last=False)
            self._told.discard(forgotten)
