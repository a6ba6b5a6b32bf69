"""Python, Textual, terminal, tmux, settings."""

from __future__ import annotations

import sys
from importlib import metadata

import msgspec
import pytest

from core.doctor import machine
from core.doctor.surroundings import Terminal, run_command
from core.errors import UsageError

from .stage import Stage, summary


def test_python(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    assert summary(stage.lines(machine.python)) == [("python", "ok")]
    monkeypatch.setattr(sys, "version_info", (3, 10, 9))
    assert summary(stage.lines(machine.python)) == [("python", "fail")]


@pytest.mark.parametrize(("installed", "status"), [("8.2.8", "ok"), ("9.0.0", "warn"), (None, "fail")])
def test_textual(stage: Stage, monkeypatch: pytest.MonkeyPatch, installed: str | None, status: str) -> None:
    def version(name: str) -> str:
        if installed is None:
            raise metadata.PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "requires", lambda _: ["textual==8.2.8", "rich>=14"])
    (line,) = stage.lines(machine.textual)
    assert line.status == status
    assert bool(line.fix) == (status != "ok")


@pytest.mark.parametrize(
    ("size", "status", "part"),
    [
        ((80, 24), "ok", "80×24"),
        ((79, 24), "warn", "Some panes"),
        ((60, 20), "warn", "Some panes"),
        ((59, 20), "warn", "Too small"),
        ((200, 10), "warn", "Too small"),
        (None, "warn", "unknown size"),
    ],
)
def test_size(stage: Stage, size: tuple[int, int] | None, status: str, part: str) -> None:
    stage.terminal = Terminal(is_there=True, size=size)
    line = stage.lines(machine.terminal)[0]
    assert (line.check, line.status) == ("terminal", status)
    assert part in line.text + line.fix


@pytest.mark.parametrize("name", ["", "dumb"])
def test_a_terminal_that_can_do_nothing(stage: Stage, name: str) -> None:
    stage.environ["TERM"] = name
    assert summary(stage.lines(machine.terminal))[0] == ("terminal", "fail")


def test_no_terminal(stage: Stage) -> None:
    stage.terminal = Terminal(is_there=False)
    assert summary(stage.lines(machine.terminal)) == [("terminal", "warn"), ("unicode", "ok")]


@pytest.mark.parametrize(
    ("environ", "status", "text"),
    [
        ({"COLORTERM": "truecolor"}, "ok", "16 million"),
        ({"COLORTERM": "", "TERM": "xterm-direct"}, "ok", "16 million"),
        ({"COLORTERM": "", "TERM": "screen-256color"}, "ok", "256"),
        ({"COLORTERM": "", "TERM": "vt100"}, "warn", "16 at most"),
        ({"NO_COLOR": "1"}, "ok", "none, as NO_COLOR asks for"),
    ],
)
def test_colour(stage: Stage, environ: dict[str, str], status: str, text: str) -> None:
    stage.environ.update(environ)
    line = stage.lines(machine.terminal)[1]
    assert (line.check, line.status, line.text) == ("colour", status, text)


@pytest.mark.parametrize(
    ("encoding", "ascii_only", "status"),
    [("utf-8", False, "ok"), ("UTF8", False, "ok"), ("ANSI_X3.4-1968", False, "warn"), ("latin-1", True, "ok")],
)
def test_unicode(stage: Stage, encoding: str, ascii_only: bool, status: str) -> None:
    stage.terminal = Terminal(is_there=True, size=(80, 24), encoding=encoding)
    stage.sets.append(f"ascii={ascii_only}")
    assert summary(stage.lines(machine.terminal))[2] == ("unicode", status)


class TestTmux:
    ESCAPE = "tmux show-options -sqv escape-time"
    CLIPBOARD = "tmux show-options -sqv set-clipboard"

    def test_not_inside(self, stage: Stage) -> None:
        assert stage.lines(machine.tmux) == []

    def test_well_configured(self, stage: Stage) -> None:
        stage.environ.update(TMUX="/tmp/tmux-1/default,1,0", TERM="tmux-256color")
        stage.said = {"tmux -V": "tmux 3.4", self.ESCAPE: "10", self.CLIPBOARD: "external"}
        (line,) = stage.lines(machine.tmux)
        assert (line.status, line.text) == ("ok", "tmux 3.4")

    @pytest.mark.parametrize(
        ("term", "escape", "clipboard", "part"),
        [
            ("xterm-256color", "10", "on", "TERM is xterm-256color"),
            ("screen", "500", "on", "500 ms"),
            ("screen", "10", "off", "clipboard"),
        ],
    )
    def test_badly_configured(self, stage: Stage, term: str, escape: str, clipboard: str, part: str) -> None:
        stage.environ.update(TMUX="x", TERM=term)
        stage.said = {self.ESCAPE: escape, self.CLIPBOARD: clipboard}
        warned, last = stage.lines(machine.tmux)
        assert (warned.status, part in warned.text, bool(warned.fix)) == ("warn", True, True)
        assert last.text == "of unknown version"

    def test_a_command_that_fails_says_nothing(self) -> None:
        assert run_command([sys.executable, "-c", "print('a'); raise SystemExit(1)"]) == ""
        assert run_command(["/no/such/program"]) == ""
        assert run_command([sys.executable, "-c", "print('a')"]) == "a"


class TestSettings:
    def test_all_defaults(self, stage: Stage) -> None:
        stage.sets = []
        (line,) = stage.lines(machine.settings)
        assert (line.status, line.text) == ("ok", "all defaults")

    def test_only_those_that_are_not(self, stage: Stage) -> None:
        stage.sets = ["max_findings=7"]
        (stage.project / ".opencode").mkdir()
        file = stage.project / ".opencode" / "ledger.toml"
        file.write_text('agent = "build"\n')
        assert [line.text for line in stage.lines(machine.settings)] == [
            "max_findings = 7 (flag: --set)",
            f"agent = build (project: {file})",
        ]

    def test_what_was_ignored(self, stage: Stage) -> None:
        config = msgspec.structs.replace(stage.surroundings().load(), warnings=("LEDGER_X: it is ignored.",))
        first, *_ = stage.lines(machine.settings, load=lambda: config)
        assert (first.status, first.text) == ("warn", "LEDGER_X: it is ignored.")

    def test_broken(self, stage: Stage) -> None:
        def broken() -> None:
            raise UsageError("unknown setting 'x'", "Did you mean y?")

        (line,) = stage.lines(machine.settings, load=broken)
        assert (line.status, line.text, line.fix) == ("fail", "unknown setting 'x'", "Did you mean y?")
        assert stage.surroundings(load=broken).settings.max_findings == 50
