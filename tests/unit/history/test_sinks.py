"""Where notes go."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import UsageError
from core.history.folder import Folder
from core.history.sinks import Delivery, FilesSink, open_sink


def test_files_are_one_a_session_the_last_one(tmp_path: Path) -> None:
    with Folder.open(tmp_path) as folder:
        sink = FilesSink(folder)
        assert not sink.holds("ses_a")
        sink.put(Delivery(session="ses_a", note="one\n"))
        sink.put(Delivery(session="ses_a", note="two\n"))
        sink.put(Delivery(session="../b", note="three\n"))
        assert sink.holds("ses_a")
        assert (tmp_path / "notes" / "ses_a.md").read_text() == "two\n"
        assert len(list((tmp_path / "notes").iterdir())) == 2
        sink.drop("ses_a")
        sink.drop("ses_a")
        assert not sink.holds("ses_a")


def test_a_sink_is_opened_by_its_name(tmp_path: Path) -> None:
    with Folder.open(tmp_path) as folder:
        assert open_sink("files", folder).name == "files"
        with pytest.raises(UsageError, match="files, cognee"):
            open_sink("paper", folder)
