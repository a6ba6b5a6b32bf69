"""The status lines: which session, how the server is, and the verdict - is the agent learning or going in circles?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from core.views import MeterView, PermissionView, ServerView, SessionItem, SessionView
from ledger_tui.format import count, elapsed, fit, money, plural
from ledger_tui.rows.delivery import status_words
from ledger_tui.rows.empty import from_file, running_now, was_extracted
from ledger_tui.rows.look import Line, Look, clip, measure, say
from ledger_tui.rows.meters import count_of, ordered

SERVER_ROLES = {
    "searching": ("busy", "searching"),
    "none": ("waiting", "no server"),
    "connecting": ("busy", "connecting"),
    "live": ("live", "live"),
    "resyncing": ("busy", "catching up"),
    "reconnecting": ("waiting", "reconnecting"),
    "refused": ("error", "refused"),
    "closed": ("error", "closed"),
    "file": ("live", "watching a file"),
}
"""Role and word by the state of the server."""


_SESSION_ROLES = {"busy": "busy", "idle": "waiting", "error": "error", "deleted": "error", "loading": "busy"}


def verdict(view: SessionView, look: Look) -> tuple[str, str, str]:
    """Role, headline and explanation of how the agent is doing, from meters and findings only."""
    if from_file(view):
        return "calm", "watching", f"{plural(view.findings, 'fact')} in this file"
    meters = [meter for meter in ordered(view) if not meter.muted]
    worst = meters[0] if meters else None
    if worst and worst.action == "stop" and view.state not in ("busy", "loading"):
        return (
            "quiet",
            "went in circles",
            f"over {worst.name}, looked at {_times(worst)}; told to stop",
        )
    if worst and worst.action == "stop":
        return "stop", "going in circles", f"{worst.name} looked at {_times(worst)}; told to stop"
    if worst and worst.action == "quiet" and worst.count > 1:
        return (
            "quiet",
            "looking again",
            f"{worst.name} {count_of(worst)} looks before a stop"
            if worst.threshold
            else f"{worst.name} {_times(worst)}",
        )
    return _calm_verdict(view)


def _calm_verdict(view: SessionView) -> tuple[str, str, str]:
    """The same while nothing is looked at again."""
    recent = _recent_facts(view)
    if recent:
        span = min(view.interval, view.completed)
        return "calm", "learning", f"{plural(recent, 'new fact')} in the last {plural(span, 'step')}"
    if view.findings:
        return "calm", "steady", f"{plural(view.findings, 'fact')} known, nothing looked at twice"
    if view.completed or view.steps:
        if running := running_now(view):
            return "calm", "watching", f"no facts yet, {running} is running"
        left_over = max(0, view.interval - view.buffered)
        which = "next" if was_extracted(view) else "first"
        return "calm", "watching", f"no facts yet, {which} extraction in {plural(left_over, 'step')}"
    return "waiting", "waiting", "no step yet"


def _times(meter: MeterView) -> str:
    since = f" since s{meter.shown_at}" if meter.shown_at else ""
    return ("once" if meter.count == 1 else f"{meter.count} times") + since


def _recent_facts(view: SessionView) -> int:
    """Findings established in the last `interval` steps."""
    since = view.completed - view.interval
    return sum(1 for topic in view.topics for f in topic.findings if f.step > max(0, since) and f.state != "superseded")


def status_lines(
    server: ServerView,
    view: SessionView | None,
    width: int,
    rows: int,
    look: Look,
    *,
    offered: bool = False,
    elsewhere: Sequence[SessionItem] = (),
) -> list[Line]:
    """One or two lines of exactly `width` cells at most.

    `offered`: the plugin can be installed from here. `elsewhere`: sessions not on screen that wait for an answer.
    """
    if rows == 1:
        ends = [
            [*_verdict_span(view, look, elsewhere), *_watching(server, look)],
            [] if server.host else _live(server, look, short=True),
            *_queued(view),
            *_spent(view),
            *_notes(server, view),
            *_offer(server, look, offered=offered),
            *_agent(view),
        ]
        return [_fill(_identity(server, view, look), ends, width)]
    first = _fill(_identity(server, view, look), [_live(server, look, short=False), *_agent(view)], width)
    if view is not None and view.permissions:
        return [first, _asked_line(view.permissions, width, look)]
    if elsewhere:
        return [first, _elsewhere_line(elsewhere, width, look)]
    ways = [*_notes(server, view), *_offer(server, look, offered=offered)]
    return [first, _fill(_verdict_line(view, look), [*_queued(view), *ways, *_spent(view)], width)]


def _identity(server: ServerView, view: SessionView | None, look: Look) -> Line:
    line: Line = [(" ledger ", "brand"), (" ", "text")]
    if server.replay:
        speed = "ended" if server.ended else "paused" if server.speed == 0 else f"×{server.speed:g}"
        line += [(f" REPLAY {speed} ", "replay"), (" ", "text")]
    if view:
        folder = PurePath(view.directory).name
        line += [(fit(folder, 20) + f" {look.signs.crumb} ", "muted")] if folder else []
        line.append((fit(view.title or view.root, 48), "strong"))
        role = _SESSION_ROLES[view.state]
        line += [] if from_file(view) else [(f"  {look.signs.of(role)} {view.state}", role)]
    return line


def _live(server: ServerView, look: Look, *, short: bool) -> Line:
    role, word = SERVER_ROLES[server.state]
    line: Line = [(f"{look.signs.of(role)} {word}", role)]
    if short:
        return line
    more = f" +{server.servers - 1}" if server.servers > 1 else ""
    line += [(" " + fit(short_address(server.url), 28) + more, "muted")] if server.url else []
    return [*line, (f" {look.signs.dot} OpenCode {fit(server.version, 12)}", "faint")] if server.version else line


def short_address(url: str) -> str:
    """An address as ":4096" for this machine, else host and port; what is no URL as it is."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return url
    if not host:
        return url
    if host in ("127.0.0.1", "localhost", "::1") and port:
        return f":{port}"
    return f"{host}:{port}" if port else host


def _agent(view: SessionView | None) -> list[Line]:
    if not view:
        return []
    return [[(fit(text, 24), "muted")] for text in (view.agent, view.model) if text]


def _notes(server: ServerView, view: SessionView | None) -> list[Line]:
    """How notes get to the agent, or what is wrong with that; while another ledger sees to it, which one."""
    if server.host:
        return [[(fit(f"hosted by {server.host}", 48), "waiting")]]
    words = status_words(server, view) if view is not None else []
    return [words] if words else []


def _offer(server: ServerView, look: Look, *, offered: bool) -> list[Line]:
    """The key that brings notes in flight, where they need not go by patch."""
    return [say("{init} installs the plugin", look)] if offered and server.delivery == "patch" else []


def _spent(view: SessionView | None) -> list[Line]:
    """Tokens and cost of the session, then those of the ledger's own extractions."""
    if view is None or from_file(view):
        return []
    return [
        [(_amount(view.tokens, view.cost), "muted")],
        [("ledger " + _amount(view.ledger_tokens, view.ledger_cost), "faint")],
    ]


def _amount(tokens: int, cost: float) -> str:
    return f"{count(tokens)} tok {money(cost)}" if cost else f"{count(tokens)} tok"


def _verdict_span(view: SessionView | None, look: Look, elsewhere: Sequence[SessionItem] = ()) -> Line:
    if view is not None and view.permissions:
        return [("? waits for you ", "error"), *say("{permit}", look)]
    if elsewhere:
        return [("? another waits ", "error"), *say("{permit}", look)]
    if view is None:
        return []
    role, headline, _ = verdict(view, look)
    return [(f"{look.signs.of(role)} {headline}", role)]


def _watching(server: ServerView, look: Look) -> Line:
    """In short that another ledger hosts the project, and which process that is."""
    if not server.host:
        return []
    return [(f"  {look.signs.of('waiting')} watching {fit(server.host.partition(' in ')[0], 16)}", "waiting")]


def _elsewhere_line(elsewhere: Sequence[SessionItem], width: int, look: Look) -> Line:
    """The session that waits for an answer out of sight, and the keys that lead there."""
    more = f" and {len(elsewhere) - 1} more" if len(elsewhere) > 1 else ""
    ways: Line = [(more, "muted"), ("  ", "text"), *say("{permit} goes there, {sessions} lists them", look)]
    what = "a permission" if elsewhere[0].waits_for == "permission" else "an answer"
    start: Line = [(" ? another session waits", "error"), (f" for {what}: ", "muted")]
    title = fit(elsewhere[0].title or elsewhere[0].root, max(0, width - measure(start) - measure(ways) - 1))
    return clip([*start, (title, "strong"), *ways], width)


def _asked_line(asked: Sequence[PermissionView], width: int, look: Look) -> Line:
    """The oldest request on which the agent waits, and the key that answers it."""
    more = f" and {len(asked) - 1} more" if len(asked) > 1 else ""
    answer: Line = [(more, "muted"), ("  ", "text"), *say("{permit} answers", look), (" ", "text")]
    start: Line = [(" ? waiting for you: ", "error"), (fit(asked[0].title, 24), "strong"), (" ", "text")]
    room = width - measure(start) - measure(answer) - 2
    text = fit(" ".join(asked[0].text[:2_000].split()), max(0, room))
    return clip([*start, (f'"{text}"' if text else "", "text"), *answer], width)


def _verdict_line(view: SessionView | None, look: Look) -> Line:
    if view is None:
        return [(" ", "text")]
    _, _, why = verdict(view, look)
    return [(" ", "text"), *_verdict_span(view, look), ("  " + fit(why, 64), "text")]


def _queued(view: SessionView | None) -> list[Line]:
    """What the user wants told and no call has taken along yet."""
    facts = view.queued_note if view is not None else 0
    return [[(f"{plural(facts, 'fact')} to tell at the next call", "busy")]] if facts else []


def _fill(start: Line, ends: list[Line], width: int) -> Line:
    """`start` at the left and as many of `ends` at the right as fit, divided by dots; the last of them go first."""
    kept = [end for end in ends if end]
    while len(kept) > 1 and measure(start) + _ends_width(kept) + 2 > width:
        kept.pop()
    tail: Line = []
    for end in kept:
        tail += [(" · ", "faint"), *end] if tail else end
    room = width - measure(tail) - (1 if tail else 0)
    head = clip(_squeezed(start, max(0, room - 2)), max(0, room - 2))
    return clip([*head, (" " * max(0, room - measure(head)), "text"), *tail, (" ", "text")], width)


def _squeezed(line: Line, room: int) -> Line:
    """`line` without its state, then without its folder, when it does not fit."""
    for style in ("busy", "waiting", "error", "muted"):
        if measure(line) > room:
            line = [span for span in line if span[1] != style]
    return line


def _ends_width(ends: list[Line]) -> int:
    return sum(measure(end) + 3 for end in ends)


def banner(server: ServerView, look: Look, *, offered: bool = False) -> Line:
    """What is wrong with the connection and what happens next; empty while all is well.

    `offered`: the plugin can be installed from here.
    """
    if server.state == "reconnecting":
        wait = server.retry_at - look.now
        text = f"Reconnecting, try {max(1, server.attempt)}"
        text += f", next in {elapsed(wait + 999)}" if wait > 0 else ""
        line: Line = [(text + "; nothing is lost.", "waiting")]
        return [*line, ("  " + fit(server.detail, 200), "muted")] if server.detail else line
    if server.store:
        return [(f"{look.signs.warn} ", "error"), (fit(server.store, 300), "error")]
    if server.state == "live" and server.ended:
        return say("The recording has ended: look around, or {quit} to quit.", look)
    if server.state in ("live", "file") and not server.detail:
        return []
    role, word = SERVER_ROLES[server.state]
    first = say("Press {init}, then restart OpenCode. ", look) if offered and server.state == "none" else []
    return [*first, (fit(server.detail, 300) or word.capitalize(), role)]


def welcome(server: ServerView, look: Look, *, demo: bool, offered: bool = False) -> list[Line]:
    """The sentences shown while there is no session at all."""
    role, word = SERVER_ROLES[server.state]
    out: list[Line] = [
        [("ledger remembers what your agent has established,", "strong")],
        [("and shows it to the agent before it looks again.", "strong")],
        [],
        [(f"{look.signs.of(role)} {word}", role)],
        [],
    ]
    if server.detail:
        out += [[(fit(server.detail, 400), "text")], []]
    if offered and server.state in ("none", "live"):
        out += [say(_OFFER, look), []]
    for text in _advice(server, demo=demo):
        out += [say(text, look), []]
    if server.state == "none" and server.others:
        out.append([(fit("OpenCode for other folders: " + ", ".join(server.others), 300), "faint")])
    return out


_OFFER = (
    "This project is not prepared: press {init} to let the ledger install its plugin. Plain `opencode` is then found "
    "too, and notes reach the agent in time."
)


def _advice(server: ServerView, *, demo: bool) -> list[str]:
    last = (
        "Press {demo} for the demo, {help} for help, {quit} to leave."
        if demo
        else "Press {help} for help, {quit} to leave."
    )
    texts = {
        "searching": ["Looking for an OpenCode server of this folder."],
        "none": ["It is found by itself as soon as it listens.", last]
        if server.detail
        else ["Start `opencode --port 4096` here; it is found by itself.", last],
        "connecting": ["The panes open as soon as the server answers."],
        "live": [
            "No session here yet. Ask the agent something in OpenCode, and its steps appear.",
            "Press {sessions} to choose a session, {help} for help.",
        ],
        "resyncing": ["Reading back what the session has done so far."],
        "refused": [
            "{quit} leaves; start again with the password, or press {retry} when the server needs none any more."
        ],
        "closed": ["The connection is closed. {quit} leaves."],
        "file": ["No facts in this file yet; they appear here as soon as a ledger writes them.", "{quit} leaves."],
    }
    if server.state == "reconnecting":
        lost = "Nothing is lost: what happens meanwhile is read back from the server."
        return [lost if server.version else "It is tried again and again, and at once with {retry}.", last]
    return texts.get(server.state, [last])
