"""What the parts of one engine share: settings, findings, meters, the index of names, counters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from core.ledger.effects import Effect, FindingReport, WarningReport
from core.ledger.escalation import Meters, Scope
from core.ledger.ledger import Change, Ledger
from core.ledger.touch import Name, TopicIndex, names_in

DEFAULT_EXTENSIONS: Final = frozenset(
    ("ckpt", "bin", "bpe", "json", "safetensors", "npy", "pt", "pth", "csv", "txt", "dat")
)


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings the engine obeys; names, defaults and rules as in the README's table.

    `threshold` is `escalation_injections` with 0 for "never"; extensions are without dot and in lower case.
    """

    extraction_interval_steps: int = 15
    max_findings_per_topic: int = 5
    max_findings: int = 50
    injection_enabled: bool = True
    threshold: int = 4
    escalation_scope: Scope = "topic"
    injectable_extensions: frozenset[str] = DEFAULT_EXTENSIONS
    injection_tools: frozenset[str] = frozenset(("bash", "shell"))
    max_buffered_steps: int = 200


class State:
    """Shared, mutable state of one root session's engine."""

    def __init__(self, root: str, settings: EngineSettings) -> None:
        self.root = root
        self.settings = settings
        self.ledger = Ledger(settings.max_findings_per_topic, settings.max_findings)
        self.meters = Meters(settings.threshold, settings.escalation_scope)
        self.completed = 0
        self.watching = False
        """Touches are counted; notes are another process's business."""
        self.revisions = {"steps": 0, "findings": 0, "meters": 0, "extractions": 0, "status": 0}
        self._index = TopicIndex(settings.injectable_extensions)
        self._warned: set[str] = set()

    @property
    def step(self) -> int:
        """Number of the step now under way."""
        return self.completed + 1

    def changed(self, *panes: str) -> None:
        """Note that what these panes show is different now."""
        for pane in panes:
            self.revisions[pane] += 1

    def names(self, command: str, description: str) -> tuple[Name, ...]:
        """Files with one of the settings' extensions that a command looks at; none while no topic names any."""
        if not self._index:
            return ()
        return names_in(command, description, self.settings.injectable_extensions)

    def touched(self, names: Sequence[Name]) -> tuple[str, ...]:
        """Topics that name one of these files."""
        return self._index.touched(names)

    def apply(self, t: int, changes: Sequence[Change]) -> list[Effect]:
        """Report changes of findings and let index and meters follow them."""
        effects: list[Effect] = []
        for topic in self.ledger.moved_topics():
            (self._index.add if self.ledger.has_topic(topic) else self._index.discard)(topic)
        for change in changes:
            finding = change.finding
            if change.fresh:
                self.meters.start_over(finding.topic)
                self.changed("meters")
            elif change.kind == "edited":
                self.meters.show_again(finding.topic)
            effects.append(
                FindingReport(
                    t=t,
                    session=self.root,
                    change=change.kind,
                    id=finding.id,
                    fact=finding.fact,
                    topic=finding.topic,
                    step=finding.step,
                    origin=finding.origin,
                    call=finding.call,
                    reason=change.reason,
                )
            )
            if change.kind == "rejected" and "pinned" in change.reason:
                text = f"{change.reason}: new facts are not kept until one is unpinned"
                effects += self.warn_once(t, "cap_full_of_pins", text)
        if changes:
            self.changed("findings")
        return effects

    def warn_once(self, t: int, code: str, message: str) -> list[Effect]:
        """A warning, the first time its text comes up."""
        if message in self._warned:
            return []
        self._warned.add(message)
        return [WarningReport(t=t, session=self.root, code=code, message=message)]
