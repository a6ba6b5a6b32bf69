"""Why an action is not possible now: sentences for people, empty when it is."""

from __future__ import annotations

from ledger_tui.actions.action import Situation


def writable(now: Situation) -> str:
    """Facts can be changed here."""
    if now.read_only:
        where = f"in {now.server.host}" if now.server.host else "in the ledger that writes the file"
        return f"This dashboard only watches; change facts {where}."
    return "" if now.view else "No session is shown yet."


def on_findings(now: Situation) -> str:
    """A finding is under the cursor, or some are chosen."""
    return writable(now) or ("" if now.findings else "No finding is under the cursor.")


def on_one_finding(now: Situation) -> str:
    """Exactly one finding is meant."""
    return on_findings(now) or ("" if len(now.findings) == 1 else "Edit one finding at a time; esc drops the choice.")


def on_topic(now: Situation) -> str:
    """A topic is under the cursor."""
    return writable(now) or ("" if now.topic else "No topic is under the cursor.")


def steps_waiting(now: Situation) -> str:
    """There is something to extract."""
    refused = writable(now)
    if refused or now.view is None:
        return refused
    waits = now.view.buffered or now.view.earlier or now.view.broken_off
    return "" if waits else "No steps wait for extraction."


def tellable(now: Situation) -> str:
    """There is something to tell the agent, and a way to do so."""
    refused = writable(now)
    if refused:
        return refused
    if now.server.delivery == "off":
        return "Notes are off: injection_enabled is false."
    if now.context == "findings":
        return on_findings(now)
    return "" if now.findings else "This topic has no finding to tell."


def has_rows(now: Situation) -> str:
    """The list is not empty."""
    return "" if now.rows else "The list is empty."


def filterable(now: Situation) -> str:
    """There is something to filter, or a filter to change."""
    return "" if now.rows or now.filtered else "The list is empty: nothing to filter."


def replaying(now: Situation) -> str:
    """A recording is played."""
    return "" if now.server.replay else "Only a replay has a speed."


def unconnected(now: Situation) -> str:
    """The connection can be tried."""
    if now.server.state in ("searching", "none"):
        return "A server is looked for all the time."
    return "" if now.server.state in ("reconnecting", "refused") else "The connection needs no help."


def asked(now: Situation) -> str:
    """The agent waits for an answer."""
    if now.read_only:
        return "This dashboard only watches; answer in OpenCode."
    waits = now.elsewhere or (now.view and now.view.permissions)
    return "" if waits else "The agent waits for no answer."


def expandable(now: Situation) -> str:
    """There is more to show."""
    return "All of it is shown." if now.whole else ""


def answerable(now: Situation) -> str:
    """Requests can be answered here."""
    return "This dashboard only watches; answer in OpenCode." if now.read_only else ""


def optional(now: Situation) -> str:
    """The question has options."""
    return answerable(now) or ("" if now.rows else "There is nothing to choose from.")


def tickable(now: Situation) -> str:
    """Several options can be chosen."""
    return answerable(now) or ("" if now.several else "Only one option can be chosen here.")


def own(now: Situation) -> str:
    """Own words are an answer."""
    return answerable(now) or ("" if now.own_words else "Only the options are an answer here.")


def several_questions(now: Situation) -> str:
    """There is another question."""
    return "" if now.questions > 1 else "There is only one question."


def demo(now: Situation) -> str:
    """The demo can be started."""
    return "" if now.demo else "The demo can only be started where no server was found."


def installable(now: Situation) -> str:
    """The plugin can be installed."""
    if now.server.replay or now.server.state == "file":
        return "A recording and a file need no plugin."
    if now.read_only:
        return "This dashboard only watches; `ledger-tui init` installs the plugin."
    return "" if now.local else "Nothing to install: OpenCode is on another machine, which loads no plugin from here."


def on_held(now: Situation) -> str:
    """A fact that waits for a person."""
    return writable(now) or ("" if now.findings else "No held fact is under the cursor.")


def on_pair(now: Situation) -> str:
    """A pair of the inbox."""
    return writable(now) or ("" if now.pair else "No pair waits for you.")


def swappable(now: Situation) -> str:
    """One of the two can take the other's place."""
    refused = on_pair(now)
    return refused or ("These say the same: merge them, or keep both." if now.pair == "near" else "")


def mergeable(now: Situation) -> str:
    """The two say the same."""
    refused = on_pair(now)
    return refused or ("" if now.pair == "near" else "Only facts that say the same can be merged.")


def has_session(now: Situation) -> str:
    """There is something to show."""
    return "" if now.view else "No session is shown yet."


def has_pairs(now: Situation) -> str:
    """A pair waits for a person."""
    return has_session(now) or ("" if now.view and now.view.pairs else "No pair of facts waits for you.")


def has_counts(now: Situation) -> str:
    """Calls have been counted."""
    file = "A dump file holds no calls; the ledger that writes it shows them."
    return has_session(now) or (file if now.server.state == "file" else "")
