"""init and uninit on a real folder: nothing of the user's is lost, and afterwards all is as it was."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from core.errors import FileError, UsageError
from core.installing import texts
from core.installing.files import look
from core.installing.install import Deed, install, uninstall
from core.installing.places import Place, global_place, project_place

PLUGIN = "export default { id: 'x' } // __VERSION__\n"


def tree(folder: Path) -> dict[str, str]:
    """Every path below a folder with its contents; folders end in a slash."""
    return {
        f"{path.relative_to(folder)}{'/' if path.is_dir() else ''}": path.read_text() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return project_place(tmp_path / "project")


def init(place: Place, *, version: str = "0.2.0", model: str | None = None, dry_run: bool = False) -> list[Deed]:
    plugin = PLUGIN.replace(texts.PLACEHOLDER, version)
    return install(place, plugin=plugin, version=version, model=model, dry_run=dry_run)


def what(deeds: list[Deed]) -> list[str]:
    return [deed.what for deed in deeds]


def edit(path: Path) -> str:
    path.write_text(path.read_text() + "\nmine\n")
    return path.read_text()


class TestInit:
    def test_writes_both_files(self, place: Place) -> None:
        deeds = init(place)
        assert [(deed.path, deed.what) for deed in deeds] == [(place.plugin, "written"), (place.agent, "written")]
        first, body = place.plugin.read_text().split("\n", 1)
        assert first.startswith("// ledger-tui 0.2.0 sha256:")
        assert body == PLUGIN.replace("__VERSION__", "0.2.0")
        assert set(tree(place.top)) == {
            ".git/",
            ".opencode/",
            ".opencode/agent/",
            ".opencode/agent/ledger-extractor.md",
            ".opencode/plugins/",
            ".opencode/plugins/ledger.js",
        }

    def test_the_agent_can_do_nothing_and_has_one_line_to_say(self, place: Place) -> None:
        init(place, model="openai/gpt-5-mini")
        _, head, prompt = place.agent.read_text().split("---\n")
        lines = head.splitlines()
        assert lines[0].startswith("# ledger-tui 0.2.0 ")
        assert lines[2:] == [
            "mode: subagent",
            "hidden: true",
            "temperature: 0",
            'model: "openai/gpt-5-mini"',
            "permission:",
            '  "*": deny',
        ]
        assert prompt.count("\n") == 1

    def test_once_more(self, place: Place) -> None:
        init(place, model="a/b")
        before = tree(place.top)
        assert what(init(place)) == ["present", "present"]
        assert tree(place.top) == before

    def test_brings_an_earlier_version_up_to_date(self, place: Place) -> None:
        init(place, version="0.1.9", model="a/b")
        deeds = init(place, version="0.2.0")
        assert [(deed.what, deed.detail) for deed in deeds] == [("updated", "0.1.9 to 0.2.0")] * 2
        assert "// 0.2.0\n" in place.plugin.read_text()
        assert 'model: "a/b"' in place.agent.read_text()
        assert what(uninstall(place)) == ["removed"] * 5  # it still knows which folders were made

    @pytest.mark.parametrize(("model", "line"), [("c/d", 'model: "c/d"\n'), ("", None)])
    def test_changes_the_model_when_asked_to(self, place: Place, model: str, line: str | None) -> None:
        init(place, model="a/b")
        assert what(init(place, model=model)) == ["present", "updated"]
        assert (line or "model:") in place.agent.read_text() or line is None
        assert "a/b" not in place.agent.read_text()

    @pytest.mark.parametrize("model", ["gpt", "a/b c", "/b", "a/b\n", "a/\x1b[2J"])
    def test_no_model(self, place: Place, model: str) -> None:
        with pytest.raises(UsageError, match="provider/model"):
            init(place, model=model)
        assert set(tree(place.top)) == {".git/"}

    def test_dry_run_says_the_same_and_does_nothing(self, place: Place) -> None:
        deeds = init(place, dry_run=True)
        assert set(tree(place.top)) == {".git/"}
        assert init(place) == deeds
        edit(place.plugin)
        before = tree(place.top)
        init(place, model="a/b", dry_run=True)
        assert tree(place.top) == before

    def test_line_ends_that_git_converted_are_as_good(self, place: Place) -> None:
        init(place)
        place.plugin.write_bytes(place.plugin.read_bytes().replace(b"\n", b"\r\n"))
        assert what(init(place)) == ["present", "present"]

    def test_a_global_one(self, tmp_path: Path) -> None:
        place = global_place({"HOME": str(tmp_path)})
        init(place)
        assert (tmp_path / ".config" / "opencode" / "plugins" / "ledger.js").is_file()
        assert (tmp_path / ".config" / "opencode" / "agent" / "ledger-extractor.md").is_file()
        uninstall(place)
        assert tree(tmp_path) == {}

    def test_a_global_one_behind_a_link_of_the_users(self, tmp_path: Path) -> None:
        """Configuration folders are often links into a repository of dotfiles."""
        (tmp_path / "dotfiles").mkdir()
        (tmp_path / ".config").mkdir()
        (tmp_path / ".config" / "opencode").symlink_to(tmp_path / "dotfiles")
        place = global_place({"HOME": str(tmp_path)})
        init(place)
        assert (tmp_path / "dotfiles" / "plugins" / "ledger.js").is_file()
        uninstall(place)
        assert list((tmp_path / "dotfiles").iterdir()) == []
        assert (tmp_path / ".config" / "opencode").is_symlink()


class TestRefusals:
    """Whatever is in the way stays as it is, and nothing else is written either."""

    def refused(self, place: Place, *expected: str, **options: str) -> None:
        before = tree(place.top)
        with pytest.raises(FileError) as caught:
            init(place, **options)  # type: ignore[arg-type]
        assert tree(place.top) == before
        for part in expected:
            assert part in str(caught.value)

    @pytest.mark.parametrize("name", ["plugin", "agent"])
    @pytest.mark.parametrize("content", [b"mine\n", b"", b"\xff\xfe\x00", b"x" * 2_000_000], ids=lambda c: str(c[:5]))
    def test_somebody_elses_file(self, place: Place, name: str, content: bytes) -> None:
        path: Path = getattr(place, name)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        with pytest.raises(FileError, match="not overwritten: ledger-tui did not write it") as caught:
            init(place)
        assert str(path) in str(caught.value)
        assert path.read_bytes() == content
        assert not (place.plugin if name == "agent" else place.agent).exists()

    def test_an_edited_file_of_an_earlier_version(self, place: Place) -> None:
        init(place, version="0.1.0")
        edit(place.plugin)
        self.refused(place, str(place.plugin), "0.1.0 and was edited", "Move it away")

    def test_a_file_of_a_later_version(self, place: Place) -> None:
        init(place, version="0.10.0")
        self.refused(place, "later version, 0.10.0", "Update ledger-tui")

    def test_another_model_for_an_edited_agent(self, place: Place) -> None:
        init(place)
        edit(place.agent)
        self.refused(place, str(place.agent), "was edited", model="a/b")

    def test_links_and_folders(self, place: Place, tmp_path: Path) -> None:
        place.plugin.parent.mkdir(parents=True)
        place.plugin.symlink_to(tmp_path / "elsewhere.js")
        self.refused(place, "symbolic link")
        assert not (tmp_path / "elsewhere.js").exists()
        place.plugin.unlink()
        place.plugin.mkdir()
        self.refused(place, "no plain file")
        place.plugin.rmdir()
        os.mkfifo(place.plugin)
        with pytest.raises(FileError, match="no plain file"):
            init(place)

    @pytest.mark.parametrize("folder", [".opencode", ".opencode/plugins", ".opencode/agent"])
    def test_a_folder_that_leads_out_of_the_project(self, place: Place, tmp_path: Path, folder: str) -> None:
        (tmp_path / "trap").mkdir()
        (place.top / folder).parent.mkdir(exist_ok=True)
        (place.top / folder).symlink_to(tmp_path / "trap")
        self.refused(place, "outside of the project")
        assert list((tmp_path / "trap").iterdir()) == []

    def test_a_file_where_a_folder_should_be(self, place: Place) -> None:
        (place.top / ".opencode").write_text("")
        self.refused(place, f"{place.root} is in the way: it is no folder")
        place.root.unlink()
        place.root.symlink_to("nowhere")
        self.refused(place, f"{place.root} is in the way: it is no folder")

    @pytest.mark.parametrize("dry_run", [False, True])
    def test_a_folder_that_takes_no_files(
        self, place: Place, monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
    ) -> None:
        """Said before anything is written, and by a dry run too."""
        monkeypatch.setattr(os, "access", lambda path, mode: path != place.top)
        with pytest.raises(FileError, match="cannot be written to") as caught:
            init(place, dry_run=dry_run)
        assert "--global" in caught.value.hint
        assert set(tree(place.top)) == {".git/"}

    def test_a_file_system_without_hard_links(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        def unsupported(*_: object) -> None:
            raise OSError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", unsupported)
        assert what(init(place)) == ["written", "written"]
        assert [path.name for path in place.plugin.parent.iterdir()] == ["ledger.js"]

    def test_what_appears_at_the_last_moment_is_not_overwritten(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        link = os.link

        def late(source: Path, target: Path) -> None:
            target.write_text("mine")
            link(source, target)

        monkeypatch.setattr(os, "link", late)
        with pytest.raises(FileError, match="cannot write"):
            init(place)
        assert place.plugin.read_text() == "mine"
        assert [path.name for path in place.plugin.parent.iterdir()] == ["ledger.js"]


class TestUninit:
    def test_all_is_as_it_was(self, place: Place) -> None:
        before = tree(place.top)
        init(place)
        deeds = uninstall(place)
        assert what(deeds) == ["removed"] * 5
        assert tree(place.top) == before
        assert what(uninstall(place)) == ["absent", "absent"]

    @pytest.mark.parametrize("existing", [[], ["plugins"], ["agent"], ["plugins", "agent"]], ids=str)
    def test_folders_that_were_there_stay(self, place: Place, existing: list[str]) -> None:
        place.root.mkdir()
        for name in existing:
            (place.root / name).mkdir()
        before = tree(place.top)
        init(place)
        uninstall(place)
        assert tree(place.top) == before

    def test_other_plugins_and_agents_stay(self, place: Place) -> None:
        for name in ("plugins/other.js", "agent/reviewer.md", "agents/writer.md", "ledger.toml"):
            path = place.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name}\n")
        before = tree(place.top)
        init(place)
        assert what(uninstall(place)) == ["removed", "removed"]
        assert tree(place.top) == before

    def test_what_came_later_into_a_folder_of_ours_stays(self, place: Place) -> None:
        """OpenCode puts files of its own into each `.opencode`."""
        init(place)
        (place.root / "package.json").write_text("{}")
        (place.root / "plugins" / "other.js").write_text("")
        deeds = uninstall(place)
        kept = {deed.path.name for deed in deeds if deed.what == "kept"}
        assert kept == {".opencode", "plugins"}
        assert set(tree(place.root)) == {"package.json", "plugins/", "plugins/other.js"}

    @pytest.mark.parametrize("name", ["plugin", "agent"])
    def test_edited_files_are_kept_and_named(self, place: Place, name: str) -> None:
        init(place)
        path: Path = getattr(place, name)
        content = edit(path)
        deeds = uninstall(place)
        (kept,) = (deed for deed in deeds if deed.path == path)
        assert (kept.what, "you edited it" in kept.detail) == ("kept", True)
        assert path.read_text() == content
        assert [entry for entry in tree(place.root) if not entry.endswith("/")] == [str(path.relative_to(place.root))]

    def test_somebody_elses_files_are_kept_and_named(self, place: Place) -> None:
        place.plugin.parent.mkdir(parents=True)
        place.plugin.write_text("mine")
        deeds = uninstall(place)
        assert [(deed.what, deed.detail) for deed in deeds] == [("kept", "ledger-tui did not write it"), ("absent", "")]

    def test_one_of_them_is_gone_already(self, place: Place) -> None:
        before = tree(place.top)
        init(place)
        place.plugin.unlink()
        assert what(uninstall(place))[:2] == ["absent", "removed"]
        assert set(tree(place.top)) - set(before) <= {".opencode/", ".opencode/plugins/"}

    def test_dry_run_says_the_same_and_does_nothing(self, place: Place) -> None:
        init(place)
        edit(place.agent)
        before = tree(place.top)
        deeds = uninstall(place, dry_run=True)
        assert tree(place.top) == before
        assert uninstall(place) == deeds

    def test_a_mark_cannot_make_it_remove_folders_above_the_project(self, tmp_path: Path) -> None:
        """A repository may bring a file with a mark of its own making; the project is all there is in its folder."""
        top = tmp_path / "a" / "b"
        top.mkdir(parents=True)
        place = project_place(top)
        init(place)
        place.plugin.write_text(place.plugin.read_text().replace("folders:2", "folders:9"))
        assert look(place.plugin).state == "edited"
        from core.installing.marks import marked

        place.plugin.write_text(marked(PLUGIN, version="0.2.0", folders=9, comment="//"))
        place.agent.write_text(marked("---\n", version="0.2.0", folders=9, comment="#", line=1))
        uninstall(place)
        assert list(top.iterdir()) == []

    def test_nothing_outside_of_the_project_is_removed(self, place: Place, tmp_path: Path) -> None:
        init(place)
        shutil.move(place.root, tmp_path / "elsewhere")
        place.root.symlink_to(tmp_path / "elsewhere")
        deeds = uninstall(place)
        assert what(deeds) == ["kept", "kept"]
        assert (tmp_path / "elsewhere" / "plugins" / "ledger.js").is_file()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_sees_no_difference_after_init_and_uninit(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null", *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    for name in (".opencode/plugins/other.js", ".opencode/agent/reviewer.md", "main.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    git("add", ".")
    git("commit", "-qm", "all")
    place = project_place(tmp_path)
    init(place)
    status = git("status", "--short", "--untracked-files=all")
    assert status.split() == ["??", ".opencode/agent/ledger-extractor.md", "??", ".opencode/plugins/ledger.js"]
    uninstall(place)
    assert git("status", "--short", "--ignored") == ""
