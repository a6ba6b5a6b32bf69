from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ledger_tui.running import run_until_signal

PROGRAM = """
import asyncio, sys
from ledger_tui.running import run_until_signal

async def main():
    print("ready", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print("tidying", flush=True)
        {tidying}
        print("tidied", flush=True)

sys.exit(run_until_signal(main))
"""


@contextmanager
def program(tidying: str, prefix: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    command = [*prefix, sys.executable, "-c", PROGRAM.format(tidying=tidying)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout
            assert child.stdout.readline() == "ready\n"
            yield child
        finally:
            child.kill()


def result(child: subprocess.Popen[str]) -> tuple[str, str, int]:
    out, err = child.communicate(timeout=60)
    return out, err, child.returncode


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=str,
)
def test_signal_ends_after_tidying_up(number: signal.Signals, code: int) -> None:
    with program("await asyncio.sleep(0)") as child:
        child.send_signal(number)
        assert result(child) == ("tidying\ntidied\n", "", code)


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_second_signal_does_not_wait(second: signal.Signals) -> None:
    with program("await asyncio.Event().wait()") as child:
        child.send_signal(signal.SIGTERM)
        assert child.stdout
        assert child.stdout.readline() == "tidying\n"
        child.send_signal(second)
        out, _, code = result(child)
        assert "tidied" not in out
        assert code != 0


def test_interrupt_counts_in_the_background_of_a_script() -> None:
    with program("await asyncio.sleep(0)", ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")) as child:
        child.send_signal(signal.SIGINT)
        assert result(child) == ("tidying\ntidied\n", "", 130)


def test_hang_up_is_ignored_under_nohup() -> None:
    with program("await asyncio.sleep(0)", ("sh", "-c", "trap '' HUP; exec \"$@\"", "sh")) as child:
        child.send_signal(signal.SIGHUP)
        child.send_signal(signal.SIGTERM)
        assert result(child)[2] == 143


def test_result_is_the_exit_code() -> None:
    async def main() -> int:
        return 7

    assert run_until_signal(main) == 7


def test_failure_is_passed_on() -> None:
    async def main() -> int:
        raise OSError("x")

    with pytest.raises(OSError, match="x"):
        run_until_signal(main)
