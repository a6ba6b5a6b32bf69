"""What the generated files say."""

from __future__ import annotations

import json
import re
from importlib import metadata, resources
from typing import Final

from core.errors import FileError, UsageError

PLACEHOLDER: Final = "__VERSION__"
_MODEL: Final = re.compile(r"[^/\s]+/\S+")
_MODEL_LINE: Final = re.compile(r'^model: ("(?:[^"\\\n]|\\.)*")\r?$', re.MULTILINE)

_AGENT: Final = """\
---
description: Distils facts from tool outputs for ledger-tui.
mode: subagent
hidden: true
temperature: 0
{model}permission:
  "*": deny
---
You distil established facts from tool outputs, and answer with nothing but what the message asks for.
"""


def program_version() -> str:
    """Version of the installed ledger-tui."""
    return metadata.version("ledger-tui")


def plugin_text(version: str) -> str:
    """The plugin for OpenCode, of that version.

    Raises:
        FileError: the installed package lacks it.
    """
    try:
        source = resources.files("core.opencode").joinpath("plugin.js").read_text(encoding="utf-8")
    except OSError as error:
        raise FileError("the installed package lacks core/opencode/plugin.js", "Install ledger-tui again.") from error
    return source.replace(PLACEHOLDER, version)


def agent_text(model: str) -> str:
    """The agent that extracts; `model` as provider/model, empty leaves the choice to the ledger's settings."""
    return _AGENT.format(model=f"model: {json.dumps(model)}\n" if model else "")


def model_of(text: str) -> str:
    """The model that a file made of :func:`agent_text` names; empty when none."""
    found = _MODEL_LINE.search(text)
    return str(json.loads(found[1])) if found else ""


def check_model(model: str) -> str:
    """The model as it was given.

    Raises:
        UsageError: it is not written as provider/model.
    """
    if model and (not _MODEL.fullmatch(model) or not model.isprintable()):
        raise UsageError(f"--model {model!r} is no model", "Write provider/model, as `opencode models` lists them.")
    return model
