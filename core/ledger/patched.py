"""Which files a patch changes, in the format of the `apply_patch` tool or as a unified diff."""

from __future__ import annotations

import re
from typing import Final

MAX_FILES: Final = 200
"""Files named by one patch; further ones are dropped."""

_OWN: Final = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t\r]*$", re.MULTILINE)
_UNIFIED: Final = re.compile(r"^(?:--- (?:a/)?|\+\+\+ (?:b/)?)([^\t\r\n]+).*$", re.MULTILINE)


def patched_files(patch: str) -> tuple[str, ...]:
    """Files that a patch adds, changes, moves or deletes, as it names them, each once.

    Lines of a file's content that look like headers count too: such a patch names a file too many, never one too few.
    """
    found = _OWN.findall(patch) or [name for name in _UNIFIED.findall(patch) if name != "/dev/null"]
    return tuple(dict.fromkeys(found))[:MAX_FILES]
