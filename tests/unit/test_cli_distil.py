"""`history distil` as a command, against a scripted endpoint on loopback."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests import history_data as data
from tests.history_data import BASE, Builder, text
from tests.unit.test_cli import SCRIPT, Shell, complaint

GOOD = "## What Was Worked On\n\nThe Makefile.\n"


class Endpoint:
    """Answers each question with the first of `answers` whose key is in it, else with a note.

    A number is a status; `held` keeps all answers back until it is set.
    """

    def __init__(self) -> None:
        self.answers: dict[str, str | int] = {}
        self.asked: list[str] = []
        self.keys: set[str | None] = set()
        self.free = threading.Event()
        self.free.set()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                endpoint.keys.add(self.headers["authorization"])
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][1]["content"]
                endpoint.asked.append(asked)
                endpoint.free.wait(60)
                answer = next((found for key, found in endpoint.answers.items() if key in asked), GOOD)
                status = answer if isinstance(answer, int) else 200
                usage = {"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.5}
                choice = {"message": {"content": str(answer)}, "finish_reason": "stop"}
                body = json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()
                try:
                    self.send_response(status)
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    return

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    thread = threading.Thread(target=endpoint.server.serve_forever, args=(0.05,))
    thread.start()
    yield endpoint
    endpoint.free.set()
    endpoint.server.shutdown()
    endpoint.server.server_close()
    thread.join()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A user with two root sessions and a sub-agent's."""
    shell = Shell(tmp_path)
    folder = Path(shell.environ["HOME"]) / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    data.small_v1(folder / "opencode.db")
    return shell


def distil(endpoint: Endpoint, *more: str) -> list[str]:
    return ["history", "distil", "--endpoint", endpoint.url, "--model", "m", *more]


def counts(out: str) -> dict[str, int]:
    """What became of the sessions, as `--json` tells it."""
    told = json.loads(out)
    return {name: told[name] for name in ("note", "junk", "kept", "stale", "error", "failed") if told[name]}


def test_notes_junk_and_what_is_kept(shell: Shell, endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answers["Read the picture"] = "`JUNK`."
    out = tmp_path / "out"
    ended = shell(*distil(endpoint, "--out", str(out)), LEDGER_ENDPOINT_KEY="k")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"1 note, 1 junk · 220 tokens, $1.00; see {out}\n"
    assert endpoint.keys == {"Bearer k"}
    (note,) = (out / "notes").iterdir()
    assert note.name == "ses_a.md" and note.read_text().endswith(GOOD)
    assert {path.name for path in (out / "transcripts").iterdir()} == {"ses_a.txt", "ses_b.txt"}
    again = shell(*distil(endpoint, "--out", str(out), "--json"))
    assert counts(again.out) == {"kept": 2} and len(endpoint.asked) == 2


def test_default_folder_and_part_of_the_list(shell: Shell, endpoint: Endpoint, tmp_path: Path) -> None:
    ended = shell(*distil(endpoint, "--include-children", "--offset", "2", "--json"))
    assert counts(ended.out) == {"note": 1}
    assert json.loads(ended.out)["out"] == str(tmp_path / "ledger" / "state" / "notes")
    assert counts(shell(*distil(endpoint, "--limit", "0", "--json")).out) == {}
    assert len(endpoint.asked) == 1


def test_stale_sessions_are_reported_and_made_anew_when_asked_for(
    shell: Shell, endpoint: Endpoint, tmp_path: Path
) -> None:
    shell(*distil(endpoint))
    with Builder(Path(shell.environ["HOME"]) / ".local" / "share" / "opencode" / "opencode.db", ()) as b:
        b.message("ses_b", "msg_b9", "user", BASE + 9_000)
        b.part("msg_b9", "prt_b9", text("one more thing"))
    ended = shell(*distil(endpoint, "--json"))
    assert counts(ended.out) == {"kept": 1, "stale": 1} and "--redo-stale" in ended.err
    assert counts(shell(*distil(endpoint, "--json", "--redo-stale")).out) == {"kept": 1, "note": 1}


def test_bad_answers_and_none(shell: Shell, endpoint: Endpoint) -> None:
    endpoint.answers |= {"Read the picture": "I am sorry.", "Why does the build": 400}
    ended = shell(*distil(endpoint, "--json", "--jobs", "2"))
    assert (ended.code, counts(ended.out)) == (1, {"error": 1, "failed": 1})
    assert "--redo-errors" in ended.err and "got no answer" in ended.err
    endpoint.answers.clear()
    assert counts(shell(*distil(endpoint, "--json", "--redo-errors")).out) == {"note": 2}


def test_dry_run_asks_nothing_and_creates_nothing(shell: Shell, endpoint: Endpoint, tmp_path: Path) -> None:
    ended = shell(*distil(endpoint, "--out", str(tmp_path / "out"), "--dry-run"))
    assert re.fullmatch(
        r"2 sessions, of which 2 would be asked about\nabout [\d.]+k? tokens for the questions\n", ended.out
    )
    planned = json.loads(shell(*distil(endpoint, "--dry-run", "--json", "--set", "history_head_chars=0")).out)
    assert (planned["total"], planned["ask"]) == (2, 2)
    assert endpoint.asked == [] and not (tmp_path / "out").exists()


def test_bounds_are_settings(shell: Shell, endpoint: Endpoint, tmp_path: Path) -> None:
    bounds = ("--set", "history_head_chars=10", "--set", "history_tail_chars=0")
    shell(*distil(endpoint, *bounds, "--limit", "1", "--out", str(tmp_path / "out")))
    assert "The Makefile has no rule" not in endpoint.asked[0]
    shown = json.loads(shell("history", "show", "ses_a", "--json", *bounds).out)
    assert shown["transcript"].startswith("[user]\nWhy\n") and shown["left_out"] == shown["chars"] - 10


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--jobs", "0"), "--jobs is 0"),
        (("--limit", "-1"), "--limit is -1"),
        (("--set", "history_head_chars=-3"), "history_head_chars"),
        (("--sink", "cellar"), "there is no sink 'cellar'"),
    ],
    ids=str,
)
def test_wrong_use_is_one_line(shell: Shell, endpoint: Endpoint, flags: tuple[str, ...], words: str) -> None:
    assert words in complaint(shell(*distil(endpoint, *flags)), 2)
    assert endpoint.asked == []


def test_no_opencode_to_ask(shell: Shell) -> None:
    assert "--server" in complaint(shell("history", "distil"), 3)


def test_a_folder_has_one_writer_and_progress_is_drawn(shell: Shell, endpoint: Endpoint) -> None:
    """One run on a terminal, held; a second one is refused; Ctrl-C ends the first, a third one goes on."""
    endpoint.free.clear()
    main, other = pty.openpty()
    with subprocess.Popen(
        [SCRIPT, *distil(endpoint)],
        cwd=shell.folder,
        env=shell.environ,
        stdin=other,
        stdout=subprocess.PIPE,
        stderr=other,
        text=True,
    ) as child:
        os.close(other)
        seen = b""
        while b"0/2" not in seen and select.select([main], [], [], 60)[0]:
            seen += os.read(main, 4096)
        while not endpoint.asked and child.poll() is None:
            threading.Event().wait(0.02)
        assert "another run is writing" in complaint(shell(*distil(endpoint)), 1)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    os.close(main)
    assert (child.returncode, out) == (130, "")
    endpoint.free.set()
    assert counts(shell(*distil(endpoint, "--json")).out) == {"note": 2}
    assert len(endpoint.asked) == 3
