"""Wrong uses of the command line: one line that says what, where, and what to write instead."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.unit.test_cli import SCRIPT, Shell, complaint


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["relpay", "x"], "Did you mean replay?"),
        (["config", "lst"], "Did you mean list?"),
        (["--bogus"], "--bogus"),
        (["--serv=4096"], "--serv"),
        (["headless", "--serv", "4096"], "--serv"),
        (["replay"], "FILE"),
        (["headless", "--set", "max_finding=3"], "Did you mean max_findings?"),
        (["headless", "--set", "max_findings"], "--set key=value"),
        (["headless", "--set", "max_findings=many"], "max_findings"),
        (["headless", "--directory", "/no/such/folder"], "/no/such/folder"),
        (["headless", "--server", "ftp://127.0.0.1"], "--server"),
        (["headless", "--session", "ses_1", "--latest"], "--latest"),
        (["demo", "--speed", "0"], "--speed"),
        (["config", "get", "agnt"], "Did you mean agent?"),
        (["demo", "--sped", "3"], "there is no flag --sped. Did you mean --speed? `ledger-tui demo --help`"),
        (["config", "list", "--jsn"], "Did you mean --json? `ledger-tui config list --help`"),
        (["--json", "config", "list"], "--json belongs after the command."),
        (["replay", "--password", "1", "x"], "there is no flag --password."),
        (["record", "a", "b"], "'b' is an argument too many. `ledger-tui record --help`"),
        (["headless", "--server"], "--server needs a value."),
        (["demo", "--speed", "fast"], "--speed: 'fast' is not a number."),
        (["config", "set", "agent"], "not given: VALUE."),
        (["config", "set", "keys", "x"], "keys is a table"),
        (["config", "set", "extraction_model", "gpt"], "is not written as it should be; it is 'gpt'. Model that"),
        (["config", "set", "injection_enabled", "maybe"], "injection_enabled should be true or false;"),
        (["--set", "max_findings=x"], "max_findings should be a whole number;"),
        (["--set", "theme=light"], "--set: unknown theme 'light'. Did you mean ledger-light?"),
        (["demo", "--set", "theme=drak"], "--set: unknown theme 'drak'. Did you mean ledger-dark?"),
        (["config", "set", "max_findings", "0"], "max_findings"),
    ],
    ids=" ".join,
)
def test_wrong_use(shell: Shell, arguments: list[str], expected: str) -> None:
    assert expected in complaint(shell(*arguments), 2)


@pytest.mark.parametrize("command", [[], ["demo"], ["watch"]], ids=str)
def test_what_the_screen_cannot_take_names_its_file(shell: Shell, command: list[str]) -> None:
    file = shell.folder / ".opencode" / "ledger.toml"
    file.parent.mkdir()
    file.write_text('theme = "ligt"\n')
    assert f"{file}: unknown theme 'ligt'. Did you mean ledger-light?" in complaint(shell(*command), 2)
    file.write_text('[keys]\npni = "V"\n')
    told = complaint(shell(*command, "--set", "keys.add=N"), 2)
    assert f"{file}: unknown action 'pni' in the setting keys. Did you mean pin?" in told
    file.write_text('[keys]\npin = "N"\n')
    assert f"{file} and --set: the key N stands for both" in complaint(shell(*command, "--set", "keys.add=N"), 2)


def test_watching_as_lines_needs_no_colours(shell: Shell, tmp_path: Path) -> None:
    command = [SCRIPT, "watch", "--json", "--set", "theme=none", str(tmp_path / "facts.json")]
    with subprocess.Popen(command, cwd=shell.folder, env=shell.environ, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        assert json.loads(child.stdout.readline())["type"] == "warning"
        child.send_signal(signal.SIGINT)
