"""What each action of the dashboard does, by action id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from core.ledger.commands import Add, Command, Delete, Edit, ExtractNow, Mute, Pin, ResetMeter, TellAgent, Undo
from core.views import Reply
from ledger_tui.actions import PANES, Situation
from ledger_tui.format import plural
from ledger_tui.rows.extractions import ExtractionRow
from ledger_tui.rows.findings import FindingRow
from ledger_tui.rows.log import EventRow
from ledger_tui.rows.steps import StepRow

if TYPE_CHECKING:
    from ledger_tui.app import LedgerApp
    from ledger_tui.screens.dashboard import Dashboard

_REPLIED: dict[Reply, str] = {
    "once": "Allowed this once.",
    "always": "Allowed from now on.",
    "reject": "Refused.",
}
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

Deed = Callable[["Dashboard", Situation], Awaitable[None]]


async def do(board: Dashboard, action: str, now: Situation) -> None:
    """Carry out the action with this id; it is possible in `now`."""
    await _DEEDS[action](board, now)


def _command(board: Dashboard, make: Callable[..., Command], said: str = "", **fields: Any) -> bool:
    """Give the host a command; show `said` (else the host's sentence) when it was done, its reason when not."""
    host = board.desk.host
    sentence, done = host.command(make(t=board.desk.clock(), session=host.selected or "", **fields))
    if done and said:
        board.say_with_keys(said)
    else:
        board.say(sentence, ok=done)
    return done


def _ids(now: Situation) -> tuple[str, ...]:
    return tuple(finding.id for finding in now.findings)


def _release(board: Dashboard) -> None:
    board.panes[board.active].list.chosen.clear()


async def _pin(board: Dashboard, now: Situation) -> None:
    on = not all(finding.pinned for finding in now.findings)
    what = plural(len(now.findings), "fact")
    said = f"Pinned {what}: never evicted." if on else f"Unpinned {what}."
    if _command(board, Pin, f"{said} {{undo}} takes it back.", ids=_ids(now), on=on):
        _release(board)


async def _delete(board: Dashboard, now: Situation) -> None:
    number = len(now.findings)
    said = "Deleted. {undo} brings it back." if number == 1 else f"Deleted {number} facts. {{undo}} brings them back."
    if _command(board, Delete, said, ids=_ids(now)):
        _release(board)


async def _edit(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.form import Form  # noqa: PLC0415

    finding = now.findings[0]

    def save(fact: str, topic: str) -> None:
        _command(board, Edit, "Changed. {undo} takes it back.", id=finding.id, fact=fact, topic=topic)

    await board.app.push_screen(Form(board.desk, "Edit", finding.fact, finding.topic, _topics(now), save))


async def _add(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.form import Form  # noqa: PLC0415

    def save(fact: str, topic: str) -> None:
        _command(board, Add, "Added. {undo} takes it away.", fact=fact, topic=topic)

    await board.app.push_screen(Form(board.desk, "Add a fact", "", now.topic, _topics(now), save))


def _topics(now: Situation) -> tuple[str, ...]:
    return tuple(topic.topic for topic in now.view.topics) if now.view else ()


async def _undo(board: Dashboard, now: Situation) -> None:
    _command(board, Undo)


async def _tell(board: Dashboard, now: Situation) -> None:
    number = len(now.findings)
    what = "it" if number == 1 else f"these {number} facts"
    if _command(board, TellAgent, f"The agent will be told {what} at its next call.", ids=_ids(now)):
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
    _command(board, Mute, said, topic=now.topic, on=not muted)


async def _reset(board: Dashboard, now: Situation) -> None:
    _command(board, ResetMeter, "The topic's counters are at zero.", topic=now.topic)


async def _extract(board: Dashboard, now: Situation) -> None:
    if now.view is None or not now.view.earlier:
        _command(board, ExtractNow)
        return
    from ledger_tui.screens.ask import Ask, extract_question  # noqa: PLC0415

    def answered(key: str | None) -> None:
        if key:
            _command(board, ExtractNow, earlier=key == "y")

    question = extract_question(board.desk.host.estimate(), now.view.buffered)
    await board.app.push_screen(Ask(board.desk, *question), answered)


async def _open(board: Dashboard, now: Situation) -> None:
    if board.active == "meters":
        _open_topic(board, now.topic)
        return
    from ledger_tui.screens import reading  # noqa: PLC0415

    row = board.panes[board.active].list.current
    view = now.view
    if isinstance(row, FindingRow):
        await board.app.push_screen(reading.receipt(board.desk, row.finding))
    elif isinstance(row, StepRow):
        await board.app.push_screen(reading.step(board.desk, row.step, row.agent))
    elif isinstance(row, ExtractionRow) and view:
        await board.app.push_screen(reading.extraction(board.desk, row.extraction))
    elif isinstance(row, EventRow):
        await board.app.push_screen(reading.event(board.desk, row.event))
    else:
        board.say("This call is still running; its output comes when it ends.", ok=False)


def _open_topic(board: Dashboard, topic: str) -> None:
    """From a meter to the findings it counts looks at."""
    board.activate("findings")
    state = board.panes["findings"].list
    state.set_filter("")
    for index, row in enumerate(state.rows):
        if isinstance(row, FindingRow) and row.topic == topic:
            state.to_row(index)
            return
    board.say("This topic has no finding any more.", ok=False)


async def _copy(board: Dashboard, now: Situation) -> None:
    from ledger_tui.clipboard import copy  # noqa: PLC0415

    rows = board.panes[board.active].list.chosen_rows
    text = "\n".join(row.finding.fact if isinstance(row, FindingRow) else row.text() for row in rows)
    what = plural(len(rows), "fact" if now.context == "findings" else "row")
    board.say(await copy(board.app, text, what, board.desk.environ))
    _release(board)


async def _select(board: Dashboard, now: Situation) -> None:
    board.panes[board.active].list.choose()


async def _select_all(board: Dashboard, now: Situation) -> None:
    board.panes[board.active].list.choose_all()


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


async def _sessions(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.picker import Picker  # noqa: PLC0415

    await board.app.push_screen(Picker(board.desk))


def _sayer(board: Dashboard) -> Callable[[str | None], None]:
    return lambda said: board.say(said) if said else None


async def _permit(board: Dashboard, now: Situation) -> None:
    asked = now.view.permissions[0] if now.view else None
    if asked is None:
        return
    if asked.kind == "question":
        from ledger_tui.screens.question import AskedQuestion  # noqa: PLC0415

        await board.app.push_screen(AskedQuestion(board.desk, asked), _sayer(board))
        return
    from ledger_tui.screens.permit import Permit  # noqa: PLC0415

    def answered(reply: Reply | None) -> None:
        if reply:
            board.desk.host.reply_permission(asked.id, reply)
            board.say(_REPLIED[reply])

    await board.app.push_screen(Permit(board.desk, asked), answered)


async def _help(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.help import help_screen  # noqa: PLC0415

    await board.app.push_screen(help_screen(board.desk, now))


async def _palette(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.palette import ActionPalette  # noqa: PLC0415

    await board.app.push_screen(ActionPalette(board.desk, now), board.perform_later)


async def _theme(board: Dashboard, now: Situation) -> None:
    board.say(f"Theme {cast('LedgerApp', board.app).next_theme()}.")


async def _demo(board: Dashboard, now: Situation) -> None:
    await cast("LedgerApp", board.app).start_demo()


async def _init(board: Dashboard, now: Situation) -> None:
    from ledger_tui.screens.prepare import Prepare  # noqa: PLC0415

    if board.desk.offer:
        await board.app.push_screen(Prepare(board.desk, board.desk.offer), lambda _: board.repaint())


async def _retry(board: Dashboard, now: Situation) -> None:
    board.desk.host.retry()
    board.say("Connecting.")


async def _quit(board: Dashboard, now: Situation) -> None:
    board.app.exit(0)


_DEEDS: dict[str, Deed] = {
    **{"pin": _pin, "delete": _delete, "edit": _edit, "add": _add, "undo": _undo, "tell": _tell, "extract": _extract},
    **{"mute": _mute, "reset": _reset, "open": _open, "select": _select, "select_all": _select_all, "copy": _copy},
    **{"filter": _filter, "back": _back, "next_pane": _next_pane, "previous_pane": _previous_pane, "zoom": _zoom},
    **{"faster": _faster, "slower": _slower, "pause": _pause, "sessions": _sessions, "help": _help},
    **{
        "permit": _permit,
        "palette": _palette,
        "theme": _theme,
        "demo": _demo,
        "init": _init,
        "retry": _retry,
        "quit": _quit,
    },
    **{move: _mover(move) for move in ("down", "up", "top", "bottom", "page_down", "page_up")},
    **{f"{pane}_pane": _goer(pane) for pane in PANES},
}

ACTIONS = frozenset(_DEEDS)
"""Ids of the actions that can be done here."""
