"""Notes in Cognee: on a stand-in for its package, and on the package itself where it is installed (tests/e2e)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from core.errors import ServerError, UsageError
from core.history.cognee_sink import CogneeSink
from core.history.sinks import Delivery


@dataclass
class Item:
    data: str
    label: str
    data_id: UUID
    literal_text: bool


@dataclass
class Cognee:
    """One dataset in memory; like the original it refuses to change a document."""

    dataset: UUID = field(default_factory=uuid4)
    documents: dict[UUID, Item] = field(default_factory=dict)
    made: int = 0
    fault: Exception | None = None
    name: str = ""
    set_ups: int = 0

    @property
    def datasets(self) -> Any:
        return SimpleNamespace(list_datasets=self._list, list_data=self._data, delete_data=self._delete)

    async def add(self, item: Item, *, dataset_name: str) -> None:
        if self.fault:
            raise self.fault
        assert item.data_id not in self.documents
        assert item.literal_text
        self.name = dataset_name
        self.documents[item.data_id] = item

    async def cognify(self, *, datasets: list[str]) -> None:
        assert datasets == [self.name]
        self.made += 1

    async def set_up(self) -> None:
        self.set_ups += 1
        print("a table was made")

    async def _list(self) -> list[Any]:
        assert self.set_ups == 1
        return [SimpleNamespace(id=uuid4(), name="other"), SimpleNamespace(id=self.dataset, name=self.name)]

    async def _data(self, dataset: UUID) -> list[Any]:
        return [SimpleNamespace(id=id) for id in self.documents] if dataset == self.dataset else []

    async def _delete(self, *, dataset_id: UUID, data_id: UUID) -> None:
        assert dataset_id == self.dataset
        del self.documents[data_id]


@pytest.fixture
def cognee() -> Cognee:
    return Cognee()


@pytest.fixture
def sink(cognee: Cognee) -> Iterator[CogneeSink]:
    modules = {
        "cognee": cognee,
        "cognee.tasks.ingestion.data_item": SimpleNamespace(DataItem=Item),
        "cognee.modules.engine.operations.setup": SimpleNamespace(setup=cognee.set_up),
    }
    opened = CogneeSink(load=modules.__getitem__)
    yield opened
    opened.close()


def test_a_session_has_one_document_the_last_one(sink: CogneeSink, cognee: Cognee) -> None:
    assert not sink.holds("ses_a")
    for note in ("one", "two"):
        sink.put(Delivery(session="ses_a", note=note))
    sink.put(Delivery(session="ses_b", note="three"))
    assert {item.label: item.data for item in cognee.documents.values()} == {"ses_a": "two", "ses_b": "three"}
    assert sink.holds("ses_a")
    sink.drop("ses_a")
    sink.drop("ses_a")
    assert not sink.holds("ses_a")
    assert sink.holds("ses_b")


def test_what_cognee_prints_stays_out_of_the_answer(sink: CogneeSink, capsys: pytest.CaptureFixture[str]) -> None:
    sink.holds("ses_a")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "a table was made\n")


def test_what_an_earlier_run_put_there_is_known(sink: CogneeSink, cognee: Cognee) -> None:
    sink.put(Delivery(session="ses_a", note="one"))
    assert sink.holds("ses_a")
    assert cognee.documents.keys() == {sink.id_of("ses_a")}


def test_the_graph_is_made_once_at_the_end_and_only_of_something(sink: CogneeSink, cognee: Cognee) -> None:
    sink.finish()
    assert cognee.made == 0
    sink.put(Delivery(session="ses_a", note="one"))
    assert cognee.made == 0
    sink.finish()
    assert cognee.made == 1


def test_a_fault_of_cognee_is_one_line_without_secrets(sink: CogneeSink, cognee: Cognee) -> None:
    cognee.fault = ValueError("bad key\nghp_abcdefghijklmnopqrstuvwxyz0123456789")
    with pytest.raises(ServerError, match="Cognee failed: bad key") as caught:
        sink.put(Delivery(session="ses_a", note="one"))
    assert "\n" not in str(caught.value)
    assert "ghp_abcdef" not in str(caught.value)


def test_a_package_that_is_not_there_can_be_installed() -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    with pytest.raises(UsageError, match=r"pip install 'ledger-tui\[cognee\]'"):
        CogneeSink(load=missing)


def test_a_call_that_is_under_way_ends_with_the_sink(sink: CogneeSink, cognee: Cognee) -> None:
    begun = threading.Event()

    async def endless(**_: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    sink.put(Delivery(session="ses_a", note="one"))
    cognee.cognify = endless  # type: ignore[method-assign]
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(sink.finish)
        assert begun.wait(5)
        sink.close()
        with pytest.raises(ServerError):
            waiting.result(5)
