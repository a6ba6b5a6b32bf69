"""The real Cognee with its own embedded stores, on a scripted model server; only where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cognee_model import SIZE, CogneeModel

pytest.importorskip("cognee.version", reason="the optional extra cognee is not installed")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def model() -> Iterator[CogneeModel]:
    server = CogneeModel()
    yield server
    server.stop()


def do(home: Path, model: CogneeModel, *deeds: str) -> Any:
    """What the dataset holds after the deeds of one process."""
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(home), "LEDGER_HOME": str(home / "ledger"),
        "DATA_ROOT_DIRECTORY": str(home / "data"), "SYSTEM_ROOT_DIRECTORY": str(home / "system"),
        "LLM_PROVIDER": "custom", "LLM_MODEL": "openai/gpt-4o-mini", "LLM_ENDPOINT": model.url, "LLM_API_KEY": "x",
        "EMBEDDING_PROVIDER": "openai_compatible", "EMBEDDING_MODEL": "openai/text-embedding-3-small",
        "EMBEDDING_ENDPOINT": model.url, "EMBEDDING_API_KEY": "x", "EMBEDDING_DIMENSIONS": str(SIZE),
        "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.e2e.cognee_child", *deeds]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return json.loads(done.stdout.decode().strip().rpartition("\n")[2])


def test_each_session_has_one_document_in_the_graph(tmp_path: Path, model: CogneeModel) -> None:
    first = do(tmp_path, model, "put=ses_a:Alpha was parsed.", "put=ses_b:Beta was built.", "finish")
    assert first["held"] == {"ses_a": True, "ses_b": True, "ses_c": False}
    assert first["labels"] == ["ses_a", "ses_b"]
    assert first["chunks"] == ["Alpha was parsed.", "Beta was built."]
    asked = model.asked["completions"]
    assert asked >= 2
    again = do(tmp_path, model, "put=ses_a:Alpha was parsed anew.", "drop=ses_b", "finish", "finish")
    assert again["held"] == {"ses_a": True, "ses_b": False, "ses_c": False}
    assert again["labels"] == ["ses_a"]
    assert again["chunks"] == ["Alpha was parsed anew."]
    assert model.asked["completions"] - asked <= asked
