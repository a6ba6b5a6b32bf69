"""Deeds of the dashboard that open something: what is under the cursor, windows, another look, the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from core.views import Reply
from ledger_tui.actions import Situation
from ledger_tui.rows.extractions import ExtractionRow
from ledger_tui.rows.findings import FindingRow
from ledger_tui.rows.log import EventRow
from ledger_tui.rows.steps import StepRow
from ledger_tui.rows.waiting import BudgetRow, HeldRow, PairsRow
from ledger_tui.screens.commanding import decide

if TYPE_CHECKING:
    from ledger_tui.app import LedgerApp
    from ledger_tui.screens.dashboard import Dashboard

_REPLIED: dict[Reply, str] = {
    "once": "Allowed this once.",
    "always": "Allowed from now on.",
    "reject": "Refused.",
}


async def open_row(board: Dashboard, now: Situation) -> None:
    """Open what is under the cursor."""
    if board.active == "meters":
        _open_topic(board, now.topic)
        return
    from ledger_tui.screens import reading  # noqa: PLC0415

    row = board.panes[board.active].list.current
    if isinstance(row, FindingRow):
        await board.app.push_screen(reading.receipt(board.desk, row.finding))
    elif isinstance(row, HeldRow):
        await show_receipt(board, now)
    elif isinstance(row, StepRow):
        await board.app.push_screen(reading.step(board.desk, row.step, row.agent))
    elif isinstance(row, PairsRow):
        await show_inbox(board, now)
    elif isinstance(row, BudgetRow):
        await board.app.push_screen(reading.sentence(board.desk, "Budget", row.reached))
    elif isinstance(row, ExtractionRow):
        await board.app.push_screen(reading.extraction(board.desk, row.extraction))
    elif isinstance(row, EventRow):
        await board.app.push_screen(reading.event(board.desk, row.event))
    else:
        board.say("This call is still running; its output comes when it ends.", ok=False)


async def show_receipt(board: Dashboard, now: Situation) -> None:
    """The receipt of the held fact under the cursor; it can be decided over there as well."""
    from ledger_tui.screens import reading  # noqa: PLC0415

    row = board.panes["extractions"].list.current
    finding = row.finding if isinstance(row, HeldRow) else now.findings[0]

    def decided(action: str | None) -> None:
        if action:
            decide(board, action, (finding.id,))

    await board.app.push_screen(reading.receipt(board.desk, finding), decided)


async def show_inbox(board: Dashboard, now: Situation) -> None:
    """Pairs of facts about which a person may decide."""
    from ledger_tui.screens.inbox import Inbox  # noqa: PLC0415

    await board.app.push_screen(Inbox(board.desk), lambda _: board.repaint())


async def show_repeats(board: Dashboard, now: Situation) -> None:
    """What came again, beside what the ledger spent."""
    from ledger_tui.screens.repeats import Repeats  # noqa: PLC0415

    await board.app.push_screen(Repeats(board.desk))


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


async def pick_session(board: Dashboard, now: Situation) -> None:
    """Let the user choose the session to show."""
    from ledger_tui.screens.picker import Picker  # noqa: PLC0415

    await board.app.push_screen(Picker(board.desk))


async def show_history(board: Dashboard, now: Situation) -> None:
    """Past sessions, from OpenCode's database."""
    from ledger_tui.screens.history import History  # noqa: PLC0415

    await board.app.push_screen(History(board.desk), lambda _: board.repaint())


def _sayer(board: Dashboard) -> Callable[[str | None], None]:
    return lambda said: board.say(said) if said else None


async def answer(board: Dashboard, now: Situation) -> None:
    """Show the oldest request on which the agent waits; where only another session waits, go there first."""
    host, shown = board.desk.host, now.view
    if not (shown and shown.permissions) and board.elsewhere:
        host.select(board.elsewhere[0].root)
        shown = host.view()
    asked = shown.permissions[0] if shown and shown.permissions else None
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


async def show_help(board: Dashboard, now: Situation) -> None:
    """Say what each key does here."""
    from ledger_tui.screens.help import help_screen  # noqa: PLC0415

    await board.app.push_screen(help_screen(board.desk, now))


async def show_palette(board: Dashboard, now: Situation) -> None:
    """Every action by name."""
    from ledger_tui.screens.palette import ActionPalette  # noqa: PLC0415

    await board.app.push_screen(ActionPalette(board.desk, now), board.perform_later)


async def next_theme(board: Dashboard, now: Situation) -> None:
    """Change to the next theme."""
    board.say(f"Theme {cast('LedgerApp', board.app).next_theme()}.")


async def start_demo(board: Dashboard, now: Situation) -> None:
    """Show the demo instead of nothing."""
    await cast("LedgerApp", board.app).start_demo()


async def prepare(board: Dashboard, now: Situation) -> None:
    """Offer to install the plugin."""
    from ledger_tui.screens.prepare import Prepare  # noqa: PLC0415

    offer = board.desk.offer
    if offer is None:
        return
    await offer.look()
    if not offer.missing:
        board.say("Nothing to install: the plugin is there. An OpenCode that was started before it wants a restart.")
    elif not offer.stands(board.desk.host):
        board.say("Nothing to install: OpenCode has loaded the plugin.")
    else:
        await board.app.push_screen(Prepare(board.desk, offer), lambda _: board.repaint())


async def retry(board: Dashboard, now: Situation) -> None:
    """Try to connect at once."""
    board.desk.host.retry()
    board.say("Connecting.")


async def leave(board: Dashboard, now: Situation) -> None:
    """End the program."""
    board.app.exit(0)
