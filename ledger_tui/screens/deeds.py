"""What each action of the dashboard does, by action id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from core.ledger.commands import Add, Delete, Edit, ExtractNow, Mute, Pin, ResetMeter, TellAgent, Undo
from ledger_tui.actions import PANES, Situation
from ledger_tui.format import plural
from ledger_tui.rows.findings import FindingRow
from ledger_tui.rows.waiting import HeldRow
from ledger_tui.screens import openings
from ledger_tui.screens.commanding import decide, give

if TYPE_CHECKING:
    from ledger_tui.screens.dashboard import Dashboard

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

Deed = Callable[["Dashboard", Situation], Awaitable[None]]


async def do(board: Dashboard, action: str, now: Situation) -> None:
    """Carry out the action with this id; it is possible in `now`."""
    await _DEEDS[action](board, now)


def _ids(now: Situation) -> tuple[str, ...]:
    return tuple(finding.id for finding in now.findings)


def _release(board: Dashboard) -> None:
    board.panes[board.active].list.chosen.clear()


async def _pin(board: Dashboard, now: Situation) -> None:
    on = not all(finding.pinned for finding in now.findings)
    what = plural(len(now.findings), "fact")
    said = f"Pinned {what}: never evicted." if on else f"Unpinned {what}."
    if give(board, Pin, f"{said} {{undo}} takes it back.", ids=_ids(now), on=on):
        _release(board)


async def _delete(board: Dashboard, now: Situation) -> None:
    number = len(now.findings)
    said = "Deleted. {undo} brings it back." if number == 1 else f"Deleted {number} facts. {{undo}} brings them back."
    if give(board, Delete, said, ids=_ids(now)):
        _release(board)


async def _accept(board: Dashboard, now: Situation) -> None:
    if decide(board, "accept", _ids(now)):
        _release(board)


async def _reject_fact(board: Dashboard, now: Situation) -> None:
    if decide(board, "reject_fact", _ids(now)):
        _release(board)


async def _edit(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.form import Form  # noqa: PLC0415

    finding = now.findings[0]

    held = finding.state == "held"
    said = "Changed and accepted. {undo} takes it back." if held else "Changed. {undo} takes it back."

    def save(fact: str, topic: str) -> None:
        give(board, Edit, said, id=finding.id, fact=fact, topic=topic)

    await board.app.push_screen(
        Form(board.desk, "Edit and accept" if held else "Edit", finding.fact, finding.topic, _topics(now), save)
    )


async def _add(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.form import Form  # noqa: PLC0415

    def save(fact: str, topic: str) -> None:
        give(board, Add, "Added. {undo} takes it away.", fact=fact, topic=topic)

    await board.app.push_screen(Form(board.desk, "Add a fact", "", now.topic, _topics(now), save))


def _topics(now: Situation) -> tuple[str, ...]:
    return tuple(topic.topic for topic in now.view.topics) if now.view else ()


async def _undo(board: Dashboard, now: Situation) -> None:
    give(board, Undo)


async def _tell(board: Dashboard, now: Situation) -> None:
    number = len(now.findings)
    what = "it" if number == 1 else f"these {number} facts"
    if give(board, TellAgent, f"The agent will be told {what} at its next call.", ids=_ids(now)):
        _release(board)


def _is_muted(now: Situation) -> bool:
    if now.view is None:
        return False
    known = {topic.topic: topic.muted for topic in now.view.topics}
    return known.get(now.topic, False) or any(m.muted for m in now.view.meters if m.topic == now.topic)


async def _mute(board: Dashboard, now: Situation) -> None:
    muted = _is_muted(now)
    said = (
        "Notes about this topic are on again."
        if muted
        else "Muted: no more notes about this topic. {mute} turns them on."
    )
    give(board, Mute, said, topic=now.topic, on=not muted)


async def _reset(board: Dashboard, now: Situation) -> None:
    give(board, ResetMeter, "The topic's counters are at zero.", topic=now.topic)


async def _extract(board: Dashboard, now: Situation) -> None:
    if now.view is None or not now.view.earlier:
        give(board, ExtractNow)
        return
    from ledger_tui.screens.ask import Ask, extract_question  # noqa: PLC0415

    def answered(key: str | None) -> None:
        if key:
            give(board, ExtractNow, earlier=key == "y")

    question = extract_question(board.desk.host.estimate(), now.view.buffered)
    await board.app.push_screen(Ask(board.desk, *question), answered)


async def _copy(board: Dashboard, now: Situation) -> None:
    from ledger_tui.clipboard import copy  # noqa: PLC0415

    rows = board.panes[board.active].list.chosen_rows
    text = "\n".join(row.finding.fact if isinstance(row, FindingRow | HeldRow) else row.text() for row in rows)
    what = plural(len(rows), "fact" if now.context in ("findings", "held") else "row")
    board.say(await copy(board.app, text, what, board.desk.environ))
    _release(board)


async def _select(board: Dashboard, now: Situation) -> None:
    board.panes[board.active].list.choose()


async def _select_all(board: Dashboard, now: Situation) -> None:
    only = HeldRow if now.context == "held" else None
    board.panes[board.active].list.choose_all(only)


async def _filter(board: Dashboard, now: Situation) -> None:
    board.panes[board.active].typing = True


async def _back(board: Dashboard, now: Situation) -> None:
    state = board.panes[board.active].list
    if state.chosen:
        state.chosen.clear()
    elif state.filter:
        state.set_filter("")
    elif board.zoomed:
        board.zoom()


def _mover(action: str) -> Deed:
    async def move(board: Dashboard, now: Situation) -> None:
        board.panes[board.active].list.act(action)

    return move


def _goer(pane: str) -> Deed:
    async def go(board: Dashboard, now: Situation) -> None:
        board.activate(pane)

    return go


async def _next_pane(board: Dashboard, now: Situation) -> None:
    board.activate(PANES[(PANES.index(board.active) + 1) % len(PANES)])


async def _previous_pane(board: Dashboard, now: Situation) -> None:
    board.activate(PANES[PANES.index(board.active) - 1])


async def _zoom(board: Dashboard, now: Situation) -> None:
    board.zoom()


async def _faster(board: Dashboard, now: Situation) -> None:
    board.desk.host.set_speed(next((speed for speed in SPEEDS if speed > now.server.speed), SPEEDS[-1]))


async def _slower(board: Dashboard, now: Situation) -> None:
    board.desk.host.set_speed(next((speed for speed in reversed(SPEEDS) if speed < now.server.speed), SPEEDS[0]))


async def _pause(board: Dashboard, now: Situation) -> None:
    if now.server.speed:
        board.resume_speed = now.server.speed
    board.desk.host.set_speed(0.0 if now.server.speed else board.resume_speed)


_DEEDS: dict[str, Deed] = {
    **{"pin": _pin, "delete": _delete, "edit": _edit, "add": _add, "undo": _undo, "tell": _tell, "extract": _extract},
    **{"accept": _accept, "reject_fact": _reject_fact, "receipt": openings.show_receipt, "inbox": openings.show_inbox},
    **{
        "mute": _mute,
        "reset": _reset,
        "open": openings.open_row,
        "select": _select,
        "select_all": _select_all,
        "copy": _copy,
    },
    **{"filter": _filter, "back": _back, "next_pane": _next_pane, "previous_pane": _previous_pane, "zoom": _zoom},
    **{
        "faster": _faster,
        "slower": _slower,
        "pause": _pause,
        "sessions": openings.pick_session,
        "history": openings.show_history,
        "help": openings.show_help,
    },
    **{
        "repeats": openings.show_repeats,
        "permit": openings.answer,
        "palette": openings.show_palette,
        "theme": openings.next_theme,
        "demo": openings.start_demo,
        "init": openings.prepare,
        "retry": openings.retry,
        "quit": openings.leave,
    },
    **{move: _mover(move) for move in ("down", "up", "top", "bottom", "page_down", "page_up")},
    **{f"{pane}_pane": _goer(pane) for pane in PANES},
}

ACTIONS = frozenset(_DEEDS)
"""Ids of the actions that can be done here."""
