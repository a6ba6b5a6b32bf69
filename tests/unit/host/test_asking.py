"""Which sessions the plugin asks about, learned without knowing which OpenCode process a session is in."""

from __future__ import annotations

import pytest

from core.host import asking
from core.host.asking import BACK, GONE, NEVER_THERE, Asking


def test_nobody_is_expected_before_anybody_spoke() -> None:
    state = Asking()
    assert not state.anybody
    assert not state.expects("a")


def test_a_greeting_makes_every_session_worth_a_wait() -> None:
    state = Asking()
    state.greeted()
    assert state.anybody and state.expects("a")
    assert state.silent == ()


def test_where_the_only_plugin_stops_nobody_is_expected_any_more() -> None:
    state = Asking()
    assert state.asked("a") == ""
    assert state.not_asked("a") == GONE
    assert not state.anybody
    assert not state.expects("a") and not state.expects("new")
    assert state.asked("a") == BACK
    assert state.expects("a") and state.anybody
    assert state.asked("a") == ""


def test_a_session_without_the_plugin_does_not_matter_to_the_others() -> None:
    state = Asking()
    state.asked("a")
    assert state.expects("b")
    assert state.not_asked("b") == NEVER_THERE
    assert not state.expects("b") and state.silent == ("b",)
    assert state.anybody and state.expects("a")
    assert state.not_asked("b") == ""  # told once


def test_a_new_plugin_gives_silent_sessions_another_try_without_telling_it_twice() -> None:
    state = Asking()
    state.greeted()
    assert state.not_asked("b") == NEVER_THERE
    assert not state.anybody
    state.greeted()
    assert state.expects("b")
    assert state.not_asked("b") == ""
    assert state.asked("b") == BACK  # its OpenCode was started again


def test_a_question_about_a_session_not_known_yet_shows_that_a_plugin_is_there() -> None:
    state = Asking()
    assert state.asked(None) == ""
    assert state.anybody and state.expects("a")


def test_only_so_many_sessions_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MAX_SESSIONS", 2)
    state = Asking()
    for root in ("a", "b", "c"):
        state.not_asked(root)
    assert state.silent == ("b", "c")
    assert state.not_asked("a") == NEVER_THERE
