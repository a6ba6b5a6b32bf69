"""The shapes of the labelled cases, one per rule."""

from __future__ import annotations

from typing import Literal

import msgspec


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every case has. `kind` names the sort of difficulty, so that a result can be broken down by it."""

    id: str
    why: str
    kind: str = ""

    @property
    def answer(self) -> str:
        """The label, as text."""
        raise NotImplementedError


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One finished bash call; `exit` is its exit code."""

    command: str
    output: str
    exit: int = 0


class Support(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a fact is read: `call` counts steps from 0, `lines` count lines of that output from 1."""

    call: int
    lines: list[int]


class ReceiptCase(Case, frozen=True, kw_only=True):
    """Is the fact borne out by the outputs of these steps?"""

    fact: str
    steps: list[Step]
    label: Literal["supported", "unsupported"]
    support: list[Support]

    @property
    def answer(self) -> str:
        return self.label


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that happened after the fact was accepted.

    `changed` lists the files whose bytes differ afterwards, `gone` those that are no longer there, `touched` those of
    which only the time differs; all are absolute, as they would be found on disk, whatever the call said it would do.
    """

    tool: Literal["bash", "write", "edit", "apply_patch", "file.edited", "disk"]
    path: str = ""
    command: str = ""
    patch: str = ""
    changed: list[str] = []
    gone: list[str] = []
    touched: list[str] = []


class StaleCase(Case, frozen=True, kw_only=True):
    """Does the event put the fact in doubt? `cwd` is the session's directory, `size` the file's size in bytes."""

    fact: str
    topic: str
    commands: list[str]
    cwd: str
    event: Event
    label: Literal["doubtful", "unchanged"]
    size: int = 4096

    @property
    def answer(self) -> str:
        return self.label


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finding, as far as a comparison needs it."""

    fact: str
    topic: str


class ConflictCase(Case, frozen=True, kw_only=True):
    """How does a later finding stand to an older one? `same_answer`: both came from one extraction."""

    older: Statement
    later: Statement
    same_answer: bool
    label: Literal["supersedes", "inbox", "both", "near_duplicate"]

    @property
    def answer(self) -> str:
        return self.label


class OrderCase(Case, frozen=True, kw_only=True):
    """Must the fact wait for a person before any agent reads it?"""

    fact: str
    label: Literal["held", "pass"]

    @property
    def answer(self) -> str:
        return self.label


class SecretCase(Case, frozen=True, kw_only=True):
    """A text with secrets, kept in pieces so that no file holds one whole.

    A piece that is a string is plain; a piece that is a list is one secret, cut somewhere.
    `keep` lists the parts that must still be readable after masking.
    """

    parts: list[str | list[str]]
    keep: list[str] = []

    @property
    def text(self) -> str:
        """The text as it would be met."""
        return "".join(part if isinstance(part, str) else "".join(part) for part in self.parts)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each secret in `text`, in code points."""
        spans, at = [], 0
        for part in self.parts:
            size = len(part) if isinstance(part, str) else sum(map(len, part))
            if not isinstance(part, str):
                spans.append((at, at + size))
            at += size
        return spans

    @property
    def answer(self) -> str:
        return "secret" if self.spans else "clean"


class KeyCase(Case, frozen=True, kw_only=True):
    """Does this tool call name the key of the topic? `args` are the arguments of the call, as its tool takes them."""

    topic: str
    tool: Literal["bash", "read", "grep", "glob", "webfetch", "edit", "write"]
    args: dict[str, str]
    label: Literal["matches", "not"]

    @property
    def answer(self) -> str:
        return self.label


class RuleCase(Case, frozen=True, kw_only=True):
    """Which facts do these outputs give without a model?

    For each group of `must` one fact contains all its strings; no fact contains a string of `never`.
    Label `none`: no fact of this family at all.
    """

    family: str
    steps: list[Step]
    label: Literal["facts", "none"]
    must: list[list[str]] = []
    never: list[str] = []

    @property
    def answer(self) -> str:
        return self.label


class CostCase(Case, frozen=True, kw_only=True):
    """Is an extraction of `new` worth its price when `earlier` has been extracted already?"""

    earlier: list[Step]
    new: list[Step]
    label: Literal["skip", "run"]

    @property
    def answer(self) -> str:
        return self.label
