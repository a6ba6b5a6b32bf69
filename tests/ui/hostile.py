"""Data that means harm: escape codes, markup, control and wide characters, enormous lines."""

from __future__ import annotations

from core.ledger.repeats import RepeatRow, RepeatsView
from core.views import (
    BudgetView,
    ExtractionView,
    FindingView,
    LogRow,
    MeterView,
    PairView,
    ReceiptCall,
    RunningCall,
    SessionView,
    TopicView,
)
from tests.ui.example import CHILD, NOW, call, example, finding, step

HOSTILE = (
    "\x1b]52;c;aGFja2Vk\x07\x1b[2J\x1b[31mred\x9b31m\x00\x07 [red]markup[/red] [/ [@click=app.quit]x[/] \u202egnp.exe "
    "漢字テスト 👩\u200d💻 👍🏽 ⚠\ufe0f 🇩🇪 e\u0301 \ue0b0 \u2028end"
)
"""Escape codes, C1 and control bytes, markup, bidi override, wide, joined and combining characters."""

LONG_LINE = "x" * 150_000 + "漢" * 75_000


def hostile() -> SessionView:
    """A session in which every text is hostile; real hosts clean text before, this one does not."""
    return example(
        title=HOSTILE,
        directory="/tmp/" + HOSTILE.replace("/", ""),
        agent=HOSTILE,
        model=HOSTILE,
        steps=(
            step(1, call("c1", HOSTILE, HOSTILE, HOSTILE, ok=False)),
            step(2, call("c2", "bash", LONG_LINE, LONG_LINE)),
        ),
        running=(RunningCall(call="c3", origin=CHILD, tool="bash", summary=HOSTILE, since=NOW),),
        topics=(TopicView(topic=HOSTILE, findings=_findings(), cap=5, muted=True),),
        meters=(_meter(),),
        extractions=(_extraction(),),
        log=(
            LogRow(t=NOW, kind="warning", text=HOSTILE, detail=HOSTILE, level="warn"),
            LogRow(t=NOW, kind="note", text=LONG_LINE),
        ),
        held_findings=_held(),
        held=2,
        pairs=_pairs(),
        budget=BudgetView(day_tokens=9, day_limit=9, reached=HOSTILE),
        repeats=RepeatsView(rows=(RepeatRow(command=HOSTILE, before=2, after=1, tokens=9),), more=3, noted=True),
        origins={CHILD: HOSTILE},
        completed=2,
    )


def _findings() -> tuple[FindingView, ...]:
    output = HOSTILE + "\n" + LONG_LINE
    receipt = ReceiptCall(
        step=3, t=NOW, tool=HOSTILE, summary=HOSTILE, command=HOSTILE, ok=False, exit=2, output=output
    )
    return (
        finding("f1", HOSTILE, HOSTILE, 3, NOW, receipt=(receipt,), history=(HOSTILE,)),
        finding("f2", LONG_LINE, "long", 4, NOW, state="superseded", superseded_by=HOSTILE),
        finding("f3", HOSTILE, "long", 4, NOW, state="doubtful", stale_for=HOSTILE, stale_at=NOW, mark=HOSTILE),
    )


def _held() -> tuple[FindingView, ...]:
    receipt = ReceiptCall(
        step=3, t=NOW, tool="bash", summary=HOSTILE, command=HOSTILE, ok=True, exit=0, output=HOSTILE * 3, lines=(0, 1)
    )
    fields = {"state": "held", "held_for": HOSTILE, "mark": HOSTILE, "files": (HOSTILE,), "receipt": (receipt,)}
    return (finding("h1", HOSTILE, HOSTILE, 3, NOW, **fields), finding("h2", LONG_LINE, "long", 4, NOW, **fields))


def _pairs() -> tuple[PairView, ...]:
    old, new = finding("o", HOSTILE, HOSTILE, 1, NOW, state="superseded"), finding("n", LONG_LINE, HOSTILE, 2, NOW)
    return (PairView(id="p1", kind="superseded", old=old, new=new, t=NOW),)


def _meter() -> MeterView:
    return MeterView(
        topic=HOSTILE,
        name=HOSTILE,
        origin=CHILD,
        is_sub_agent=True,
        count=9,
        threshold=0,
        action="quiet",
        shown_at=1,
        muted=False,
    )


def _extraction() -> ExtractionView:
    return ExtractionView(
        id=HOSTILE,
        state="failed",
        first_step=1,
        last_step=2,
        steps=2,
        started=NOW,
        error=HOSTILE,
        agent=HOSTILE,
        model=HOSTILE,
    )
