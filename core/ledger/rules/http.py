"""Status and headers of HTTP answers that `curl` printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from core.ledger.rules.curls import Request, request_of
from core.ledger.rules.shown import Found, Line, Shown, said

_STATUS: Final = re.compile(r"HTTP/(?:1\.[01]|2|3)(?:\.0)? ([1-5]\d\d)(?: (.*))?")
_HEADER: Final = re.compile(r"([A-Za-z][\w-]{0,60}):[ \t]*(.*)")
_PASSING: Final = re.compile(
    r"date|set-cookie.*|etag|last-modified|age|expires|connection|keep-alive|via|vary|nel|report-to|alt-svc|cf-.*|x-amz.*|x-cache.*"
    r"|.*(?:-id|remaining|reset|runtime|-time|trace.*|-ray|timing|nonce|token|cookie.*|served-by|-date)|content-security-policy"
    r"|authorization|x-api-key|strict-transport-security|permissions-policy|referrer-policy|x-xss-protection",
    re.IGNORECASE,
)
"""Headers that differ from answer to answer, are secret, or say nothing about the subject."""
_MOST_HEADERS: Final = 8
_LONGEST_VALUE: Final = 100
_CODE_ONLY: Final = re.compile(r"(?:[A-Za-z_ :=-]*)%\{(?:http_code|response_code)\}(?:\\n)*")


class _Answer(msgspec.Struct):
    code: str
    reason: str
    lines: list[int]
    headers: list[tuple[str, str]] = msgspec.field(default_factory=list)

    @property
    def status(self) -> str:
        return f"{self.code} {said(self.reason, 60)}".strip()


def http_answers(shown: Shown) -> Iterator[Found]:
    """What a URL answered: status and headers of `curl -i`, `-I`, `-v` and `-D -`, or a status from `-w`."""
    if shown.program != "curl" or not shown.passed_by("head", "tail", "grep"):
        return
    request = request_of(shown.args)
    if request is None:
        return
    given = request.given
    verbose = given.any("-v", "--verbose")
    included = given.any("-i", "--include", "-I", "--head") and not given.any("-o", "--output")
    if included or verbose or given.value("-D", "--dump-header") == "-":
        ordered = not shown.filters & {"tail", "grep"}
        yield from _told(request, _answers(list(shown.short), verbose=verbose and not included), ordered=ordered)
    elif _CODE_ONLY.fullmatch(given.value("-w", "--write-out")) and given.any("-o", "--output"):
        yield from _code_only(request, list(shown.short))


def _answers(lines: Sequence[Line], *, verbose: bool) -> list[_Answer]:
    """The answers in order; what follows the last one's headers is its body."""
    found: list[_Answer] = []
    inside = False
    for n, raw in lines:
        text = raw.removeprefix("< ") if verbose else raw
        if verbose and not raw.startswith("<"):
            continue
        text = text.strip() if text.strip() != "<" else ""
        if not inside:
            if (status := _STATUS.fullmatch(text)) and (not found or _goes_on(found[-1])):
                found.append(_Answer(status[1], status[2] or "", [n]))
                inside = True
            elif text and found and not _goes_on(found[-1]):
                break
        elif not text:
            inside = False
        elif header := _HEADER.fullmatch(text):
            _keep(found[-1], header[1], header[2], n)
        else:
            break
    return found


def _goes_on(answer: _Answer) -> bool:
    """Whether another answer may follow this one."""
    return answer.code[0] in "13" or answer.code in {"401", "407"} or "connection established" in answer.reason.lower()


def _keep(answer: _Answer, name: str, value: str, n: int) -> None:
    if _PASSING.fullmatch(name) or not value or len(value) > _LONGEST_VALUE or len(answer.headers) >= _MOST_HEADERS:
        return
    answer.headers.append((name.lower(), value))
    answer.lines.append(n)


def _told(request: Request, answers: Sequence[_Answer], *, ordered: bool) -> Iterator[Found]:
    final = [one for one in answers if one.code[0] != "1" and "connection established" not in one.reason.lower()]
    before = 0
    target = ""
    for answer in final:
        after = ""
        if before and ordered:
            after = f" after {before} redirect{'s' if before > 1 else ''}" + (f" to {target}" if target else "")
        headers = "; ".join(f"{name}: {said(value, _LONGEST_VALUE)}" for name, value in answer.headers)
        fact = f"{said(request.name)} answers{after} with HTTP status {answer.status}"
        yield Found(
            f"{fact}, headers {headers}." if headers else f"{fact}.",
            f"api:{said(request.path, 120)}",
            tuple(answer.lines),
        )
        if answer.code[0] == "3":
            before += 1
            target = next((said(value) for name, value in answer.headers if name == "location"), "")


def _code_only(request: Request, lines: Sequence[Line]) -> Iterator[Found]:
    told = [line for line in lines if line.text.strip()]
    if len(told) == 1 and (found := re.fullmatch(r"[A-Za-z_ :=-]*([1-5]\d\d)", told[0].text.strip())):
        fact = f"{said(request.name)} answers with HTTP status {found[1]}."
        yield Found(fact, f"api:{said(request.path, 120)}", (told[0].n,))
