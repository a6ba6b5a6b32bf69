"""Secrets in outside text, replaced by ``[masked:KIND]``; import it through :mod:`core.text`."""

from __future__ import annotations

__all__ = ["mask"]


def mask(text: str) -> str:
    """Replace what looks like a secret: keys and tokens of known form, passwords in URLs, headers, assignments, PEM.

    Hashes, UUIDs, commit ids, file names and plain numbers stay unless a key-like name is assigned to them. Masking
    twice changes nothing more. Takes linear time and never raises.
    """
    # The patterns take tens of milliseconds to compile: nothing that only draws a first screen should pay for them.
    from core.masking.stages import STAGES  # noqa: PLC0415

    for stage in STAGES:
        text = stage(text)
    return text
