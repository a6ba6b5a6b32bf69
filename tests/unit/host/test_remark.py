"""What the dashboard itself writes into a session's log."""

from __future__ import annotations

from .test_host import Stage, stage

__all__ = ["stage"]


def test_a_remark_is_a_row_of_the_session_on_screen(stage: Stage) -> None:
    stage.host.remark("nobody sees this")
    stage.root("ses_a", 10)
    stage.root("ses_b", 5)
    before, told = stage.host.revision("log"), list[int]()
    stage.host.subscribe(lambda: told.append(1))
    stage.host.remark("the plugin\x1b[2J was installed")
    view = stage.host.view()
    assert view and view.root == "ses_a"
    last = view.log[-1]
    assert (last.kind, last.level, last.t) == ("plugin", "info", stage.now)
    assert "the plugin" in last.text and "\x1b" not in last.text
    assert stage.host.revision("log") != before and told
    stage.host.select("ses_b")
    other = stage.host.view()
    assert other and "plugin" not in [row.kind for row in other.log]
