"""What the parts of one engine share: settings, findings, meters, the index of names, counters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, Literal

import msgspec

from core.ledger import review
from core.ledger.changes import Change, Review
from core.ledger.effects import Effect, FindingReport, WarningReport
from core.ledger.escalation import Meters, Scope
from core.ledger.files import is_about
from core.ledger.keys import Hit, KeyIndex
from core.ledger.ledger import Ledger
from core.ledger.repeats import Repeats
from core.ledger.touch import Name, TopicIndex, names_in

DEFAULT_EXTENSIONS: Final = frozenset(
    ("ckpt", "bin", "bpe", "json", "safetensors", "npy", "pt", "pth", "csv", "txt", "dat")
)

REMEMBERED_CHANGES: Final = 1_000
"""Files of which it is remembered when they changed, per ledger."""
KEPT_CHANGES: Final = 50
"""Of them, those that outlast the process: the facts they put in doubt already are marked anyhow."""
SAME_MOMENT_MS: Final = 2_000
"""A call that writes a file and shows it is told of before the change is: within this time they are one."""


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
    review: Review = "unsupported"
    doubtful: Literal["caveat", "withhold"] = "caveat"
    extractor: Literal["llm", "rules", "both"] = "llm"
    match: Literal["files", "keys"] = "files"
    key_tools: frozenset[str] = frozenset(("bash", "shell"))
    extraction_budget_session_tokens: int = 0
    extraction_budget_day_tokens: int = 0


class State:
    """Shared, mutable state of one root session's engine."""

    def __init__(self, root: str, settings: EngineSettings) -> None:
        self.root = root
        self.settings = settings
        self.ledger = Ledger(
            settings.max_findings_per_topic, settings.max_findings, show_doubtful=settings.doubtful == "caveat"
        )
        self.meters = Meters(settings.threshold, settings.escalation_scope)
        self.completed = 0
        self.directory = ""
        """Of the session, absolute; empty until it is known."""
        self.repeats = Repeats()
        self.watching = False
        """Touches are counted; notes are another process's business."""
        self.revisions = {"steps": 0, "findings": 0, "meters": 0, "extractions": 0, "status": 0}
        self._index = TopicIndex(settings.injectable_extensions)
        self._keys = KeyIndex(settings.injectable_extensions)
        self._warned: set[str] = set()
        self._changes: OrderedDict[str, int] = OrderedDict()

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

    def hits(self, tool: str, text: str) -> tuple[Hit, ...]:
        """Topics with a key that a call names (setting `match`)."""
        return self._keys.touched(tool, text) if tool in self.settings.key_tools and len(self._keys) else ()

    def apply(self, t: int, changes: Sequence[Change]) -> list[Effect]:
        """Report changes of findings and let index and meters follow them."""
        effects: list[Effect] = []
        for topic in sorted(self.ledger.moved_topics()):
            (self._index.add if self.ledger.has_topic(topic) else self._index.discard)(topic)
            if self.settings.match == "keys":
                (self._keys.add if self.ledger.has_topic(topic) else self._keys.discard)(topic)
        for change in changes:
            finding = change.finding
            if change.fresh:
                self.meters.start_over(finding.topic)
                self.changed("meters")
            elif change.kind in ("edited", "doubtful"):
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
            self.changed("findings", "extractions")
        return effects

    def about(self, paths: Sequence[str]) -> tuple[str, ...]:
        """The files among `paths` that a finding which holds is about, as the findings spell them."""
        known = dict.fromkeys(file for finding in self.ledger if finding.shown_to_agent for file in finding.files)
        return tuple(file for file in known if is_about(paths, file))

    def files_written(self, t: int, paths: Iterable[str]) -> None:
        """Files that a call wrote at `t`: facts from outputs before that, which are still to come, are out of date."""
        for path in paths:
            self._changes.pop(path, None)
            self._changes[path] = t
            if len(self._changes) > REMEMBERED_CHANGES:
                self._changes.popitem(last=False)

    def file_changed(self, t: int, path: str) -> list[Effect]:
        """A file is not any more what it was: what is known about it is doubtful from now on."""
        self.files_written(t, (path,))
        return self.apply(t, review.doubt(self.ledger, t, path))

    def changed_since(self, files: Sequence[str], t: int) -> str:
        """One of these files that changed after a call that ended at `t`; empty when none did."""
        times = ((path, self._changes.get(path, 0)) for path in files)
        return next((path for path, changed in times if changed > t + SAME_MOMENT_MS), "")

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have findings, in the order in which notes name them."""
        return self._index.topics

    def begin_with(self, topics: Iterable[str]) -> None:
        """These topics come first, in this order; they are going to have findings."""
        for topic in topics:
            self._index.add(topic)
            if self.settings.match == "keys":
                self._keys.add(topic)

    @property
    def last_change(self) -> tuple[str, int]:
        """The file that changed last, and when."""
        return next(reversed(self._changes.items()), ("", 0))

    def kept_changes(self) -> tuple[tuple[str, int], ...]:
        """The files that changed last, and when, oldest first."""
        return tuple(islice(reversed(self._changes.items()), KEPT_CHANGES))[::-1]

    def restore_changes(self, kept: Iterable[tuple[str, int]]) -> None:
        """Go on from what :meth:`kept_changes` gave."""
        self._changes = OrderedDict([*kept, *self._changes.items()])

    def warn_once(self, t: int, code: str, message: str) -> list[Effect]:
        """A warning, the first time its text comes up."""
        if message in self._warned:
            return []
        self._warned.add(message)
        return [WarningReport(t=t, session=self.root, code=code, message=message)]
