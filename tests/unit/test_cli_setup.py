"""`init`, `uninit` and `doctor`, run as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.test_cli import Shell, complaint


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


class TestInit:
    PLUGIN = ".opencode/plugins/ledger.js"
    AGENT = ".opencode/agent/ledger-extractor.md"

    def test_there_and_back(self, shell: Shell) -> None:
        planned = shell("init", "--dry-run", "--model", "a/b")
        assert planned.out.count("would write") == 2
        assert not (shell.folder / ".opencode").exists()
        done = shell("init", "--model", "a/b")
        assert (done.code, done.err, done.out.count("wrote")) == (0, "", 2)
        assert f"{shell.folder / self.PLUGIN}\n" in done.out
        assert "OpenCode loads it when it starts next." in done.out and "half a minute" in done.out
        assert 'model: "a/b"' in (shell.folder / self.AGENT).read_text()
        assert [line.split("  ")[0] for line in shell("init").out.splitlines()] == ["already there"] * 2
        assert shell("uninit").out.count("removed") == 5
        assert not (shell.folder / ".opencode").exists()

    def test_home_is_no_project(self, shell: Shell) -> None:
        done = shell("init", "--dry-run", HOME=str(shell.folder))
        assert done.code == 0 and "caution" in done.err and "your home folder, not a project" in done.err
        assert shell("init", "--dry-run", "--directory", "/").err.count("the root of the file system") == 1
        assert shell("init", "--dry-run").err == ""

    def test_for_all_projects(self, shell: Shell, tmp_path: Path) -> None:
        assert shell("init", "--global", XDG_CONFIG_HOME=str(tmp_path / "c")).code == 0
        assert (tmp_path / "c" / "opencode" / "plugins" / "ledger.js").is_file()
        also = shell("init", XDG_CONFIG_HOME=str(tmp_path / "c")).out
        assert f"note: the plugin is in {tmp_path / 'c' / 'opencode'} too" in also
        assert shell("uninit", "--global", XDG_CONFIG_HOME=str(tmp_path / "c")).code == 0
        assert not (tmp_path / "c").exists()
        assert (shell.folder / self.PLUGIN).is_file()

    def test_a_file_of_the_users_is_not_overwritten(self, shell: Shell) -> None:
        (shell.folder / self.AGENT).parent.mkdir(parents=True)
        (shell.folder / self.AGENT).write_text("mine")
        assert str(shell.folder / self.AGENT) in complaint(shell("init"), 1)
        assert "kept" in shell("uninit").out
        assert (shell.folder / self.AGENT).read_text() == "mine"

    def test_edits_stay_and_are_named(self, shell: Shell) -> None:
        """And nobody is told that OpenCode would do without the plugin then."""
        shell("init")
        edited = (shell.folder / self.PLUGIN).read_text() + "// mine\n"
        (shell.folder / self.PLUGIN).write_text(edited)
        said = shell("uninit").out
        assert f"kept           {shell.folder / self.PLUGIN} (you edited it; delete it yourself)" in said
        assert "starts next" not in said
        assert (shell.folder / self.PLUGIN).read_text() == edited
        assert not (shell.folder / self.AGENT).exists()

    def test_no_model(self, shell: Shell) -> None:
        assert "provider/model" in complaint(shell("init", "--model", "gpt"), 2)


class TestDoctor:
    def test_lines_and_exit_code(self, shell: Shell, tmp_path: Path) -> None:
        """Without OpenCode in PATH something fails; with a program of that name nothing does."""
        dump = f"dump_path={tmp_path / 'facts.json'}"
        ended = shell("doctor", "--set", dump, PATH=str(tmp_path))
        assert (ended.code, ended.err) == (1, "")
        assert {line.split()[0] for line in ended.out.splitlines()} == {"ok", "warn", "fail"}
        assert any(f"dump_path = {tmp_path / 'facts.json'} (flag: --set)" in line for line in ended.out.splitlines())
        (tmp_path / "opencode").write_text("#!/bin/sh\n")
        (tmp_path / "opencode").chmod(0o755)
        ended = shell("doctor", "--json", "--set", dump, PATH=str(tmp_path))
        assert ended.code == 0
        assert all(set(line) == {"check", "status", "text", "fix"} for line in json.loads(ended.out))
