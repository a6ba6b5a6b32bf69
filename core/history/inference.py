"""Whoever answers questions about sessions, and what an answer is."""

from __future__ import annotations

from typing import Final, Protocol

import msgspec

from core.errors import Refused, Unreachable, UsageError, WrongServer
from core.history.question import Question
from core.ledger.observations import Tokens

GENERAL_FAILURES: Final = (UsageError, Refused, Unreachable, WrongServer)
"""Errors that the next session would meet too: they end a run. Others are about one session."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer.

    Attributes:
        text: as the model wrote it.
        tokens: as the provider counted them; 0 where it does not say.
        cost: US dollars; 0 where nobody says.
        ms: from the question to the answer.
        model: that answered, as it is named there; empty when not known.
        cut: the answer ends where the model's output limit was reached.
    """

    text: str
    tokens: Tokens = Tokens()
    cost: float = 0.0
    ms: int = 0
    model: str = ""
    cut: bool = False


class Distiller(Protocol):
    """A model, wherever it runs."""

    async def distil(self, question: Question) -> Reply:
        """The answer; safe to cancel, and to be asked several times at once.

        Raises:
            LedgerError: there is none. See :data:`GENERAL_FAILURES`.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections; nothing is left behind where the model runs."""
        ...
