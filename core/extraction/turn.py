"""Whose turn it is: extractions run one at a time, also where several OpenCode processes can carry them out."""

from __future__ import annotations

import asyncio


class Turn:
    """Shared by all runners of one ledger.

    Attributes:
        lock: held while an extraction runs.
        opening: a session is being created: one with our title may be ours although its id is not known yet.
    """

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.opening = False
