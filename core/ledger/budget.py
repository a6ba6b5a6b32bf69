"""What extractions may spend, in tokens as OpenCode counts them."""

from __future__ import annotations


class Budget:
    """Spending of one root session, and of the day over all sessions. A limit of 0 is none."""

    def __init__(self, session_limit: int = 0, day_limit: int = 0) -> None:
        """Nothing is spent yet; both limits are at least 0."""
        self.session_limit = session_limit
        self.day_limit = day_limit
        self.session_tokens = 0
        """Spent by this session; set it when a session goes on."""
        self.day_tokens = 0
        """Spent on this day by all sessions, as far as is known."""

    def spent(self, tokens: int) -> None:
        """An extraction of this session ended, well or not, and cost so many tokens."""
        self.session_tokens += tokens
        self.day_tokens += tokens

    def day(self, tokens: int) -> None:
        """All sessions together, this one included, have spent so many tokens on the present day."""
        self.day_tokens = tokens

    @property
    def reached(self) -> str:
        """Why no extraction may start, as a sentence for people; empty while there is something left."""
        if 0 < self.session_limit <= self.session_tokens:
            return _sentence("This session's", self.session_tokens, self.session_limit, "session")
        if 0 < self.day_limit <= self.day_tokens:
            return _sentence("Today's", self.day_tokens, self.day_limit, "day")
        return ""


def _sentence(whose: str, spent: int, limit: int, which: str) -> str:
    return (
        f"{whose} extractions have used {spent:,} of {limit:,} tokens: no more are started, known facts are still "
        f"shown (extraction_budget_{which}_tokens)."
    )
