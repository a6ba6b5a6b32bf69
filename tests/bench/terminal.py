"""A program in a terminal of its own: start it, press keys, wait for what it paints, read its memory and CPU time."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_CODES = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>]")


class Terminal:
    """A child process on a pseudo terminal.

    Attributes:
        written: bytes the program has written so far.
    """

    def __init__(self, command: Sequence[str], environment: dict[str, str], columns: int = 120, rows: int = 40) -> None:
        self.written = 0
        self.started = time.perf_counter()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        inherited = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment},
        )
        os.close(slave)
        self._seen = b""

    def press(self, keys: str) -> float:
        """Type; returns when."""
        os.write(self._master, keys.encode())
        return time.perf_counter()

    def wait_for(self, text: str, seconds: float = 30.0) -> float:
        """When `text` was painted. Raises TimeoutError with what was painted instead."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.read(0.05)
            if text.encode() in _CODES.sub(b"", self._seen):
                self._seen = b""
                return time.perf_counter()
        raise TimeoutError(f"{text!r} was not painted; last: {_CODES.sub(b'', self._seen)[-500:]!r}")

    def read(self, seconds: float) -> bytes:
        """What is painted within `seconds`, or as soon as something is."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return b""
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:
            data = b""
        self.written += len(data)
        self._seen = (self._seen + data)[-200_000:]
        return data

    def idle(self, seconds: float) -> int:
        """Let time pass; returns the bytes written meanwhile."""
        before, end = self.written, time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(min(left, 0.2))
        return self.written - before

    @property
    def memory_mib(self) -> float:
        """Resident memory, in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0

    @property
    def cpu_seconds(self) -> float:
        """CPU time used so far, by the process itself."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def close(self) -> None:
        """End the program."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        end = time.perf_counter() + 10
        while self._process.poll() is None and time.perf_counter() < end:
            self.read(0.1)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)
