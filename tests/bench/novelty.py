"""Skipped extractions: precision and recall on the labelled cases, beside an extraction each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.ledger import steps as ours
from core.ledger.novelty import Known
from core.ledger.observations import Tokens
from tests.bench import figures
from tests.corpus.cases import CostCase
from tests.corpus.cases import Step as Shown
from tests.corpus.load import Part, load_as


def judge(case: CostCase) -> str:
    """The label that the rule gives a case."""
    known = Known()
    for step in steps_of(case.earlier):
        known.add(step)
    return "skip" if known.nothing_new(steps_of(case.new)) else "run"


def by_command(case: CostCase) -> str:
    """What a look at the commands alone would say."""
    return "skip" if {step.command for step in case.new} <= {step.command for step in case.earlier} else "run"


def steps_of(shown: Sequence[Shown]) -> list[ours.Step]:
    """Steps of one bash call each."""
    return [_step(n, each) for n, each in enumerate(shown, 1)]


def _step(n: int, shown: Shown) -> ours.Step:
    return ours.Step(
        n=n,
        origin="ses_root",
        message=f"msg_{n}",
        part=f"prt_{n}",
        t=n,
        calls=(_call(n, shown),),
        tokens=Tokens(),
        cost=0,
    )


def _call(n: int, shown: Shown) -> ours.Call:
    return ours.Call(
        call=f"call_{n}", tool="bash", ok=True, summary=shown.command[:80], command=shown.command, path="",
        output=shown.output, exit=shown.exit, ended=n, ms=1,
    )  # fmt: skip


def score(part: Part, decide: Callable[[CostCase], str] = judge) -> tuple[float, float, int]:
    """Precision and recall (0 to 1) of `skip` on a part of the cases, and how many there are."""
    cases = load_as(CostCase, part)
    said = [(decide(case) == "skip", case.label == "skip") for case in cases]
    right = sum(is_said and is_true for is_said, is_true in said)
    return right / max(1, sum(s for s, _ in said)), right / max(1, sum(t for _, t in said)), len(cases)


def main() -> None:
    """Print the figures. The seed extracts each time: it skips nothing, so its recall is 0."""
    figures.section("Extractions that are skipped: labelled cases")
    for part in ("open", "held"):
        for name, decide in (("same command, output and exit code", judge), ("same command", by_command)):
            precision, recall, cases = score(part, decide)
            figures.line(f"{name}, {part} part, {cases} cases", f"{precision:.2f} / {recall:.2f}", "precision / recall")


if __name__ == "__main__":
    main()
