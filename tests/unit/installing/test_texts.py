"""The generated texts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from core.installing.marks import marked, read_mark
from core.installing.texts import PLACEHOLDER, agent_text, model_of, plugin_text, program_version


def test_the_plugin_says_its_version() -> None:
    text = plugin_text("9.8.7")
    assert PLACEHOLDER not in text
    assert '"9.8.7"' in text


@pytest.mark.skipif(shutil.which("node") is None, reason="needs a JavaScript parser")
def test_the_marked_plugin_is_a_module(tmp_path: Path) -> None:
    path = tmp_path / "ledger.mjs"
    path.write_text(marked(plugin_text("0.1.0"), version="0.1.0", folders=2, comment="//"))
    subprocess.run(["node", "--check", str(path)], check=True, timeout=60)
    mark = read_mark(path.read_text())
    assert mark is not None
    assert not mark.edited


def test_the_version_is_that_of_the_package() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", program_version())


@pytest.mark.parametrize("model", ["", "a/b", 'a/"b"\\', "openrouter/x/y:free"])
def test_the_model_can_be_read_back(model: str) -> None:
    assert model_of(agent_text(model)) == model
    assert model_of(agent_text(model).replace("\n", "\r\n")) == model
