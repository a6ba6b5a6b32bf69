"""Telling a living process from one that only had the same number."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.store import process
from core.store.process import is_running, this_process

CHILD = "from core.store.process import this_process; print(this_process(), flush=True); input()"


def test_this_process_is_running() -> None:
    assert is_running(this_process())
    assert this_process() == this_process()


@pytest.mark.parametrize("proc", [Path("/proc"), Path("/nowhere")])
def test_another_process_runs_until_it_ends(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"import pathlib, core.store.process as p; p._PROC = pathlib.Path({str(proc)!r}); {CHILD}"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    name = child.stdout.readline().strip()
    monkeypatch.setattr(process, "_PROC", proc)
    assert str(child.pid) in name
    assert is_running(name)
    child.kill()
    child.wait()
    assert not is_running(name)
    child.stdin.close()
    child.stdout.close()


def test_a_number_given_away_again_is_another_process() -> None:
    boot, pid, started = this_process().split(":")
    assert not is_running(f"{boot}:{pid}:{int(started or 0) + 1 if started.isdigit() else 'x'}")
    assert not is_running(f"another-boot:{pid}:{started}")


@pytest.mark.parametrize("name", ["", ":", "x", "a:b:c", "-:0x1:-", f"-:{10**30}:-"])
def test_nonsense_is_not_running(name: str) -> None:
    assert not is_running(name)
