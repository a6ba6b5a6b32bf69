"""`headless`: the ledger without a screen, its reports as JSON lines."""

from __future__ import annotations

import asyncio
from typing import Final

from core.errors import Refused, Unreachable
from core.host.host import Host
from core.jsonlines import JsonLines
from core.ledger.effects import ConnectionReport, Report

CHECK_SECONDS: Final = 1.0
"""Pause between two looks whether somebody still reads the output."""


async def run(host: Host, out: JsonLines) -> int:
    """Write every report of `host` until cancelled, or until it ends by itself; returns the exit code.

    With a session named in the options, the other ones of the directory do not count.

    Raises:
        ServerError: the server cannot be reached, or refuses, at the start or later on.
        OutputClosed: nobody reads.
    """
    ended: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
    reached = False

    def end(error: BaseException) -> None:
        if not ended.done():
            ended.set_result(error)

    def read(report: Report) -> None:
        nonlocal reached
        try:
            out.write(report)
        except Exception as error:
            end(error)
        if isinstance(report, ConnectionReport):
            reached = reached or report.state in ("live", "resyncing")
            if host.fault is not None:
                end(host.fault)
            elif report.state == "refused":
                end(Refused(report.detail))
            elif report.state == "reconnecting" and not reached:
                end(Unreachable(report.detail))

    def look() -> None:
        if host.server.state == "none" and not reached:
            end(Unreachable(host.server.detail))

    async def watch_output() -> None:
        """A reader who left is noticed also while there is nothing to write."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                out.check()
            except Exception as error:
                end(error)
                return

    host.only = host.options.session
    host.subscribe(look)
    host.read_reports(read)
    watching = asyncio.create_task(watch_output())
    try:
        await host.start()
        raise await ended
    finally:
        watching.cancel()
        await host.stop()
