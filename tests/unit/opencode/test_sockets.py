from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.opencode.sockets import Listener, from_lsof, from_proc, is_opencode, still_runs
from tests.unit.opencode.machines import Machine

UID = os.getuid()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("executable", "arguments", "expected"),
    [
        ("/opt/opencode", ["x"], True),
        ("/opt/bin/opencode (deleted)", [], True),
        ("C:\\bin\\OpenCode.exe", [], True),
        ("/usr/bin/opencode-cli", [], True),
        ("/usr/bin/node", ["node", "--flag", "/usr/lib/bin/opencode", "serve"], True),
        ("/usr/bin/bun", ["bun", "run"], False),
        ("/usr/bin/node", ["node", "server.js", "/tmp/opencode"], False),
        ("/usr/bin/vim", ["vim", "opencode"], False),
        ("/home/opencode/bin/python", ["python"], False),
        ("", [], False),
    ],
)
def test_what_is_opencode(executable: str, arguments: list[str], expected: bool) -> None:
    assert is_opencode(executable, arguments) is expected


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:4096"),
        ("127.0.0.53", "http://127.0.0.53:4096"),
        ("0.0.0.0", "http://127.0.0.1:4096"),
        ("::1", "http://[::1]:4096"),
        ("::", "http://[::1]:4096"),
        ("::ffff:127.0.0.1", "http://127.0.0.1:4096"),
    ],
)
def test_addresses_reached_over_loopback(machine: Machine, address: str, url: str) -> None:
    machine.process(7, machine.listen(address, 4096), cwd="/p", started=99)
    assert from_proc(machine.proc, UID) == [Listener(pid=7, url=url, cwd="/p", started=99)]


@pytest.mark.parametrize("address", ["192.168.1.5", "2001:db8::1", "::ffff:10.0.0.1"])
def test_addresses_of_other_networks_are_not_loopback(machine: Machine, address: str) -> None:
    machine.process(7, machine.listen(address, 4096))
    assert from_proc(machine.proc, UID) == []


def test_only_listening_sockets_of_opencode_and_of_this_user(machine: Machine) -> None:
    machine.process(1, machine.listen("127.0.0.1", 1001), exe="/usr/bin/nginx", arguments=("nginx",))
    machine.process(2, machine.listen("127.0.0.1", 1002, state="01"))
    machine.process(3, machine.listen("127.0.0.1", 1003), machine.listen("127.0.0.1", 1004))
    assert [found.url for found in from_proc(machine.proc, UID)] == ["http://127.0.0.1:1003", "http://127.0.0.1:1004"]
    assert from_proc(machine.proc, UID + 1) == []


def test_what_cannot_be_read_is_passed_over(machine: Machine, tmp_path: Path) -> None:
    inode = machine.listen("127.0.0.1", 4096)
    machine.process(3, inode)
    shutil.rmtree(machine.proc / "3" / "fd")
    machine.process(4, inode)
    (machine.proc / "4" / "stat").write_text("4 (x")
    (machine.proc / "5").mkdir()
    with (machine.proc / "net" / "tcp").open("a") as table:
        table.write("garbage\n 1: zz:zz x 0A\n 2: 0100007F:zzzz 00000000:0000 0A 0 0 0 0 0 5\n\x00\n")
    assert from_proc(machine.proc, UID) == [Listener(pid=4, url="http://127.0.0.1:4096", cwd="/", started=0)]
    assert from_proc(tmp_path / "missing", UID) == []


LSOF_SOCKETS = """p51
copencode
f20
n127.0.0.1:4096
f21
n[::1]:4097
f22
n192.168.0.2:4098
p52
cnginx
f3
n*:80
p53
copencode
f9
n*:5000
f10
n*:5000
f11
nlocalhost:x
"""


def test_lsof() -> None:
    commands: list[list[str]] = []

    def run(command: list[str]) -> str:
        commands.append(command)
        return LSOF_SOCKETS if "-iTCP" in command else "p51\nfcwd\nn/my project\np53\nfcwd\nn/other\n"

    assert from_lsof(501, run) == [
        Listener(pid=51, url="http://127.0.0.1:4096", cwd="/my project"),
        Listener(pid=51, url="http://[::1]:4097", cwd="/my project"),
        Listener(pid=53, url="http://127.0.0.1:5000", cwd="/other"),
    ]
    assert "501" in commands[0]
    assert "51,53" in commands[1]


def test_without_lsof_nothing_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert from_lsof(501, lambda _: "") == []
    monkeypatch.setenv("PATH", str(tmp_path))
    assert from_lsof(UID) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the real /proc")
def test_the_real_proc_can_be_read() -> None:
    """This process is no OpenCode, so nothing of it may be found; what is running beside it may."""
    assert os.getpid() not in {found.pid for found in from_proc(Path("/proc"), UID)}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the real /proc")
def test_a_process_is_the_one_that_was_found_as_long_as_it_runs() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        started = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19])
        assert still_runs(process.pid, started) and still_runs(process.pid, 0)
        assert not still_runs(process.pid, started + 1)  # another one with its id
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not still_runs(process.pid, started)  # ended, and not collected yet
    assert not still_runs(process.pid, started) and not still_runs(process.pid, 0)
