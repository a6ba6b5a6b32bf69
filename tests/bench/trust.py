"""Precision and recall of every rule on the labelled cases of `tests/corpus`, beside what the seed does on the same.

The seed compares facts as exact strings and lets each through that it has not got; it looks for a topic's subject as a
part of the arguments, extracts each time, and neither knows of changed files nor masks anything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import msgspec

from tests.bench import figures, judged, keys, novelty, rulefacts, secrets, stale
from tests.bench.tally import Tally, of_labels
from tests.corpus.cases import (
    Case,
    ConflictCase,
    CostCase,
    KeyCase,
    OrderCase,
    ReceiptCase,
    RuleCase,
    SecretCase,
    StaleCase,
)
from tests.corpus.load import Part, load_as

C = TypeVar("C", bound=Case)

PARTS: tuple[Part, ...] = ("open", "held")
VALUE = re.compile(r"(?<!\w)\d|[\"`“„«]|\b(?:true|false)\b")
"""Facts with a value: a number that is no part of a word, a quoted string, a boolean."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """How a rule does on one part of its cases, and how the seed does."""

    rule: str
    part: Part
    ours: Tally
    plain: Tally
    more: str = ""


def rows(parts: Sequence[Part] = PARTS) -> Iterator[Row]:
    """All rules, the open part of each before the held one."""
    for rule in (receipts, conflicts, stale_facts, orders, masking, any_key, rule_facts, cost):
        for part in parts:
            yield from rule(part)


def receipts(part: Part) -> Iterator[Row]:
    """Facts let through. The seed lets all through."""
    cases = load_as(ReceiptCase, part)
    found = {case.id: judged.receipt(case) for case in cases}
    sets = (("receipts", cases), ("receipts, facts with a value", [case for case in cases if VALUE.search(case.fact)]))
    for name, some in sets:
        ours = of_labels([(found[case.id][0], case.label, case.kind) for case in some], "supported")
        plain = of_labels([("supported", case.label, case.kind) for case in some], "supported")
        passed = [found[case.id][1] for case in some if (found[case.id][0], case.label) == ("supported", "supported")]
        more = f"the lines shown hold the labelled ones in {sum(passed)} of {len(passed)}"
        yield Row(rule=name, part=part, ours=ours, plain=plain, more=more)


def conflicts(part: Part) -> Iterator[Row]:
    """Each thing that can be done about two facts. The seed keeps both unless they are the same string."""
    cases = load_as(ConflictCase, part)
    ours = [(judged.conflict(case), case.label, case.kind) for case in cases]
    plain = [("same" if case.older.fact == case.later.fact else "both", case.label, case.kind) for case in cases]
    for label, name in (("supersedes", "supersedes"), ("inbox", "to the inbox"), ("near_duplicate", "near-duplicate")):
        more = _taken_for(ours, label)
        yield Row(
            rule=f"conflicts: {name}", part=part, ours=of_labels(ours, label), plain=of_labels(plain, label), more=more
        )


def _taken_for(decided: Sequence[tuple[str, str, str]], label: str) -> str:
    """What cases of a label were taken for instead."""
    other = [said for said, true, _ in decided if true == label != said]
    return ", ".join(f"{other.count(said)} taken as {said}" for said in sorted(set(other)))


def stale_facts(part: Part) -> Iterator[Row]:
    """Facts put in doubt where the disk is seen, and where only the call is known. The seed doubts nothing."""
    cases = load_as(StaleCase, part)
    plain = _labels(cases, stale.judge_plainly, "doubtful")
    yield Row(rule="stale", part=part, ours=_labels(cases, stale.judge, "doubtful"), plain=plain)
    unseen = _labels(cases, stale.judge_unseen, "doubtful")
    yield Row(rule="stale, disk not seen", part=part, ours=unseen, plain=plain)


def orders(part: Part) -> Iterator[Row]:
    """Facts held as orders or for hidden characters. The seed lets all through."""
    cases = load_as(OrderCase, part)
    plain = _labels(cases, lambda _: "pass", "held")
    yield Row(rule="orders, hidden characters", part=part, ours=_labels(cases, judged.order, "held"), plain=plain)


def masking(part: Part) -> Iterator[Row]:
    """Secrets masked whole, of all masks. The seed masks none."""
    ours, plain, lost = Tally(), Tally(), 0
    for case in load_as(SecretCase, part):
        for tally, how in ((ours, secrets.judge(case)), (plain, secrets.judge(case, str))):
            said = how.masked + how.wrong
            tally.add(case.kind, how.masked, said, how.masked + how.missed, faultless=how.right)
        lost += secrets.judge(case).lost
    yield Row(rule="secrets", part=part, ours=ours, plain=plain, more=f"{lost} parts lost that must stay")


def any_key(part: Part) -> Iterator[Row]:
    """Calls that name a topic's key, beside a search for it as a substring."""
    cases = load_as(KeyCase, part)
    ours, plain = _labels(cases, keys.judge, "matches"), _labels(cases, keys.plain, "matches")
    yield Row(rule="keys", part=part, ours=ours, plain=plain)


def rule_facts(part: Part) -> Iterator[Row]:
    """Facts that rules read from outputs, by what they must say. The seed has no such rules."""
    ours, plain = Tally(), Tally()
    for case in load_as(RuleCase, part):
        score = rulefacts.score_of(case)
        wanted = len(case.must)
        ours.add(case.family, score.right, score.right + score.wrong, wanted, faultless=not score.bad)
        plain.add(case.family, 0, 0, wanted, faultless=not wanted)
    yield Row(rule="rules", part=part, ours=ours, plain=plain)


def cost(part: Part) -> Iterator[Row]:
    """Extractions skipped. The seed skips none."""
    cases = load_as(CostCase, part)
    plain = _labels(cases, lambda _: "run", "skip")
    yield Row(rule="cost: skipped extractions", part=part, ours=_labels(cases, novelty.judge, "skip"), plain=plain)


def _labels(cases: Sequence[C], decide: Callable[[C], str], positive: str) -> Tally:
    return of_labels([(decide(case), case.answer, case.kind) for case in cases], positive)


def main() -> None:
    """Print the table."""
    figures.section("Rules on labelled cases (tests/corpus); plain: what the seed does on the same cases")
    head = f"{'precision':>9} {'recall':>6}   {'plain: p.':>9} {'r.':>6}"
    sys.stdout.write(f"  {'':<30} {'part':<5} {'cases':>5}  {head}\n")
    for row in rows():
        ours, plain = (f"{_ratio(tally.precision):>9} {_ratio(tally.recall):>6}" for tally in (row.ours, row.plain))
        sys.stdout.write(f"  {row.rule:<30} {row.part:<5} {row.ours.cases:>5}  {ours}   {plain}\n")
        weakest = ", ".join(f"{kind} {bad} of {of}" for kind, bad, of in row.ours.weakest)
        wrong = f"wrong in {row.ours.wrong_in.total()} cases, most: {weakest}" if weakest else ""
        told = "; ".join(filter(None, (wrong, row.more)))
        sys.stdout.write(f"      {told}\n" if told else "")
    sys.stdout.flush()


def _ratio(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


if __name__ == "__main__":
    main()
