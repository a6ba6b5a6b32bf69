"""Whether the plugin is installed for a project, and what OpenCode wants beside one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from core.installing.files import look
from core.installing.places import all_places

MODULES: Final = Path("node_modules")
"""Beside `plugins`: OpenCode fetches its own library into it at the first start with any plugin."""
_LIBRARY: Final = MODULES / "@opencode-ai" / "plugin" / "package.json"


def plugin_is_there(directory: Path) -> bool:
    """True when OpenCode loads the plugin for `directory`, from the project or from the user's own configuration."""
    return any(look(place.plugin).state in ("ours", "edited") for place in all_places(directory))


def modules_are_there(root: Path) -> bool:
    """Whether OpenCode has fetched its library into the configuration folder `root`."""
    return (root / _LIBRARY).is_file()
