"""Whether the plugin is installed for a project."""

from __future__ import annotations

from pathlib import Path

from core.installing.files import look
from core.installing.places import all_places


def plugin_is_there(directory: Path) -> bool:
    """True when OpenCode loads the plugin for `directory`, from the project or from the user's own configuration."""
    return any(look(place.plugin).state in ("ours", "edited") for place in all_places(directory))
