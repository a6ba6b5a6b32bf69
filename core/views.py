"""What a screen needs to draw, as plain immutable data, and the one interface through which it asks and commands.

The dashboard, `watch` and the tests' doubles all meet here: :class:`LedgerHost` is implemented by
:class:`core.host.Host` (a live server or the demo's replay server) and by :class:`core.watching.WatchHost` (a dump
file).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import msgspec

from core.ledger.commands import Command
from core.ledger.observations import Question
from core.ledger.repeats import RepeatsView
from core.ledger.steps import Step

Reply = Literal["once", "always", "reject"]
Answers = Sequence[Sequence[str]]
"""Labels of options, or words of one's own, by question; none where a question stays unanswered."""
Pane = Literal["status", "steps", "findings", "meters", "extractions", "log", "sessions"]


class DeliveryView(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the notes of all sessions since this ledger began; each note counts in one place."""

    in_flight: int = 0
    """Appended by the plugin before the model saw the output."""
    patched: int = 0
    """Patched into the finished call in time for the next request."""
    late: int = 0
    """Read one request late."""
    failed: int = 0
    unknown: int = 0
    """Nothing told whether they arrived."""
    questions: int = 0
    """Calls about which the plugin asked."""
    missed: int = 0
    """Calls whose output went on because the answer did not come within `hook_deadline_ms`."""
    p50_ms: float | None = None
    """Half of the plugin's round trips took no longer; None before the first."""
    p95_ms: float | None = None
    silent: tuple[str, ...] = ()
    """Root sessions about which the plugin does not ask: their notes go by patch."""


class ServerView(msgspec.Struct, frozen=True, kw_only=True):
    """The way to the server and what it says of itself."""

    url: str = ""
    version: str = ""
    servers: int = 0
    """OpenCode processes of the project that are followed; `url` and `version` are those of one of them."""
    state: Literal["searching", "none", "connecting", "live", "resyncing", "reconnecting", "refused", "closed", "file"]
    detail: str = ""
    """One sentence for the user: what is wrong and what to do; empty while all is well."""
    attempt: int = 0
    retry_at: int = 0
    """When the next attempt to connect is due, ms since the epoch; 0 when none is."""
    delivery: Literal["patch", "hook", "off", "none"] = "none"
    store: str = ""
    """Why facts are not stored at present, as a sentence; empty while they are."""
    host: str = ""
    """Who hosts the project while this ledger only watches: "process 1234 in pts/3"."""
    delivery_detail: str = ""
    """For example: "notes will be one request late (snapshots are off)"."""
    notes: DeliveryView = DeliveryView()
    others: tuple[str, ...] = ()
    """While no way in was found: servers for other folders, as address and folder."""
    replay: bool = False
    """True when a recording is played: the screen must say so."""
    speed: float = 1.0
    ended: bool = False
    """Replay only: the recording was played to its end."""


class RunningCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that has begun and not ended."""

    call: str
    origin: str
    tool: str
    summary: str
    since: int


class ReceiptCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call a finding was extracted from."""

    step: int
    t: int
    tool: str
    summary: str
    command: str
    ok: bool
    exit: int | None
    output: str
    lines: tuple[int, ...] = ()
    """Lines of `output`, counted from 1, that bear the finding out; 0 is the command. Empty: this call does not."""


class FindingView(msgspec.Struct, frozen=True, kw_only=True):
    """A finding as the list shows it."""

    id: str
    fact: str
    topic: str
    step: int
    """Step number at which it was established; 0 when a person added it."""
    established_at: int
    state: Literal["accepted", "held", "doubtful", "fresh", "superseded"]
    pinned: bool
    source: Literal["extraction", "user"]
    held_for: str = ""
    """Why it waits for a person, while it is held."""
    mark: str = ""
    """What a reader should know of it, for example that it reads like an order."""
    stale_for: str = ""
    """The file that changed since, while it is doubtful."""
    stale_at: int = 0
    """When that was noticed, ms since the epoch; 0 when it is not known."""
    superseded_by: str = ""
    """The fact that took its place."""
    files: tuple[str, ...] = ()
    """Files it is about, as absolute paths."""
    history: tuple[str, ...] = ()
    """Sentences, oldest first: "12:31 extracted by x2", "12:40 edited"."""
    receipt: tuple[ReceiptCall, ...] = ()


class TopicView(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of one topic: pinned first, then by age."""

    topic: str
    findings: tuple[FindingView, ...]
    cap: int
    muted: bool


class PairView(msgspec.Struct, frozen=True, kw_only=True):
    """Two findings about which a person may decide; `t` in ms since the epoch."""

    id: str
    kind: Literal["superseded", "unsure", "near"]
    """The newer took the older one's place; they may contradict each other; they may say the same."""
    old: FindingView
    new: FindingView
    t: int


class BudgetView(msgspec.Struct, frozen=True, kw_only=True):
    """What extractions have used and may use, in tokens; a limit of 0 is none."""

    session_tokens: int = 0
    session_limit: int = 0
    day_tokens: int = 0
    day_limit: int = 0
    reached: str = ""
    """Why no extraction is started any more; empty while there is something left."""


class MeterView(msgspec.Struct, frozen=True, kw_only=True):
    """Escalation of one topic in one agent session."""

    topic: str
    name: str
    """Short label: the file name, or the topic where it names none."""
    origin: str
    is_sub_agent: bool
    count: int
    threshold: int
    """Touches at which the hard stop begins; 0: never."""
    action: Literal["calm", "gentle", "quiet", "stop"]
    """What the last touch led to; `calm` before the first."""
    shown_at: int
    """Step at which the note was last shown; 0: never."""
    muted: bool


class ExtractionView(msgspec.Struct, frozen=True, kw_only=True):
    """An extraction in its present state; see the `extraction` line for the counts."""

    id: str
    state: Literal["queued", "running", "done", "failed", "skipped"]
    first_step: int
    last_step: int
    steps: int
    started: int
    agent: str = ""
    model: str = ""
    found: int = 0
    added: int = 0
    duplicates: int = 0
    rejected: int = 0
    held: int = 0
    error: str = ""
    ms: int = 0
    prompt_chars: int = 0
    tokens: int = 0
    cost: float = 0.0
    retry_at: int = 0
    """When the steps will be tried again, ms since the epoch; 0: not planned."""


class LogRow(msgspec.Struct, frozen=True, kw_only=True):
    """One domain event as the log shows it."""

    t: int
    kind: str
    """Name of the JSON line it stands for: step, touch, note, extraction, finding, session, connection, warning; else
    what it is about: user, request, plugin, ledger."""
    text: str
    detail: str = ""
    level: Literal["info", "warn", "error"] = "info"


class PermissionView(msgspec.Struct, frozen=True, kw_only=True):
    """A request on which the agent waits."""

    id: str
    kind: Literal["permission", "question"]
    title: str
    text: str
    """The whole command, file or question; several lines where it has them."""
    patterns: str
    always: str
    """What the answer `always` would allow from then on."""
    origin: str
    """Agent session that waits."""
    since: int
    questions: Sequence[Question] = ()
    """What a question asks, one by one; empty for a permission."""


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one root session. Sequences are oldest first unless said otherwise."""

    root: str
    title: str
    directory: str
    state: Literal["busy", "idle", "error", "deleted", "loading"]
    agent: str
    model: str
    steps: Sequence[Step]
    """The last completed steps (bounded), earlier ones from before attaching included."""
    running: Sequence[RunningCall]
    completed: int
    buffered: int
    interval: int
    earlier: int
    """Steps from before attaching that wait for the user's `x`."""
    topics: Sequence[TopicView]
    findings: int
    max_findings: int
    held: int
    """Findings that wait for a person."""
    cap_full_of_pins: bool
    meters: Sequence[MeterView]
    extractions: Sequence[ExtractionView]
    log: Sequence[LogRow]
    tokens: int
    cost: float
    ledger_tokens: int
    """Spent on extractions."""
    ledger_cost: float
    origins: dict[str, str]
    """Title by agent session id, for the sub-agents."""
    queued_note: int
    """How many facts wait to be put in front of the agent by `i`."""
    permissions: Sequence[PermissionView] = ()
    """Requests that wait for a person's answer."""
    held_findings: Sequence[FindingView] = ()
    """Those that wait for a person, oldest first."""
    pairs: Sequence[PairView] = ()
    """Pairs about which a person may decide, oldest first."""
    budget: BudgetView = BudgetView()
    repeats: RepeatsView = RepeatsView()
    broken_off: int = 0
    """Steps that did not complete and whose outputs wait for extraction; not among `buffered` and `earlier`."""


class SessionItem(msgspec.Struct, frozen=True, kw_only=True):
    """A root session in the picker."""

    root: str
    title: str
    directory: str
    state: Literal["busy", "idle", "error", "deleted", "waiting"]
    updated: int
    findings: int
    waits_for: Literal["", "permission", "question"] = ""
    """What a waiting session, or a sub-agent of it, has waited for longest."""
    steps: int = 0
    """Steps that are known of it."""
    server: str = ""
    """Where several OpenCode processes are followed: the address of the one it is in."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What an extraction of the earlier steps would send."""

    steps: int
    prompt_chars: int
    tokens: int
    """Roughly: characters / 4."""


class LedgerHost(Protocol):
    """A running ledger. All methods are called from the event loop's thread; none blocks."""

    @property
    def server(self) -> ServerView:
        """The way to the server, as of now."""
        ...

    @property
    def sessions(self) -> Sequence[SessionItem]:
        """Root sessions of the directory, the most recently active first."""
        ...

    @property
    def selected(self) -> str | None:
        """The root session on screen; None while there is none."""
        ...

    @property
    def read_only(self) -> bool:
        """True when commands are refused (`watch`)."""
        ...

    def revision(self, pane: Pane) -> int:
        """A number that changes whenever what `pane` shows of the selected session has changed."""
        ...

    def view(self) -> SessionView | None:
        """The selected session; None while there is none. Cheap: built from what is already in memory."""
        ...

    def receipt(self, finding: str) -> FindingView | None:
        """A finding of the selected session with its whole receipt."""
        ...

    def estimate(self) -> Estimate:
        """What `ExtractNow(earlier=True)` would send for the selected session."""
        ...

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` (at once, from the loop) after any change; the result unsubscribes it."""
        ...

    def select(self, root: str | None) -> None:
        """Show this root session; None: follow the busy one again."""
        ...

    def command(self, command: Command) -> tuple[str, bool]:
        """Carry out a user's command on the selected session; the answer is a sentence and whether it was done."""
        ...

    def reply_permission(self, id: str, reply: Reply) -> None:
        """Answer a permission request; a failure becomes a warning."""
        ...

    def reply_question(self, id: str, answers: Answers | None) -> None:
        """Answer the questions of a request, all at once; None refuses. A failure becomes a warning."""
        ...

    def retry(self) -> None:
        """Try to connect at once, also after the server refused."""
        ...

    def set_speed(self, speed: float) -> None:
        """Replay only: play at this multiple of the recorded speed; 0 pauses."""
        ...

    async def start(self) -> None:
        """Begin; returns at once, the connection is made in the background."""
        ...

    async def stop(self) -> None:
        """End cleanly: abort a running extraction, delete its session, write what is left to write."""
        ...
