"""Servers that are dead, wrong or locked, and sessions that are not there: one line that says why, and exit code 3."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.ledger import Ledger, once
from tests.e2e.model_server import ModelServer
from tests.e2e.opencode import free_port
from tests.e2e.scripts import plain
from tests.e2e.stage import stage


def assert_refused(run: Ledger, *words: str, code: int = 3) -> None:
    """It ended with the code, and one readable line on standard error."""
    assert run.code == code, run.errors
    assert len(run.errors.splitlines()) == 1, run.errors
    assert all(word in run.errors for word in words), run.errors


async def test_a_dead_server(tmp_path: Path) -> None:
    place = f"http://127.0.0.1:{free_port()}"
    run = await once(["headless", "--server", place, "--set", f"dump_path={tmp_path}/facts.json"], tmp_path / "home")
    assert_refused(run, place)


async def test_a_server_that_is_not_opencode(tmp_path: Path) -> None:
    async with ModelServer(plain()) as model:
        place = model.url.removesuffix("/v1")
        run = await once(["headless", "--server", place], tmp_path / "home")
    assert_refused(run, place)


async def test_a_locked_server(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain(), password="open sesame") as on:
        place = ["headless", "--server", on.server.url, "--directory", str(on.server.project)]
        without = await once(place, tmp_path / "home")
        assert_refused(without, "OPENCODE_SERVER_PASSWORD")
        wrong = await once(place, tmp_path / "home", OPENCODE_SERVER_PASSWORD="wrong")
        assert_refused(wrong, "password")
        assert "wrong" not in wrong.errors.split("password", 1)[0]
        async with on.ledger(OPENCODE_SERVER_PASSWORD="open sesame") as ledger:
            await ledger.state("live")
            root = await on.session()
            await on.prompt(root, "[one] go")
            await ledger.until(lambda x: x["type"] == "step" and x["n"] == 2)
            assert await ledger.interrupt() == 130


async def test_a_session_that_is_not_there(binary: Path, tmp_path: Path) -> None:
    async with stage(binary, tmp_path, plain()) as on:
        for missing in ("ses_dd52083e6ffeRx2BHj6FqSOn0b", "nonsense"):
            for command in ("headless", "record"):
                out = [str(tmp_path / "out.jsonl")] if command == "record" else []
                arguments = [command, *out, "--server", on.server.url, "--session", missing]
                run = await once([*arguments, "--directory", str(on.server.project)], tmp_path / "home")
                assert_refused(run, missing)
