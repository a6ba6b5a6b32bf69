"""The installed command, run as a user runs it: another process, another folder, a home of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from core.settings import Settings
from ledger_tui import cli, options
from ledger_tui.cli import COMMANDS

SCRIPT = str(Path(sys.executable).with_name("ledger-tui"))


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """Runs the command in `folder` with an environment that holds nothing of the real user."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "project"
        (self.folder / ".git").mkdir(parents=True)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "LEDGER_HOME": str(root / "ledger"),
            "LANG": "C.UTF-8",
        }

    def __call__(self, *arguments: str, **environ: str) -> Ended:
        done = subprocess.run(
            [SCRIPT, *arguments],
            cwd=self.folder,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def complaint(ended: Ended, code: int) -> str:
    """The one line on standard error of a command that failed with that code and wrote no data."""
    assert ended.code == code, ended
    assert ended.out == ""
    assert re.fullmatch(r"ledger-tui: [^\n]+[.]\n", ended.err), ended.err
    return ended.err


def test_version(shell: Shell) -> None:
    assert re.fullmatch(r"ledger-tui \d+\.\d+\.\d+\n", shell("--version").out)


def test_later_commands_are_not_announced(shell: Shell) -> None:
    assert "there is no command" in complaint(shell("wiki"), 2)


@pytest.mark.parametrize("command", [[], ["demo"], ["watch"]], ids=str)
def test_dashboard_needs_a_terminal(shell: Shell, command: list[str]) -> None:
    assert "needs a terminal" in complaint(shell(*command, TERM="xterm-256color"), 2)


def test_dashboard_needs_a_capable_terminal(shell: Shell) -> None:
    """On a real pseudo-terminal that says it can do nothing."""
    main, other = pty.openpty()
    with subprocess.Popen(
        [SCRIPT], cwd=shell.folder, env={**shell.environ, "TERM": "dumb"}, stdin=other, stdout=other, stderr=other
    ) as child:
        os.close(other)
        assert b"TERM" in os.read(main, 4096)
        assert child.wait(timeout=60) == 2
    os.close(main)


def test_broken_configuration_names_the_line(shell: Shell) -> None:
    file = shell.folder / ".opencode" / "ledger.toml"
    file.parent.mkdir()
    file.write_text("ascii = true\ntheme =\n")
    assert f"{file}, line 2" in complaint(shell("config", "list"), 1)


def test_unreadable_password_file(shell: Shell) -> None:
    assert "no-such-file" in complaint(shell("headless", "--password-file", "no-such-file", "--server", "1"), 1)


def test_hostile_text_of_an_error_does_not_reach_the_terminal(shell: Shell) -> None:
    message = complaint(shell("--set", "a\x1b]52;c;YQ==\x07\x9b2J=3", "config", "list"), 2)
    assert message.isascii()
    assert message[:-1].isprintable()


class TestServer:
    def test_nobody_answers(self, shell: Shell) -> None:
        with socket.socket() as taken:  # bound, but nobody listens: no other program can be there
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            ended = shell("headless", "--server", url)
            assert ended.code == 3
            assert url.removeprefix("http://") in ended.err
            assert "Traceback" not in ended.err

    @pytest.mark.parametrize(
        ("arguments", "environ", "url"),
        [
            (["--server", "4096"], {}, "http://127.0.0.1:4096"),
            (["--server", ":4096"], {"OPENCODE_SERVER": "http://h:1"}, "http://127.0.0.1:4096"),
            ([], {"OPENCODE_SERVER": "http://h:1/"}, "http://h:1"),
            ([], {"OPENCODE_SERVER": ""}, None),
            ([], {}, None),
        ],
    )
    def test_choice(
        self, monkeypatch: pytest.MonkeyPatch, arguments: list[str], environ: dict[str, str], url: str | None
    ) -> None:
        for name in ("OPENCODE_SERVER", "OPENCODE_SERVER_PASSWORD", "OPENCODE_SERVER_USERNAME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        assert options.host_options(cli.build().parse_args(["headless", *arguments])).server == url

    @pytest.mark.parametrize(
        ("server", "file", "password"),
        [("4096", None, "variable"), ("http://me:url@h:1", None, "url"), ("http://me:url@h:1", "file", "file")],
    )
    def test_password(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: str, file: str | None, password: str
    ) -> None:
        monkeypatch.setenv("OPENCODE_SERVER_PASSWORD", "variable")
        arguments = ["headless", "--server", server]
        if file:
            (tmp_path / file).write_text(f"{file}\n")
            arguments += ["--password-file", str(tmp_path / file)]
        chosen = options.host_options(cli.build().parse_args(arguments))
        assert chosen.password == password
        assert "url" not in (chosen.server or "")


class TestCommonFlags:
    def test_are_accepted_before_and_after_the_command(self, tmp_path: Path) -> None:
        flags = ["--server", "4096", "--session", "ses_1", "--directory", str(tmp_path)]
        before = options.host_options(cli.build().parse_args([*flags, "headless"]))
        after = options.host_options(cli.build().parse_args(["headless", *flags]))
        assert before == after
        assert (after.session, after.directory) == ("ses_1", tmp_path)

    def test_settings_given_later_win(self, shell: Shell) -> None:
        ended = shell(
            "--set", "max_findings=3", "--set", "agent=momus", "config", "list", "--set", "maxFindings=4", "--json"
        )
        values = {item["key"]: item["value"] for item in json.loads(ended.out)}
        assert (values["max_findings"], values["agent"]) == (4, "momus")


class TestConfig:
    def test_list(self, shell: Shell) -> None:
        lines = shell("config", "list", LEDGER_ESCALATION_INJECTIONS="Infinity").out.splitlines()
        assert [line.split()[0] for line in lines] == [name for name in Settings.model_fields if name != "keys"]
        row = next(line for line in lines if line.startswith("escalation_injections"))
        assert row.split() == ["escalation_injections", "inf", "environment:", "LEDGER_ESCALATION_INJECTIONS"]

    def test_list_is_the_default(self, shell: Shell) -> None:
        assert shell("config") == shell("config", "list")

    def test_list_as_json(self, shell: Shell) -> None:
        rows = json.loads(shell("config", "list", "--json", "--set", "escalation_injections=inf").out)
        row = next(row for row in rows if row["key"] == "escalation_injections")
        assert row == {"key": "escalation_injections", "value": "inf", "source": "flag", "where": "--set"}

    def test_set_then_get(self, shell: Shell) -> None:
        assert shell("config", "set", "injectableExtensions", ".csv,h5") == Ended(0, "", "")
        assert shell("config", "get", "injectable_extensions").out == "csv,h5\n"

    def test_set_for_the_project(self, shell: Shell) -> None:
        below = shell.folder / "src"
        below.mkdir()
        assert shell("config", "set", "theme", "light", "--project", "--directory", str(below)).code == 0
        assert (shell.folder / ".opencode" / "ledger.toml").read_text() == 'theme = "light"\n'
        assert shell("config", "get", "theme").out == "light\n"

    def test_set_says_when_something_else_wins(self, shell: Shell) -> None:
        ended = shell("config", "set", "max_findings", "3", LEDGER_MAX_FINDINGS="9")
        assert ended.code == 0
        assert "LEDGER_MAX_FINDINGS is stronger" in ended.err

    def test_schema(self, shell: Shell) -> None:
        schema = json.loads(shell("config", "schema").out)
        assert list(schema["properties"]) == list(Settings.model_fields)
        assert all(entry["description"] for entry in schema["properties"].values())


class TestOutput:
    def test_reader_that_leaves_ends_it_quietly(self, shell: Shell) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [SCRIPT, "config", "schema"],
            cwd=shell.folder,
            env=shell.environ,
            stdout=writing,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (141, b"")

    @pytest.mark.parametrize(("arguments", "code"), [("config list", 1), ("config schema", 1), ("--help", 0)])
    def test_closed_from_the_start(self, shell: Shell, arguments: str, code: int) -> None:
        done = subprocess.run(
            ["sh", "-c", f"exec {SCRIPT} {arguments} >&-"],
            cwd=shell.folder,
            env=shell.environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code
        assert ("standard output is closed" in done.stderr) == bool(code)
        assert "Traceback" not in done.stderr

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_full_disk(self, shell: Shell) -> None:
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [SCRIPT, "config", "list"],
                cwd=shell.folder,
                env=shell.environ,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        assert done.returncode == 1
        assert re.fullmatch(r"ledger-tui: [^\n]*standard output[^\n]*\n", done.stderr)


def test_interrupt_ends_a_command_that_follows(shell: Shell, tmp_path: Path) -> None:
    command = [SCRIPT, "watch", "--json", str(tmp_path / "facts.json")]
    with subprocess.Popen(
        command, cwd=shell.folder, env=shell.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert json.loads(child.stdout.readline())["type"] == "warning"
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60) == ("", "")
    assert child.returncode == 130


def test_file_that_is_not_there(shell: Shell) -> None:
    assert "no-such.jsonl" in complaint(shell("replay", "no-such.jsonl"), 1)


class TestUnexpected:
    def test_one_line_without_a_traceback(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("LEDGER_DEBUG", raising=False)
        monkeypatch.setattr(COMMANDS["config"], "run", lambda _args: dict[str, int]()["no\x1b[2J\nsuch"])
        assert cli.main(["config"]) == 1
        err = capsys.readouterr().err
        assert err.startswith("ledger-tui: unexpected KeyError: ")
        assert err.count("\n") == 1
        assert "\x1b" not in err
        assert "LEDGER_DEBUG=1" in err

    def test_traceback_on_demand(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LEDGER_DEBUG", "1")
        monkeypatch.setattr(COMMANDS["config"], "run", lambda _args: dict[str, int]()["nosuch"])
        assert cli.main(["config"]) == 1
        assert "Traceback" in capsys.readouterr().err

    def test_interrupt(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(_args: object) -> int:
            raise KeyboardInterrupt

        monkeypatch.setattr(COMMANDS["config"], "run", interrupted)
        assert cli.main(["config"]) == 130
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["core", "ledger_tui", "textual", "argparse"])
def test_packages_of_the_project_at_hand_are_not_imported(shell: Shell, name: str) -> None:
    package = shell.folder / name
    package.mkdir()
    (package / "__init__.py").write_text(f"open({str(shell.folder / 'imported')!r}, 'w')\nraise SystemExit(77)\n")
    (shell.folder / f"{name}.py").write_text("raise SystemExit(78)\n")
    assert shell("--version").code == 0
    assert shell("config", "list").code == 0
    assert not (shell.folder / "imported").exists()
