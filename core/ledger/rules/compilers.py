"""Errors of compilers, with the place in the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from core.ledger.rules.runners import runs_compiler
from core.ledger.rules.shown import Found, Line, Shown, said, topic

_MOST: Final = 8
_PATH: Final = r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\"][^:()\[\]'\"]{0,200}?\.\w{1,8})"
_AT: Final = r"(?P<line>\d{1,7})"
_GNU: Final = re.compile(
    rf"{_PATH}:{_AT}(?::\d{{1,6}}(?:-\d{{1,6}})?)?:[ \t]*(?:fatal |Fatal )?error:[ \t]*(?P<what>\S.*)"
)
_MICROSOFT: Final = re.compile(
    rf"[ \t]*{_PATH}\({_AT}(?:,\d{{1,6}}){{0,3}}\)[ \t]*: (?:fatal )?error (?P<code>[A-Z]{{1,5}}\d{{1,6}}): "
    r"(?P<what>.+?)(?: \[[^\[\]]+\])?"
)
_TSC_PRETTY: Final = re.compile(rf"{_PATH}:{_AT}:\d{{1,6}} - error (?P<code>TS\d{{1,6}}): (?P<what>.+)")
_GO: Final = re.compile(rf"(?:vet: )?(?P<path>[^\s:]{{1,200}}\.go):{_AT}:\d{{1,6}}: (?P<what>\S.*)")
_MAVEN: Final = re.compile(rf"\[ERROR\] {_PATH}:\[{_AT},\d{{1,6}}\] (?:error: )?(?P<what>.+)")
_KOTLIN: Final = re.compile(rf"e: (?:file://)?{_PATH}:{_AT}:\d{{1,6}}:? (?:error: )?(?P<what>.+)")
_RUST: Final = re.compile(r"error(?:\[(?P<code>E\d{4})\])?: (?P<what>.+)")
_RUST_PLACE: Final = re.compile(rf"[ \t]*--> {_PATH}:{_AT}:\d{{1,6}}")
_FORMS: Final = (_MICROSOFT, _TSC_PRETTY, _MAVEN, _KOTLIN, _GNU)


def compiler_errors(shown: Shown) -> Iterator[Found]:
    """The errors that a compiler or a build reported, warnings left out."""
    if not runs_compiler(shown) or not shown.passed_by("head", "tail", "grep"):
        return
    seen: set[tuple[str, str, str]] = set()
    for path, line, what, numbers in _errors(shown, list(shown.short)):
        if (path, line, what) in seen:
            continue
        seen.add((path, line, what))
        yield Found(f"{said(path)}:{line} has {said(what, 240)} (`{shown.command}`).", topic("error", path), numbers)
        if len(seen) >= _MOST:
            return


def _errors(shown: Shown, lines: Sequence[Line]) -> Iterator[tuple[str, str, str, tuple[int, ...]]]:
    ordered = "grep" not in shown.filters
    forms = (*_FORMS, _GO) if _prints_go_errors(shown, lines) else _FORMS
    for place, (n, raw) in enumerate(lines):
        text = raw.rstrip()
        if rust := _RUST.fullmatch(text):
            after = lines[place + 1] if place + 1 < len(lines) else Line(0, "")
            at = _RUST_PLACE.fullmatch(after.text.rstrip()) if ordered and after.n == n + 1 else None
            if at:
                yield at["path"], at["line"], _with_code(rust), (n, after.n)
        elif found := _first(forms, text):
            yield found["path"], found["line"], _with_code(found), (n,)


def _prints_go_errors(shown: Shown, lines: Sequence[Line]) -> bool:
    """Whether places in Go files are errors; what `go run` runs prints such places too, but no package before them."""
    return shown.program == "go" and ("run" not in shown.args[:1] or any(line.text.startswith("# ") for line in lines))


def _first(forms: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    if "error" not in text.lower() and _GO not in forms and not text.startswith("e: "):
        return None
    matching: Callable[[re.Pattern[str]], re.Match[str] | None] = lambda form: form.fullmatch(text)  # noqa: E731
    return next(filter(None, map(matching, forms)), None)


def _with_code(found: re.Match[str]) -> str:
    code = found.groupdict().get("code")
    return f"error {code}: {found['what']}" if code else f"an error: {found['what']}"
