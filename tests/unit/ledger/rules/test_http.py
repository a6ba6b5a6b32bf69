"""Status and headers that `curl` prints."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found

OK = "HTTP/1.1 200 OK\nContent-Type: text/html\nDate: Mon, 30 Nov 2026 08:00:00 GMT\nSet-Cookie: sid=4f2a\n\n<html>"


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        (
            "curl -i http://x.example/a?b=1",
            OK,
            ["GET http://x.example/a?b=1 answers with HTTP status 200 OK, headers content-type: text/html."],
        ),
        (
            "curl -sI x.example",
            "HTTP/2 204\r\nserver: a\r\n\r\n",
            ["HEAD x.example answers with HTTP status 204, headers server: a."],
        ),
        (
            "curl -i x.example",
            "  % Total    % Received\n100  5  100  5\nHTTP/1.1 404 Not Found\n\nno",
            ["GET x.example answers with HTTP status 404 Not Found."],
        ),
        (
            "curl -sS -o /dev/null -D - x.example/a",
            "HTTP/1.1 200 OK\nAllow: GET\n",
            ["GET x.example/a answers with HTTP status 200 OK, headers allow: GET."],
        ),
        (
            "curl -v x.example/a",
            "* Connected to x.example\n> GET /a HTTP/1.1\n> Accept: */*\n"
            "< HTTP/1.1 503 Busy\n< Retry-After: 7\n<\nHTTP/1.1 200 OK",
            ["GET x.example/a answers with HTTP status 503 Busy, headers retry-after: 7."],
        ),
        (
            "curl -s -o /dev/null -w '%{http_code}\\n' x.example/a",
            "404",
            ["GET x.example/a answers with HTTP status 404."],
        ),
        (
            "curl -i --json '{}' x.example/a",
            "HTTP/1.1 422 X\n\n{}",
            ["POST x.example/a answers with HTTP status 422 X."],
        ),
        ("curl -iX DELETE x.example/a", "HTTP/1.1 204 X\n\n", ["DELETE x.example/a answers with HTTP status 204 X."]),
        (
            "curl -i x.example/a",
            "HTTP/1.1 200 OK\n\nHTTP/1.1 500 Body\n",
            ["GET x.example/a answers with HTTP status 200 OK."],
        ),
        (
            "./serve.sh > log 2>&1 & sleep 1; curl -is localhost:8000/a",
            "HTTP/1.0 200 OK\n\nhi",
            ["GET localhost:8000/a answers with HTTP status 200 OK."],
        ),
    ],
)
def test_answers(command: str, output: str, expected: list[str]) -> None:
    assert facts(command, output.replace("\r", "")) == expected


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("curl -s x.example", "HTTP/1.1 200 OK\n\n"),
        ("curl -i -o out x.example", "HTTP/1.1 200 OK\n\n"),
        ("curl -i $URL", "HTTP/1.1 200 OK\n\n"),
        ("curl -i x.example y.example", "HTTP/1.1 200 OK\n\n"),
        ("curl -i 'x.example/[1-3]'", "HTTP/1.1 200 OK\n\n"),
        ("curl -i x.example", "curl: (7) Failed to connect"),
        ("curl -i x.example | sed s/200/500/", "HTTP/1.1 500 OK\n\n"),
        ("cat answer.txt", "HTTP/1.1 200 OK\n\n"),
        ("grep -rn HTTP logs", "HTTP/1.1 200 OK"),
        ("curl -so /dev/null -w '%{http_code}' x.example", "000"),
        ("python serve.py & curl -i x.example", "HTTP/1.1 200 OK\n\n"),
    ],
)
def test_no_answer(command: str, output: str) -> None:
    assert facts(command, output) == []


def test_secrets_of_headers_and_urls_are_left_out() -> None:
    [fact] = facts("curl -i https://bob:hunter2secret@x.example/a", f"{OK}\n")
    assert "hunter2secret" not in fact
    assert "4f2a" not in fact


def test_receipt() -> None:
    one, two = found("curl -iL x.example/a", "HTTP/1.1 302 Found\nLocation: /b\n\nHTTP/1.1 200 OK\n\nhi")
    assert (one.topic, one.lines, one.rule) == ("api:/a", (1, 2), "http")
    assert two.lines == (4,)
    assert two.fact == "GET x.example/a answers after 1 redirect to /b with HTTP status 200 OK."
