"""One line to each OpenCode process of a project: they come and go, and each thing goes to the one it is for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.errors import Unreachable
from core.host import line, lines
from core.host.finding_server import Nowhere, Target
from core.host.lines import Lines
from core.host.options import HostOptions
from core.ledger import observations as seen
from core.ledger.effects import Extract, Note
from core.opencode.client import Client
from core.settings import Settings

NOTE = Note(id="n1", call="c", part="p", message="m", origin="ses_1", kind="gentle", findings=(), text="x")


def door(n: int) -> Target:
    return Target(url=f"http://127.0.0.1:{n}", credentials=None, named=False, token="t", pid=n)


class Lookout:
    """Finds what it is told to find."""

    def __init__(self, options: HostOptions) -> None:
        self.problem = Nowhere("No OpenCode found", "", (), ("http://127.0.0.1:99 (/elsewhere)",))
        self.there: list[Target] = []
        self.looks = 0

    async def doors(self) -> list[Target]:
        return []

    async def targets(self, doors: list[Target], *, eagerly: bool) -> list[Target]:
        self.looks += 1
        return self.there


class Follower:
    """Says what the test lets it say."""

    made: dict[int, Follower]

    def __init__(self, client: Any, stream: Any, sink: Any, **more: Any) -> None:
        self.made[int(client.url.rsplit(":", 1)[1])] = self
        self.sink = sink
        self.peers = more["peers"]
        self.attached_at = 0
        self.asked: list[tuple[str, str]] = []
        self.fault: BaseException | None = None
        self.over = asyncio.Event()

    async def run(self) -> None:
        self.sink.connection("connecting", "")
        await self.over.wait()
        self.sink.connection("closed", "")
        if self.fault is not None:
            raise self.fault

    def load(self, root: str) -> None:
        self.asked.append(("load", root))

    def read_anew(self, root: str) -> None:
        self.asked.append(("anew", root))

    def retry_now(self) -> None:
        self.asked.append(("retry", ""))

    def root_of(self, session: str) -> str | None:
        return session or None

    def works(self, root: str) -> None:
        self.sink.observe(root, seen.StatusChanged(t=1, session=root, state="busy"))

    def rests(self, root: str) -> None:
        self.sink.observe(root, seen.StatusChanged(t=1, session=root, state="idle"))


class FakeClient(Client):
    """Takes down what would go to the server."""

    sent: list[tuple[str, int, str]]

    def _take(self, what: str, which: str) -> None:
        self.sent.append((what, int(self.url.rsplit(":", 1)[1]), which))

    async def toast(self, message: str, **_: Any) -> None:
        self._take("toast", message)

    async def reply_permission(self, permission: str, reply: Any) -> None:
        self._take("reply", permission)

    async def raw_part(self, session: str, message: str, part: str) -> dict[str, Any]:
        self._take("part", session)
        return {}

    async def health(self) -> str:
        self._take("health", "")
        raise Unreachable("not asked any further")


class Owner:
    """A host that takes down what it is told."""

    def __init__(self, options: HostOptions) -> None:
        self.options = options
        self.settings = Settings()
        self.clock: Callable[[], int] = lambda: 1
        self.read_only = False
        self.states: list[str] = []
        self.server: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.errors: list[BaseException] = []
        self.told: list[tuple[str, seen.Observation]] = []
        self.blind: list[str] = []

    def connection(self, state: str, detail: str, attempt: int = 0, retry_at: int = 0) -> None:
        self.states.append(state)

    def set_server(self, **changes: Any) -> None:
        self.server |= changes

    def warn(self, code: str, message: str, root: str = "") -> None:
        self.warnings.append(code)

    def failed(self, error: BaseException) -> None:
        self.errors.append(error)

    def observe(self, root: str, observation: seen.Observation) -> None:
        self.told.append((root, observation))

    def tell(self, root: str, told: seen.Observation) -> None:
        self.told.append((root, told))

    def blinded(self, root: str) -> None:
        self.blind.append(root)

    def settled(self, root: str, outcome: Any, way: str) -> None:
        pass


class Stage:
    """The lines, what they find, and their followers by port."""

    def __init__(self, owner: Owner, followers: dict[int, Follower], sent: list[tuple[str, int, str]]) -> None:
        self.owner = owner
        self.followers = followers
        self.sent = sent
        self.lines = Lines(owner)  # type: ignore[arg-type]
        self.lookout: Any = self.lines._lookout

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def find(self, *there: int) -> None:
        """These processes are there from now on, and looked for at once."""
        self.lookout.there = [door(n) for n in there]
        looks = self.lookout.looks
        self.lines.retry()
        await self.until(lambda: self.lookout.looks > looks + 0 and set(there) <= set(self.followers))
        await asyncio.sleep(0.01)

    def say(self, n: int, state: str, attempt: int = 0) -> None:
        self.followers[n].sink.connection(state, "", attempt)


@pytest.fixture
def staged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    followers: dict[int, Follower] = {}
    sent: list[tuple[str, int, str]] = []
    monkeypatch.setattr(Follower, "made", followers, raising=False)
    monkeypatch.setattr(FakeClient, "sent", sent, raising=False)
    monkeypatch.setattr(line, "Follower", Follower)
    monkeypatch.setattr(line, "Client", FakeClient)
    monkeypatch.setattr(lines, "Lookout", Lookout)

    @asynccontextmanager
    async def make(*there: int, **options: Any) -> AsyncIterator[Stage]:
        stage = Stage(Owner(HostOptions(directory=tmp_path, state_dir=tmp_path, **options)), followers, sent)
        stage.lookout.there = [door(n) for n in there]
        await stage.lines.start()
        await stage.until(lambda: set(there) <= set(followers))
        await asyncio.sleep(0.01)
        yield stage
        await stage.lines.stop()

    return make


async def test_a_named_server_is_the_only_one(staged: Any) -> None:
    async with staged(server="http://127.0.0.1:7") as stage:
        await stage.until(lambda: 7 in stage.followers)
        stage.say(7, "live")
        await asyncio.sleep(0.01)
        assert stage.lookout.looks == 0
        assert stage.owner.states == ["connecting", "live"]
        assert (stage.owner.server["url"], stage.owner.server["servers"]) == ("http://127.0.0.1:7", 1)


async def test_one_that_was_found_and_is_gone_is_not_waited_for_alone(staged: Any) -> None:
    async with staged(1) as stage:
        stage.say(1, "live")
        stage.lookout.problem = Nowhere("OpenCode runs in /p without a way in (process 5)", "", (5,), ("a", "b"))
        stage.lookout.there = []
        stage.say(1, "reconnecting", 1)
        await stage.until(lambda: stage.owner.states[-1] == "none")
        assert stage.owner.server["others"] == ("a", "b")
        stage.say(1, "connecting")
        stage.say(1, "reconnecting", 2)
        assert stage.owner.states[-1] == "none"
        stage.say(1, "live")
        assert stage.owner.states[-1] == "live"
        await stage.find(1)
        await stage.until(lambda: stage.owner.server["others"] == ())


async def test_one_that_restarts_is_waited_for_a_while(staged: Any) -> None:
    async with staged(1) as stage:
        stage.say(1, "live")
        stage.lookout.there = []
        stage.say(1, "reconnecting", 1)
        await stage.until(lambda: stage.owner.server.get("others"))
        assert stage.owner.states[-1] == "reconnecting"
        stage.say(1, "reconnecting", 6)
        assert stage.owner.states[-1] == "none"


async def test_each_process_is_followed_and_the_best_connection_is_shown(staged: Any) -> None:
    async with staged(1, 2) as stage:
        stage.say(2, "live")
        stage.say(1, "resyncing")
        stage.say(1, "live")
        stage.say(2, "reconnecting")
        stage.say(2, "live")
        assert stage.owner.states == ["connecting", "live"]
        assert stage.owner.server["servers"] == 2
        stage.say(1, "reconnecting")
        stage.say(2, "reconnecting")
        assert stage.owner.states == ["connecting", "live", "reconnecting"]


async def test_nothing_found_is_said_and_looked_for_again(staged: Any) -> None:
    async with staged() as stage:
        await stage.until(lambda: stage.owner.states == ["none"])
        await stage.find(1)
        assert stage.owner.states[-1] == "connecting"
        assert list(stage.followers) == [1]


async def test_one_that_comes_is_followed_and_one_that_goes_is_dropped_without_a_word(staged: Any) -> None:
    async with staged(1) as stage:
        stage.say(1, "live")
        await stage.find(1, 2)
        stage.say(2, "live")
        assert stage.owner.server["servers"] == 2
        stage.say(1, "reconnecting")
        await stage.find(2)
        await stage.until(lambda: stage.owner.server["servers"] == 1)
        assert stage.owner.server["url"] == "http://127.0.0.1:2"
        assert (stage.owner.states, stage.owner.warnings) == (["connecting", "live"], ["server", "server"])


async def test_the_last_one_is_waited_for_until_another_is_there(staged: Any) -> None:
    async with staged(1) as stage:
        stage.say(1, "live")
        stage.say(1, "reconnecting")
        await stage.find()
        assert stage.owner.states[-1] == "reconnecting"
        await stage.find(2)
        assert stage.owner.server["servers"] == 2
        stage.say(2, "live")
        await stage.find(2)
        await stage.until(lambda: stage.owner.server["servers"] == 1)
        assert stage.owner.states[-1] == "live"


async def test_one_that_is_live_is_not_dropped_because_it_was_not_found(staged: Any) -> None:
    async with staged(1, 2) as stage:
        stage.say(1, "live")
        stage.say(2, "live")
        await stage.find(2)
        await stage.find(2)
        assert stage.owner.server["servers"] == 2


async def test_no_process_is_followed_twice(staged: Any) -> None:
    async with staged(1) as stage:
        stage.say(1, "live")
        stage.lookout.there = [msgspec.structs.replace(door(1), url="http://127.0.0.1:5", token="")]
        looks = stage.lookout.looks
        stage.lines.retry()
        await stage.until(lambda: stage.lookout.looks > looks)
        await asyncio.sleep(0.01)
        assert list(stage.followers) == [1]


async def test_so_many_are_followed_at_most(staged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINES", 2)
    async with staged(1, 2) as stage:
        stage.lookout.there.append(door(3))
        looks = stage.lookout.looks
        stage.lines.retry()
        await stage.until(lambda: stage.lookout.looks > looks + 1 or not stage.lines._hurry.is_set())
        await asyncio.sleep(0.01)
        assert sorted(stage.followers) == [1, 2]


async def test_what_is_for_a_session_goes_to_its_process(staged: Any) -> None:
    async with staged(1, 2) as stage:
        for n in (1, 2):
            stage.say(n, "live")
            stage.followers[n].works(f"ses_{n}")
            assert stage.lines.url_of(f"ses_{n}") == f"http://127.0.0.1:{n}"
            asked = seen.PermissionAsked(t=1, session=f"ses_{n}", id=f"per_{n}", title="bash")
            stage.followers[n].sink.observe(f"ses_{n}", asked)
        await stage.until(lambda: len(stage.sent) == 2)
        stage.sent.clear()
        for n in (2, 1):
            stage.lines.toast(f"ses_{n}", "x")
            stage.lines.reply(f"per_{n}", "once")
            stage.lines.deliver(stage.lines.delivery_for(f"ses_{n}"), NOTE)
            stage.lines.load(f"ses_{n}")
            assert stage.lines.of(f"ses_{n}").target == door(n)
        await stage.until(lambda: len(stage.sent) == 6)
        assert {(what, n) for what, n, _ in stage.sent} == {(w, n) for w in ("toast", "reply", "part") for n in (1, 2)}
        assert [stage.followers[n].asked[-1] for n in (1, 2)] == [("load", "ses_1"), ("load", "ses_2")]


async def test_the_notes_of_a_process_out_of_sight_cannot_be_followed(staged: Any) -> None:
    async with staged(1, 2) as stage:
        for n in (1, 2):
            stage.say(n, "live")
            stage.followers[n].works(f"ses_{n}")
        stage.say(1, "reconnecting")
        assert stage.owner.blind == ["ses_1"]


async def test_a_process_that_goes_leaves_its_session_to_another(staged: Any) -> None:
    async with staged(1, 2) as stage:
        for n in (1, 2):
            stage.say(n, "live")
        stage.followers[1].works("ses_1")
        stage.say(1, "reconnecting")
        await stage.find(2)
        await stage.until(lambda: ("anew", "ses_1") in stage.followers[2].asked)
        stage.followers[2].rests("ses_1")
        states = [told.state for _, told in stage.owner.told if isinstance(told, seen.StatusChanged)]
        assert states == ["busy", "idle"]


async def test_without_a_line_an_extraction_fails_and_nothing_else_happens(staged: Any) -> None:
    async with staged() as stage:
        stage.lines.extract(Extract(t=1, session="ses_1", id="x1", steps=(), known=()))
        stage.lines.toast("ses_1", "x")
        stage.lines.load("ses_1")
        stage.lines.reply("per_1", "once")
        with pytest.raises(Unreachable):
            stage.lines.of("ses_1")
        await asyncio.sleep(0)
        assert [(root, told.id) for root, told in stage.owner.told] == [("ses_1", "x1")]


async def test_only_the_fault_of_the_last_line_ends_the_ledger(staged: Any) -> None:
    async with staged(1, 2) as stage:
        for n in (1, 2):
            stage.followers[n].fault = KeyError(n)
            stage.followers[n].over.set()
            await stage.until(lambda n=n: len(stage.owner.warnings) == n)
            assert len(stage.owner.errors) == n - 1
        assert isinstance(stage.owner.errors[0], KeyError)


async def test_those_that_come_later_count_from_when_the_first_attached(staged: Any) -> None:
    async with staged(1, 2) as stage:
        assert stage.followers[2].peers.attached_at() == 0
        stage.followers[1].attached_at = 5
        assert stage.followers[2].peers.attached_at() == 5


async def test_nothing_is_sent_after_the_end(staged: Any) -> None:
    async with staged(1) as stage:
        stage.say(1, "live")
        await stage.until(lambda: bool(stage.sent))
        stage.sent.clear()
    delivery = stage.lines.delivery_for("ses_1")
    stage.lines.deliver(delivery, NOTE)
    stage.lines.toast("ses_1", "x")
    await asyncio.sleep(0.01)
    assert (stage.sent, len(delivery.receipts)) == ([], 0)
