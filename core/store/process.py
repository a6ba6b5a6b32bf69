"""Which process is meant, and whether it still lives: a process id alone may have been given to another one since."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")


def this_process() -> str:
    """Names this process: boot, process id, start time; where the system has no /proc, the process id alone."""
    return _name(os.getpid()) or f"-:{os.getpid()}:-"


def is_running(name: str) -> bool:
    """True while the process that was given this name by :func:`this_process` lives."""
    boot, _, rest = name.partition(":")
    number, _, started = rest.partition(":")
    if not number.isdigit():
        return False
    if boot != "-":
        return _name(int(number)) == name
    return started == "-" and _answers(int(number))


def _name(pid: int) -> str:
    """Empty when there is no such process, or no /proc."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return ""
    # The second field is the program's name in parentheses, which may hold spaces; the start time is field 22.
    return f"{boot}:{pid}:{stat.rpartition(')')[2].split()[19]}"


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
