from __future__ import annotations

import pytest

from tests.bench import history, history_works


def test_a_smaller_size_can_be_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(history, "ROUNDS", 1)
    monkeypatch.setattr(history, "ENORMOUS", 2**20)
    monkeypatch.setattr(history_works, "SAMPLE", 10)
    monkeypatch.setattr(history, "measure", history_works.run)
    history.main(60, 3)
    out = capsys.readouterr().out
    assert "60 past sessions of 100 parts, 6,000 in all" in out
    assert "3 sessions of 40,000, 120,000, 400,000 characters" in out
    assert "8 sessions with a message of 1 MB each" in out
    assert "long output, its middle" in out


@pytest.mark.parametrize("given", [["--sessions", "10"], ["--facts", "0"], ["--sessions", "many"]])
def test_too_small_a_size_is_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        history._arguments(given)
    assert "Traceback" not in capsys.readouterr().err


def test_the_size_is_that_of_the_whole_unless_said_otherwise() -> None:
    asked = history._arguments([])
    assert (asked.sessions, asked.facts) == (10_000, 200)
