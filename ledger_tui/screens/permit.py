"""A permission the agent waits for, whole, and the keys that give or refuse it."""

from __future__ import annotations

from typing import ClassVar

from core.text import clip
from core.views import PermissionView, Reply
from ledger_tui.actions import Situation
from ledger_tui.desk import Desk
from ledger_tui.format import tame
from ledger_tui.rows.asked import permission_lines
from ledger_tui.rows.look import Line
from ledger_tui.screens.request import Request

REPLIES: dict[str, Reply] = {"once": "once", "always": "always", "reject": "reject"}
"""Answers by action."""


class Permit(Request[Reply | None]):
    """Dismissed with the answer; None for escape, and when somebody else answered."""

    context: ClassVar[str] = "permission"

    def __init__(self, desk: Desk, asked: PermissionView) -> None:
        super().__init__(desk, asked, " for a permission")
        self._sure = False

    def lines(self, width: int) -> list[Line]:
        """The request and the meaning of each answer."""
        answers = [(self.desk.keys.shown(action), reply) for action, reply in REPLIES.items()]
        return permission_lines(self.asked, self.who, answers, width)

    async def act(self, action: str, now: Situation) -> None:
        """Answer, move, or go back; what cannot be taken back is asked for twice."""
        sure, self._sure = self._sure, action == "always"
        if action == "always" and not sure:
            what = clip(tame(self.asked.always) or "it", 40)
            self.say(f"Press {self.desk.keys.shown(action)} again to allow {what} from now on.", ok=False)
        elif action in REPLIES:
            self.dismiss(REPLIES[action])
        else:
            await super().act(action, now)
