"""Which ports of this machine OpenCode processes of one user listen on: `/proc` on Linux, `lsof` elsewhere.

Reads only; looks at no process of another user, and opens no connection.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import msgspec

_LISTENING = "0A"
"""State of a listening socket in `/proc/net/tcp`."""

_RUNTIMES = {"bun", "node", "deno"}
_LSOF_SECONDS = 5.0


class Listener(msgspec.Struct, frozen=True, kw_only=True):
    """A port that an OpenCode process listens on and that can be reached over loopback."""

    pid: int
    url: str
    cwd: str = ""
    """The process's working folder: OpenCode's TUI changes into its project."""
    started: int = 0
    """Grows with the time the process was started; 0 when unknown."""


def is_opencode(executable: str, arguments: list[str]) -> bool:
    """Whether a process is OpenCode: by its program's name, or a script's name where a JavaScript runtime runs it."""
    name = _base(executable)
    if name.startswith("opencode"):
        return True
    script = next((argument for argument in arguments[1:] if not argument.startswith("-")), "")
    return name in _RUNTIMES and _base(script).startswith("opencode")


def _base(path: str) -> str:
    return path.removesuffix(" (deleted)").replace("\\", "/").rsplit("/", 1)[-1].lower()


def listening(proc: Path) -> frozenset[str]:
    """Names of all sockets that listen on loopback, whosever they are: cheap to get, the same while none changes."""
    return frozenset(name for name, _ in _listening(proc))


def from_proc(proc: Path, uid: int) -> list[Listener]:
    """Listeners of the user `uid`, as `/proc` (or a copy of it at `proc`) tells. What cannot be read is passed over."""
    urls = dict(_listening(proc))
    if not urls:
        return []
    return [listener for process in _processes(proc, uid) for listener in _listeners_of(process, urls)]


def _processes(proc: Path, uid: int) -> Iterator[Path]:
    for entry in _children(proc):
        if not entry.name.isdigit():
            continue
        try:
            if entry.stat().st_uid != uid:
                continue
            arguments = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if is_opencode(_link(entry / "exe") or arguments[0], arguments):
                yield entry
        except OSError:
            continue


def _listeners_of(process: Path, urls: dict[str, str]) -> Iterator[Listener]:
    seen: set[str] = set()
    for descriptor in _children(process / "fd"):
        url = urls.get(_link(descriptor))
        if url is not None and url not in seen:
            seen.add(url)
            yield Listener(pid=int(process.name), url=url, cwd=_link(process / "cwd"), started=_start_time(process))


def _listening(proc: Path) -> Iterator[tuple[str, str]]:
    """Pairs of `socket:[inode]` and URL, for each socket that listens on loopback or on all addresses."""
    for table in ("tcp6", "tcp"):
        try:
            lines = (proc / "net" / table).read_text(encoding="ascii", errors="replace").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            if _LISTENING not in line:
                continue
            fields = line.split()
            if len(fields) > 9 and fields[3] == _LISTENING and (url := _proc_url(fields[1])):
                yield f"socket:[{fields[9]}]", url


def _proc_url(local: str) -> str:
    """URL for an address as `/proc/net/tcp{,6}` writes it (32-bit words in host byte order); empty when not local."""
    address, _, port = local.partition(":")
    try:
        words = [int(address[i : i + 8], 16) for i in range(0, len(address), 8)]
        packed = b"".join(word.to_bytes(4, "little") for word in words)
        host = IPv4Address(packed) if len(packed) == 4 else IPv6Address(packed)
        return _url(host, int(port, 16))
    except ValueError:
        return ""


def _url(host: IPv4Address | IPv6Address, port: int) -> str:
    if isinstance(host, IPv6Address) and host.ipv4_mapped is not None:
        host = host.ipv4_mapped
    if host.is_unspecified:
        host = IPv4Address("127.0.0.1") if isinstance(host, IPv4Address) else IPv6Address("::1")
    if not host.is_loopback or not 0 < port < 65_536:
        return ""
    return f"http://[{host}]:{port}" if isinstance(host, IPv6Address) else f"http://{host}:{port}"


def still_runs(pid: int, started: int, proc: Path = Path("/proc")) -> bool:
    """Whether a process that was found still runs; `started`: see :class:`Listener`, and 0 takes any with its id."""
    if not started:
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return True
    return _start_time(proc / str(pid)) == started


def _start_time(process: Path) -> int:
    """Clock ticks from boot to the start of the process: field 22 of `stat`, counted behind the name in brackets.

    0 when that cannot be told, or the process has ended and was not collected yet.
    """
    try:
        fields = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return 0 if fields[0] in ("Z", "X") else int(fields[19])
    except (OSError, ValueError, IndexError):
        return 0


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def from_lsof(uid: int, run: Callable[[list[str]], str] | None = None) -> list[Listener]:
    """Listeners of the user `uid` as `lsof` tells (macOS, BSD); empty when there is no `lsof`.

    `run` gives the standard output of a command; it is replaced in tests.
    """
    run = run or _run
    sockets = run(["lsof", "-nP", "-a", "-u", str(uid), "-iTCP", "-sTCP:LISTEN", "-F", "pcn"])
    found = list(dict.fromkeys(_lsof_sockets(sockets)))
    if not found:
        return []
    pids = ",".join(sorted({str(pid) for pid, _ in found}))
    folders = dict(_lsof_folders(run(["lsof", "-a", "-p", pids, "-d", "cwd", "-F", "pn"])))
    return [Listener(pid=pid, url=url, cwd=folders.get(pid, "")) for pid, url in found]


def _lsof_sockets(output: str) -> Iterator[tuple[int, str]]:
    pid, is_wanted = 0, False
    for line in output.splitlines():
        kind, value = line[:1], line[1:]
        if kind == "p":
            pid, is_wanted = int(value) if value.isdigit() else 0, False
        elif kind == "c":
            is_wanted = is_opencode(value, [])
        elif kind == "n" and is_wanted and (url := _lsof_url(value)):
            yield pid, url


def _lsof_url(name: str) -> str:
    """URL for an address as `lsof -nP` writes it: `127.0.0.1:4096`, `[::1]:4096`, `*:4096`."""
    match = re.fullmatch(r"(?:\*|([0-9.]+)|\[([0-9a-fA-F:.]+)\]):([0-9]{1,5})", name)
    if match is None:
        return ""
    v4, v6, port = match.groups()
    try:
        return _url(IPv6Address(v6) if v6 else IPv4Address(v4 or "0.0.0.0"), int(port))  # noqa: S104 - read, not bound
    except ValueError:
        return ""


def _lsof_folders(output: str) -> Iterator[tuple[int, str]]:
    pid = 0
    for line in output.splitlines():
        if line.startswith("p") and line[1:].isdigit():
            pid = int(line[1:])
        elif line.startswith("n"):
            yield pid, line[1:]


def _run(command: list[str]) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_LSOF_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
