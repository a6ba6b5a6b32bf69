"""The dashboard: status, five panes, footer; which of them are seen is the plan's business."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.geometry import NULL_OFFSET, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from core.views import Pane, SessionItem, SessionView
from ledger_tui.actions import BY_ID, PANE_TITLES, PANES, Situation
from ledger_tui.desk import Desk
from ledger_tui.offer import Offer
from ledger_tui.rows.empty import empty_text, from_file
from ledger_tui.rows.extractions import extraction_rows
from ledger_tui.rows.findings import FindingRow, finding_rows
from ledger_tui.rows.heads import info_of, interval_bar
from ledger_tui.rows.log import log_rows
from ledger_tui.rows.look import Line, Look, Row, clip, say
from ledger_tui.rows.meters import MeterRow, gauge_strip, meter_rows
from ledger_tui.rows.status import banner, status_lines, welcome
from ledger_tui.rows.steps import step_rows
from ledger_tui.rows.waiting import HeldRow
from ledger_tui.screens import deeds
from ledger_tui.screens.base import LedgerScreen
from ledger_tui.widgets.bars import Bar, centred
from ledger_tui.widgets.canvas import Canvas
from ledger_tui.widgets.framed import Tab
from ledger_tui.widgets.listing import ListPane
from ledger_tui.widgets.plan import MIN_HEIGHT, MIN_WIDTH, Plan, plan

_ROWS: dict[str, Callable[[SessionView], Sequence[Row]]] = {
    "steps": step_rows,
    "findings": finding_rows,
    "meters": meter_rows,
    "extractions": extraction_rows,
    "log": log_rows,
}
_STREAMS = ("steps", "extractions", "log")
HINT = "notes go by patch, which is best effort; {key} installs the plugin, which brings them in flight"
"""The row of the log that points at the offer."""


class _Board(Layout):
    """Puts the widgets where the screen's plan says."""

    name = "board"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Placements for the planned widgets."""
        assert isinstance(parent, Dashboard)
        regions = parent.planned(size).regions
        return [
            WidgetPlacement(regions[child.id], NULL_OFFSET, Spacing(), child)
            for child in children
            if child.id is not None and child.id in regions
        ]


class Dashboard(LedgerScreen[None]):
    """All panes of one session."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.view: SessionView | None = desk.host.view()
        self.active = "findings" if desk.host.read_only else "steps"
        self.zoomed = False
        self.resume_speed = 1.0
        """Speed at which a paused replay goes on."""
        self._other = "findings"
        self._board = _Board()
        self._plan: Plan | None = None
        self._placed: Plan | None = None
        self.status = Bar(desk.brush, self._status, id="status")
        self.banner = Bar(desk.brush, lambda width, height: [clip(self._banner(), width)], id="banner")
        self.welcome = Bar(desk.brush, self._welcome, id="welcome")
        self.gauges = Bar(desk.brush, self._gauges, id="gauges")
        self.panes: dict[str, ListPane] = {pane: self._pane(pane) for pane in PANES}
        self.panes["steps"].header = self._header
        self._late: set[str] = set(PANES)

    def _pane(self, pane: str) -> ListPane:
        def empty(look: Look) -> Line:
            tokens = self.desk.host.estimate().tokens if pane == "extractions" and self.view else 0
            return empty_text(pane, self.view, look, tokens)

        return ListPane(self.desk.brush, self.desk.look, empty, pane=pane, tail=pane in _STREAMS)

    def compose(self) -> ComposeResult:
        """All widgets; the plan hides those that have no place."""
        yield from (self.status, self.banner, *self.panes.values(), self.gauges, self.welcome, self.hints)

    @property
    def layout(self) -> Layout:
        """The plan."""
        return self._board

    def planned(self, size: Size) -> Plan:
        """The plan for this size."""
        session = self.view is not None
        wanted = plan(
            *size,
            active=self.active,
            other=self._other,
            zoomed=self.zoomed,
            banner=bool(self._banner()) and session,
            session=session,
        )
        if wanted != self._plan:
            self._plan = wanted
            self._adopt(wanted)
        return self._plan or wanted

    def _adopt(self, wanted: Plan) -> None:
        for name, pane in self.panes.items():
            tabs = wanted.tabs.get(name, (name,))
            pane.tabs = tuple(Tab(tab, f"{PANES.index(tab) + 1} {PANE_TITLES[tab]}", tab == name) for tab in tabs)

    def _replan(self) -> None:
        """Lay out again when the plan is another one than that on screen."""
        wanted = self.planned(self.size)
        if wanted == self._placed:
            return
        before = self._placed.regions if self._placed else {}
        self._placed = wanted
        self._fill_late()
        for widget in self._visible():
            widget.repaint(whole=widget.id not in before)
        if wanted.regions != before:
            # Asked of a child, because Textual keeps a screen's arrangement until one of its children changes.
            self.hints.refresh(layout=True)

    def _visible(self) -> Iterable[Canvas]:
        """The widgets that have a place; the others are neither laid out nor drawn."""
        regions = self._placed.regions if self._placed else {}
        every: tuple[Canvas, ...] = (
            self.status,
            self.banner,
            self.welcome,
            self.gauges,
            *self.panes.values(),
            self.hints,
        )
        return [widget for widget in every if widget.id in regions]

    def on_resize(self, event: events.Resize) -> None:
        """The first size, or another one."""
        self._replan()

    def changed(self, panes: frozenset[Pane], view: SessionView | None) -> None:
        """Take over a new view and repaint what changed."""
        before, self.view = self.view, view
        if view and (before is None or before.root != view.root):
            for pane in self.panes.values():
                pane.list.reset()
                pane.typing = False
        self._late |= set(PANES) & panes
        self._replan()
        self._fill_late()
        # What an empty pane says counts steps, which are another pane's business.
        self.repaint(panes | {pane for pane in PANES if not self.panes[pane].list.rows})

    def _fill_late(self) -> None:
        """Bring the visible panes up to date; hidden ones wait until they are shown."""
        regions = self._placed.regions if self._placed else {}
        for name in [name for name in self._late if name in regions]:
            self._fill(name)

    def _fill(self, name: str) -> None:
        """Give a pane the rows of the present view."""
        self._late.discard(name)
        if self.view:
            state = self.panes[name].list
            state.steady = name == self.active and isinstance(state.current, HeldRow)
            state.update(_ROWS[name](self.view))
            self.panes[name].info = info_of(name, self.view, self.look())

    def repaint(self, only: frozenset[Pane] | None = None) -> None:
        """Compose visible widgets (of the panes only `only`, when given) and redraw the lines that differ."""
        for name, pane in self.panes.items():
            pane.active = name == self.active
        for widget in self._visible():
            if only is None or widget.id in only or widget.id not in PANES:
                widget.repaint()

    def second(self) -> None:
        """Elapsed times and countdowns."""
        self._replan()
        self.repaint()

    def recolour(self) -> None:
        """Other colours: draw all."""
        super().recolour()
        for widget in self._visible():
            widget.repaint(whole=True)

    # -- what the bars say

    def _status(self, width: int, height: int) -> list[Line]:
        server, look = self.desk.host.server, self.look()
        asking = self.elsewhere
        return status_lines(server, self.view, width, height, look, offered=self._offered(), elsewhere=asking)

    @property
    def elsewhere(self) -> list[SessionItem]:
        """Sessions that are not on screen and wait for an answer, the most recently active first."""
        host = self.desk.host
        return [item for item in host.sessions if item.waits_for and item.root != host.selected]

    def _banner(self) -> Line:
        line = banner(self.desk.host.server, self.look(), offered=self._offered())
        return [(" ", "text"), *line] if line else []

    def _gauges(self, width: int, height: int) -> list[Line]:
        label = "3 Escalation "
        start: Line = [(f" {label} ", "title")]
        if not self.view or not self.view.meters:
            nothing = "not in a dump file" if self.view and from_file(self.view) else "nothing looked at twice"
            return [[*start, (nothing, "faint")]]
        return [[*start, *gauge_strip(self.view, width - len(label) - 3, self.look())]]

    def _welcome(self, width: int, height: int) -> list[Line]:
        if self._plan and self._plan.mode == "small":
            text = f"This terminal is {width}×{height}. The dashboard needs {MIN_WIDTH}×{MIN_HEIGHT} or more."
            return centred([[(text, "waiting")], say("{quit} leaves.", self.look())], width, height)
        demo = self._may_demo()
        return centred(welcome(self.desk.host.server, self.look(), demo=demo, offered=self._offered()), width, height)

    def _header(self, width: int, look: Look) -> list[Line]:
        return interval_bar(self.view, width, look) if self.view else []

    # -- what the keys act on

    def situation(self) -> Situation:
        """The active pane, its rows and the findings its cursor stands for."""
        host = self.desk.host
        if self.view is None:
            return Situation(
                "welcome",
                host.server,
                read_only=host.read_only,
                demo=self._may_demo(),
                offered=self._offered(),
                local=self.desk.offer is not None,
                elsewhere=bool(self.elsewhere),
            )
        state = self.panes[self.active].list
        context, topic, findings = self.active, "", []
        if self.active == "extractions":
            findings = [row.finding for row in state.chosen_rows if isinstance(row, HeldRow)]
            context = "held" if findings else context
        elif self.active == "findings":
            chosen = [row for row in state.chosen_rows if isinstance(row, FindingRow)]
            findings = [row.finding for row in chosen]
            current = state.current
            topic = current.topic if isinstance(current, FindingRow) else ""
        elif self.active == "meters" and isinstance(state.current, MeterRow):
            topic = state.current.meter.topic
            found = next((group.findings for group in self.view.topics if group.topic == topic), ())
            findings = [finding for finding in found if finding.state in ("accepted", "fresh")]
        return Situation(
            context,
            host.server,
            self.view,
            read_only=host.read_only,
            findings=tuple(findings),
            topic=topic,
            rows=len(state.rows),
            chosen=len(state.chosen),
            filtered=bool(state.filter),
            zoomed=self.zoomed,
            offered=self._offered(),
            local=self.desk.offer is not None,
            elsewhere=bool(self.elsewhere),
        )

    def _may_demo(self) -> bool:
        return self.desk.demo is not None and self.desk.host.server.state == "none"

    def _offered(self) -> bool:
        return self.desk.offer is not None and self.desk.offer.stands(self.desk.host)

    def hint_at_offer(self, offer: Offer) -> None:
        """Say once that notes need not go by patch."""
        offer.remark(HINT.format(key=self.look().key_of("init")))
        self.say_with_keys("Notes go by patch, which is best effort; {init} installs the plugin.")

    async def act(self, action: str, now: Situation) -> None:
        """Look the deed up and do it."""
        await deeds.do(self, action, now)
        self.repaint(frozenset(pane for pane in PANES if pane == self.active))

    def perform_later(self, action: str | None) -> None:
        """Carry out what was chosen in the palette."""
        if action:
            self.call_next(self.perform, BY_ID[action])

    @property
    def typing(self) -> bool:
        """Whether the active pane's filter is being typed."""
        return self.view is not None and self.panes[self.active].typing

    def takes_key(self, key: str, character: str | None) -> bool:
        """Text for the filter that is being typed."""
        return self.typing and self.panes[self.active].type_key(key, character)

    def on_paste(self, event: events.Paste) -> None:
        """Text for the filter."""
        if self.panes[self.active].typing:
            event.stop()
            self.panes[self.active].paste(event.text)

    # -- panes

    def activate(self, pane: str) -> None:
        """Give the keys to a pane and show it."""
        self.panes[self.active].typing = False
        self.active = pane
        if pane != "steps":
            self._other = pane
        self._replan()
        self.repaint()

    def zoom(self) -> None:
        """The active pane alone, or all again."""
        self.zoomed = not self.zoomed
        self._replan()

    def on_list_pane_activated(self, message: ListPane.Activated) -> None:
        """The mouse chose a pane, a row or a tab."""
        message.stop()
        self.activate(message.tab or message.pane.pane)
        if message.opened:
            self.call_next(self.perform, BY_ID["open"])

    def on_bar_clicked(self, message: Bar.Clicked) -> None:
        """The line of gauges leads to its pane."""
        message.stop()
        if message.bar is self.gauges:
            self.activate("meters")
