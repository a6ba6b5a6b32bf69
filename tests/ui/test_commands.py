from __future__ import annotations

from pathlib import Path

import pytest

from ledger_tui.cli import main
from ledger_tui.theme import THEMES


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("theme", "light", "Unknown theme 'light'"),
        ("keys.pni", "P", "Did you mean pin?"),
        ("keys.pin", "ctrl+spam", "Unknown key 'ctrl+spam'"),
        ("keys.pin", "d", "stands for both pin and delete"),
    ],
)
def test_config_set_says_what_the_dashboard_will_refuse(
    key: str, value: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "set", key, value]) == 0
    assert said in capsys.readouterr().err


def test_config_set_is_silent_about_what_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    for key, value in (("theme", list(THEMES)[1]), ("keys.pin", "V"), ("max_findings", "9")):
        assert main(["config", "set", key, value]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("out", "warned"), [("out.jsonl", True), ("../out.jsonl", False)])
def test_record_warns_of_a_file_in_the_project(
    out: str, warned: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ledger_tui.running.run_until_signal", lambda main: 0)
    assert main(["record", out, "--server", "4096"]) == 0
    assert ("takes a snapshot" in capsys.readouterr().err) == warned
