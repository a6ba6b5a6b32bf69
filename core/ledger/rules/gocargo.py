"""Reports of `go test` and `cargo test`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from core.ledger.rules.shown import Found, Line, Shown, said, topic

_MOST: Final = 6
_GO: Final = re.compile(
    r"(ok|FAIL)[ \t]+([\w.\-~/]+)[ \t]+(\(cached\)|[\d.]+s|\[(?:build|setup) failed\])(?:[ \t]+(.*))?"
)
_GO_TEST: Final = re.compile(r"[ \t]*--- FAIL: (\S+)(?: \([\d.]+s\))?")
_CARGO_END: Final = re.compile(
    r"test result: (ok|FAILED)\. (\d{1,7} passed; \d{1,7} failed; \d{1,7} ignored); \d{1,7} measured; .*"
)
_CARGO_BINARY: Final = re.compile(r"[ \t]*(?:Running (?:unittests )?(\S+)(?: \(.*\))?|Doc-tests (\S+))")
_CARGO_TEST: Final = re.compile(r"test (\S+)(?: - .*)? \.\.\. FAILED")
_NEXTEST: Final = re.compile(r"[ \t]*Summary \[.{1,20}\] +(\d{1,7} tests? run: .{1,120})")


def go_tests(shown: Shown, lines: Sequence[Line]) -> Iterator[Found]:
    """Which packages pass or fail, and which tests fail in them."""
    packages, waiting = 0, list[tuple[int, str]]()
    for n, text in lines:
        if failed := _GO_TEST.fullmatch(text.rstrip()):
            waiting.append((n, failed[1]))
            continue
        found = _GO.fullmatch(text.rstrip())
        if found is None or "no tests to run" in (found[4] or ""):
            continue
        package = found[2]
        if found[1] == "FAIL" and found[3].startswith("["):
            fact = f"Go package {package} fails: {found[3][1:-1]} (`{shown.command}`)."
        else:
            fact = f"Go package {package} {'passes' if found[1] == 'ok' else 'fails'} its tests (`{shown.command}`)."
        if packages < _MOST or found[1] == "FAIL":
            packages += 1
            yield Found(fact, topic("test", package), (n,))
        for at, test in waiting[:_MOST] if found[1] == "FAIL" else ():
            yield Found(f"Go test {said(test)} fails in package {package}.", topic("test", package), (at, n))
        waiting = []
    for at, test in waiting[:_MOST]:
        yield Found(f"Go test {said(test)} fails (`{shown.command}`).", "test:tests", (at,))


def cargo_tests(shown: Shown, lines: Sequence[Line]) -> Iterator[Found]:
    """What each test binary ended with, and which tests fail."""
    binary, failures, ends = "", 0, 0
    for n, text in lines:
        if named := _CARGO_BINARY.fullmatch(text.rstrip()):
            binary = said(named[1] or f"doc tests of {named[2]}", 80)
        elif (failed := _CARGO_TEST.fullmatch(text.rstrip())) and failures < _MOST:
            failures += 1
            yield Found(f"Rust test {said(failed[1])} fails (`{shown.command}`).", "test:tests", (n,))
        elif (end := _CARGO_END.fullmatch(text.strip())) and not end[2].startswith("0 passed; 0 failed"):
            ends += 1
            where = f" for {binary}" if binary else f" for test binary {ends}" if ends > 1 else ""
            if ends <= _MOST:
                fact = f"`{shown.command}` ends{where} with {end[1]}: {end[2].replace(';', ',')}."
                yield Found(fact, topic("test", binary) if binary else "test:tests", (n,))
        elif found := _NEXTEST.fullmatch(text.rstrip()):
            yield Found(f"`{shown.command}` ends with {said(found[1])}.", "test:tests", (n,))
