"""Which agent and which model extract."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import Final

from core.text import clean_line

AUTO: Final = "auto"
PREFERRED: Final = ("ledger-extractor", "momus", "general", "build")
"""For `auto`, the first that is there: the ledger's own agent (`init` installs it), the original plugin's default (not
part of OpenCode), then two that every OpenCode has. Tools are switched off for each of them."""
_GENERAL_PURPOSE: Final = ("general", "build")
_NAMED: Final = 8
"""Names listed in an error."""


class NotThere(Exception):  # noqa: N818 - what is missing, not what went wrong
    """There is no such agent, or no such model; the message names those there are."""


def choose_agent(setting: str, available: Sequence[str]) -> tuple[str, str]:
    """The agent that extracts, and why it is that one, as half a sentence for the user.

    Args:
        setting: value of the setting `agent`: a name or `auto`.
        available: names of the server's agents.

    Raises:
        NotThere: none can be used. OpenCode itself would answer an unknown agent with a bare "UnknownError".
    """
    if setting != AUTO:
        if setting in available:
            return setting, "named by the setting agent"
        raise NotThere(f"There is no agent {clean_line(setting, 80)!r}. {_those('agent', available)}")
    for name in PREFERRED:
        if name in available:
            passed_over = PREFERRED[: PREFERRED.index(name)]
            return name, f"the server has no {' or '.join(passed_over)}" if passed_over else "the ledger's own agent"
    raise NotThere(f"None of {', '.join(PREFERRED)} is there. {_those('agent', available)}")


def choose_model(
    setting: str, *, agent: str, agent_model: str, small_model: str, default_model: str, available: Collection[str]
) -> str:
    """The model to ask for, as provider/model; empty leaves it to the server.

    In this order: the setting `extraction_model`, the model `agent` was configured with, the server's `small_model`,
    its `model`. That of a general-purpose agent, meant for harder work, comes after `small_model`. Only models in
    `available` are taken.

    Raises:
        NotThere: the model of the setting is not available. OpenCode itself would answer "UnknownError".
    """
    if setting:
        if setting in available:
            return setting
        nearest = difflib.get_close_matches(setting, available, n=len(available) or 1, cutoff=0)
        raise NotThere(f"There is no model {clean_line(setting, 80)!r}. {_those('extraction_model', nearest)}")
    wanted = [agent_model, small_model, default_model]
    if agent in _GENERAL_PURPOSE:
        wanted = [small_model, agent_model, default_model]
    return next((model for model in wanted if model in available), "")


def _those(setting: str, available: Sequence[str]) -> str:
    if not available:
        return f"The server offers no {'agent' if setting == 'agent' else 'model'} at all."
    names = [clean_line(name, 80) for name in available[:_NAMED]]
    more = len(available) - len(names)
    return f"Set {setting} to one of: {', '.join(names)}{f' and {more} more' if more else ''}."
