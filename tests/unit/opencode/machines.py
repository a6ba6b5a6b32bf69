"""A made-up `/proc` in a temporary folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

_HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


class Machine:
    """Processes and listening sockets; `listen` gives the inode to hand to `process`."""

    def __init__(self, root: Path) -> None:
        self.proc = root / "proc"
        (self.proc / "net").mkdir(parents=True)
        self.rows: dict[str, list[str]] = {"tcp": [], "tcp6": []}
        (self.proc / "self").mkdir()
        self._write()

    def listen(self, address: str, port: int, *, state: str = "0A") -> int:
        packed = ip_address(address).packed
        words = [packed[i : i + 4][::-1].hex().upper() for i in range(0, len(packed), 4)]
        table = "tcp" if len(packed) == 4 else "tcp6"
        inode = 1000 + sum(map(len, self.rows.values()))
        local = f"{''.join(words)}:{port:04X}"
        self.rows[table].append(
            f"   0: {local} {'0' * len(packed) * 2}:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 "
            f"{inode} 1 0000000000000000 100 0 0 10 0\n"
        )
        self._write()
        return inode

    def process(
        self,
        pid: int,
        *inodes: int,
        exe: str = "/usr/bin/opencode",
        arguments: tuple[str, ...] = ("opencode",),
        cwd: str = "/",
        started: int = 1,
        files: Mapping[int, str] | None = None,
    ) -> None:
        folder = self.proc / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "cmdline").write_bytes(b"".join(os.fsencode(argument) + b"\0" for argument in arguments))
        (folder / "exe").symlink_to(exe)
        (folder / "cwd").symlink_to(cwd)
        (folder / "stat").write_text(f"{pid} (open) code) S {' '.join(['0'] * 18)} {started} 0 0\n")
        for number, inode in enumerate(inodes, 10):
            (folder / "fd" / str(number)).symlink_to(f"socket:[{inode}]")
        for number, target in (files or {0: "/dev/null"}).items():
            (folder / "fd" / str(number)).symlink_to(target)

    def _write(self) -> None:
        for table, rows in self.rows.items():
            (self.proc / "net" / table).write_text(_HEAD + "".join(rows))
