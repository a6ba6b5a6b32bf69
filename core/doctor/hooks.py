"""The way from the plugin to the ledger, tried from here: the ledger's port, its token, how long its answer takes."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Iterable
from statistics import median
from typing import Final

from core import rendezvous
from core.doctor.lines import Line, fail, ok, warn
from core.doctor.reach import Reach
from core.doctor.surroundings import Surroundings
from core.rendezvous import LedgerFile

TRIES: Final = 5
TIMEOUT_SECONDS: Final = 2.0
_MAX_ANSWER: Final = 64 * 1024


def hook(surroundings: Surroundings, _: Reach) -> Iterable[Line]:
    """Ask the ledger that hosts the project, as the plugin does; without versions, which only a plugin has."""
    peer = rendezvous.ledger(surroundings.directory, environ=surroundings.environ)
    if peer is None:
        yield ok("hook", "not tried: no ledger runs for this project")
        return
    name = f"the ledger of process {peer.pid}"
    try:
        times = _round_trips(peer)
    except (OSError, http.client.HTTPException, ValueError) as error:
        yield fail("hook", f"{name} does not answer: {error}", "End it and start it again.")
        return
    typical = median(times)
    text = f"{name} answers in {typical:.1f} ms"
    if typical > peer.deadline_ms:
        yield warn("hook", text, f"The plugin waits {peer.deadline_ms} ms only, so notes come late.")
    else:
        yield ok("hook", text)


def _round_trips(peer: LedgerFile) -> list[float]:
    """Milliseconds of each, all on one connection. Raises ValueError when an answer is not what it should be."""
    said = {"pid": os.getpid(), "directory": peer.directory, "opencode": "", "shim": ""}
    headers = {"Authorization": f"Bearer {peer.token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", peer.port, timeout=TIMEOUT_SECONDS)
    times = []
    try:
        connection.connect()
        for _ in range(TRIES):
            began = time.perf_counter()
            connection.request("POST", "/v1/hello", json.dumps(said), headers)
            answer = connection.getresponse()
            body = answer.read(_MAX_ANSWER)
            times.append((time.perf_counter() - began) * 1000)
            if answer.status != 200 or json.loads(body) != {"ok": True}:
                raise ValueError(f"it answers {answer.status}")
    finally:
        connection.close()
    return times
