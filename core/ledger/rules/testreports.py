"""Summaries of test runs: pytest, unittest, jest, vitest, mocha."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from core.ledger.rules.gocargo import cargo_tests, go_tests
from core.ledger.rules.runners import test_runner
from core.ledger.rules.shown import Found, Line, Shown, said, topic

MOST_FAILURES: Final = 5
"""Failing tests told of one run."""

_COUNT: Final = re.compile(r"(\d{1,7}) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|rerun|warnings?)")
_PYTEST: Final = re.compile(
    r"(?:=+ )?((?:\d{1,7} [a-z]{4,12}(?:, )?){1,9}) in (?:\d[\d.]*s|\d[^=]{0,30})(?: \([\d:]+\))?(?: =+)?"
)
_PYTEST_FAILED: Final = re.compile(r"(FAILED|ERROR) (\S+\.py(?:::.{1,300}?)?)(?: - (.*))?")
_INTERRUPTED: Final = re.compile(r"!* ?(?:_pytest\.outcomes\.Exit: .*|KeyboardInterrupt) ?!*")
_JEST: Final = re.compile(r"Tests:[ \t]+((?:\d{1,7} [a-z]{4,10}, ){0,5})(\d{1,7}) total")
_VITEST: Final = re.compile(r"[ \t]*Tests[ \t]+(\d{1,7} [a-z]{4,10}(?: \| \d{1,7} [a-z]{4,10}){0,4}) \((\d{1,7})\)")
_JEST_FILE: Final = re.compile(r"[ \t]*FAIL[ \t]+(\S+\.[cm]?[jt]sx?)(?: \(.*\))?(?: > .*)?")
_JEST_TEST: Final = re.compile(r"[ \t]*● (.{1,200} › .{1,200})")
_MOCHA: Final = re.compile(r"[ \t]*(\d{1,7}) (passing|failing|pending)(?: \(.*\))?")
_RAN: Final = re.compile(r"Ran (\d{1,7}) tests? in [\d.]+s")
_VERDICT: Final = re.compile(r"(OK|FAILED)(?: \((.{1,80})\))?")


def test_reports(shown: Shown) -> Iterator[Found]:
    """What a test run ended with, and which tests failed."""
    runner = test_runner(shown)
    if not runner or shown.exit in {126, 127, 130} or not shown.passed_by("head", "tail", "grep"):
        return
    lines = list(shown.short)
    if runner in {"pytest", "any"}:
        yield from _pytest(shown, lines)
    if runner in {"jest", "any"}:
        yield from _jest(shown, lines)
    if runner in {"unittest", "any"}:
        yield from _unittest(shown, lines)
    if runner in {"go", "any"}:
        yield from go_tests(shown, lines)
    if runner in {"cargo", "any"}:
        yield from cargo_tests(shown, lines)


def _subject(shown: Shown) -> str:
    """Topic of a run: the one test file or folder it names, else the tests."""
    paths = [arg for arg in shown.args if "/" in arg or re.fullmatch(r"[\w-]+\.(?:py|[cm]?[jt]sx?)(?:::.*)?", arg)]
    return topic("test", paths[0].partition("::")[0]) if len(paths) == 1 and "..." not in paths[0] else "test:tests"


def _pytest(shown: Shown, lines: Sequence[Line]) -> Iterator[Found]:
    if any(_INTERRUPTED.fullmatch(line.text.strip()) for line in lines):
        return
    summaries = [(line, found) for line in lines if (found := _PYTEST.fullmatch(line.text.strip()))]
    counted = [(line, found) for line, found in summaries if _ran(found[1])]
    if not counted:
        return
    line, found = counted[-1]
    yield Found(f"`{shown.command}` ends with {said(found[1])}.", _subject(shown), (line.n,))
    told: set[str] = set()
    for n, text in lines:
        failed = _PYTEST_FAILED.fullmatch(text.strip())
        if failed and n < line.n and failed[2] not in told and len(told) < MOST_FAILURES:
            told.add(failed[2])
            what = "fails" if failed[1] == "FAILED" else "ends with an error"
            why = f": {said(failed[3])}" if failed[3] else ""
            yield Found(f"Test {said(failed[2])} {what}{why}.", topic("test", failed[2].partition("::")[0]), (n,))


def _ran(counts: str) -> bool:
    """Whether every count is one of pytest's and some test or collection came to an end."""
    found = _COUNT.findall(counts)
    return len(found) == counts.count(",") + 1 and any(
        word in {"passed", "failed", "error", "errors", "skipped", "xfailed"} for _, word in found
    )


def _jest(shown: Shown, lines: Sequence[Line]) -> Iterator[Found]:
    ends: list[tuple[Line, str]] = []
    for line in lines:
        if (found := _JEST.fullmatch(line.text.strip())) and found[2] != "0":
            ends.append((line, f"{found[1]}{found[2]} total"))
        elif found := _VITEST.fullmatch(line.text.rstrip()):
            ends.append((line, f"{found[1].replace(' | ', ', ')}, {found[2]} total"))
    if ends:
        line, counts = ends[-1]
        yield Found(f"`{shown.command}` ends with these tests: {counts}.", _subject(shown), (line.n,))
    else:
        yield from _mocha(shown, lines)
        return
    told: set[str] = set()
    for n, text in lines:
        failed = _JEST_FILE.fullmatch(text.rstrip()) or _JEST_TEST.fullmatch(text.rstrip())
        if failed and failed[1] not in told and len(told) < MOST_FAILURES:
            told.add(failed[1])
            if failed.re is _JEST_FILE:
                yield Found(
                    f"Test file {said(failed[1])} has failing tests (`{shown.command}`).",
                    topic("test", failed[1]),
                    (n,),
                )
            else:
                yield Found(f"Test {said(failed[1])!r} fails (`{shown.command}`).", _subject(shown), (n,))


def _mocha(shown: Shown, lines: Sequence[Line]) -> Iterator[Found]:
    found = [(line.n, hit) for line in lines if (hit := _MOCHA.fullmatch(line.text.rstrip()))]
    if found and any(hit[2] in {"passing", "failing"} and hit[1] != "0" for _, hit in found) and len(found) <= 3:
        counts = ", ".join(f"{hit[1]} {hit[2]}" for _, hit in found)
        yield Found(f"`{shown.command}` ends with these tests: {counts}.", _subject(shown), tuple(n for n, _ in found))


def _unittest(shown: Shown, lines: Sequence[Line]) -> Iterator[Found]:
    ran: tuple[int, str] | None = None
    for n, text in lines:
        if found := _RAN.fullmatch(text.strip()):
            ran = (n, found[1])
        elif ran and ran[1] != "0" and (verdict := _VERDICT.fullmatch(text.strip())):
            details = f" ({said(verdict[2])})" if verdict[2] else ""
            fact = f"`{shown.command}` ran {ran[1]} tests: {verdict[1]}{details}."
            yield Found(fact, _subject(shown), (ran[0], n))
            return
