"""Writing that fails or ends in the middle leaves nothing behind, or what the next one can tell and take away."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.errors import FileError
from core.installing import texts
from core.installing.files import leftovers, look
from core.installing.install import uninstall
from core.installing.places import Place, project_place

from .test_install import PLUGIN, init, tree


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return project_place(tmp_path / "project")


class TestCutShort:
    """Writing fails, or ends in the middle."""

    def fail_at(self, monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
        opened = Path.open

        def full(path: Path, *arguments: Any, **rest: Any) -> Any:
            if path.name.startswith(f".{name}."):
                opened(path, "w").close()
                raise error
            return opened(path, *arguments, **rest)

        monkeypatch.setattr(Path, "open", full)

    @pytest.mark.parametrize("name", ["ledger.js", "ledger-extractor.md"])
    @pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
    def test_all_is_as_it_was(
        self, place: Place, monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException
    ) -> None:
        self.fail_at(monkeypatch, name, error)
        with pytest.raises((FileError, KeyboardInterrupt)):
            init(place)
        assert set(tree(place.top)) == {".git/"}

    def test_an_earlier_version_comes_back(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        init(place, version="0.1.0")
        before = tree(place.top)
        self.fail_at(monkeypatch, "ledger-extractor.md", OSError(errno.ENOSPC, "No space left on device"))
        with pytest.raises(FileError, match="No space left"):
            init(place)
        assert tree(place.top) == before

    @pytest.mark.parametrize("after", ["link", "unlink"])
    @pytest.mark.parametrize("nth", [1, 2])
    def test_killed_then_once_more_then_removed(self, place: Place, after: str, nth: int) -> None:
        """A process that dies right before the nth link or removal; the next one heals, and uninit takes all away."""
        before = tree(place.top)
        code = (
            "import os, sys; from pathlib import Path; from core.installing.install import install\n"
            "from core.installing.places import project_place\n"
            "after, nth, folder, plugin = sys.argv[1:]\n"
            "calls, original = [], getattr(os, after)\n"
            "def deadly(*a, **k):\n"
            "    calls.append(a)\n"
            "    if len(calls) == int(nth): os.kill(os.getpid(), 9)\n"
            "    return original(*a, **k)\n"
            "setattr(os, after, deadly)\n"
            "install(project_place(Path(folder)), plugin=plugin, version='0.2.0')\n"
        )
        text = PLUGIN.replace(texts.PLACEHOLDER, "0.2.0")
        command = [sys.executable, "-c", code, after, str(nth), str(place.top), text]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        assert leftovers(place.plugin) or leftovers(place.agent)
        init(place)
        assert (look(place.plugin).state, look(place.agent).state) == ("ours", "ours")
        planned = uninstall(place, dry_run=True)
        assert any("cut short" in deed.detail for deed in planned)
        assert uninstall(place) == planned
        assert not leftovers(place.plugin) and not leftovers(place.agent)
        assert {path for path in set(tree(place.top)) - set(before) if not path.endswith("/")} == set()

    def test_only_what_is_named_as_ours_is_a_leftover(self, place: Place, tmp_path: Path) -> None:
        init(place)
        others = [".ledger.js.swp", ".ledger.js.0123456789abcdeg", ".other.js.0123456789abcdef"]
        for name in others:
            (place.plugin.parent / name).write_text("mine")
        (place.plugin.parent / ".ledger.js.0123456789abcdef").symlink_to(tmp_path)
        uninstall(place)
        left = {path.name for path in place.plugin.parent.iterdir()}
        assert left == {*others, ".ledger.js.0123456789abcdef"}
