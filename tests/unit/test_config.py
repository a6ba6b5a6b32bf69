from __future__ import annotations

import math
import stat
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from core import config, paths
from core.errors import FileError, LedgerError, UsageError


class Places(SimpleNamespace):
    """A user's file and a project, both empty; `load` reads them and nothing of the real machine."""

    project: Path
    user_file: Path
    project_file: Path

    def load(self, *sets: str, environ: Mapping[str, str] | None = None) -> config.Config:
        return config.load(directory=self.project, sets=sets, environ=environ or {})

    def write(self, file: Path, text: str | bytes) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setenv("LEDGER_HOME", str(tmp_path / "ledger"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    return Places(
        project=project,
        user_file=tmp_path / "ledger" / "config" / "config.toml",
        project_file=project / ".opencode" / "ledger.toml",
    )


def refusal(kind: type[LedgerError], places: Places, *sets: str, environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(kind) as caught:
        places.load(*sets, environ=environ)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_each_source_beats_the_next_one(places: Places) -> None:
    def in_force(*sets: str, environ: Mapping[str, str] | None = None) -> tuple[object, str, str]:
        value = places.load(*sets, environ=environ).value("max_findings")
        return value.value, value.source, value.where

    assert in_force() == (50, "default", "")
    places.write(places.user_file, "max_findings = 40\n")
    assert in_force() == (40, "user", str(places.user_file))
    places.write(places.project_file, "maxFindings = 30\n")
    assert in_force() == (30, "project", str(places.project_file))
    environ = {"LEDGER_MAX_FINDINGS": "20"}
    assert in_force(environ=environ) == (20, "environment", "LEDGER_MAX_FINDINGS")
    assert in_force("max_findings=9", "maxFindings=10", environ=environ) == (10, "flag", "--set")


def test_every_setting_has_a_value_and_an_origin(places: Places) -> None:
    loaded = places.load("ascii=true")
    assert [value.key for value in loaded.values][:2] == ["extraction_interval_steps", "max_findings_per_topic"]
    assert {value.key for value in loaded.values if value.source != "default"} == {"ascii"}


def test_given_settings_can_be_told_from_defaults(places: Places) -> None:
    assert places.load("dump_path=x.json").settings.model_fields_set == {"dump_path"}


@pytest.mark.parametrize("key", ["extractionIntervalSteps", "extraction-interval-steps", "EXTRACTION_INTERVAL_STEPS"])
def test_spellings(places: Places, key: str) -> None:
    assert places.load(f"{key}=3").settings.extraction_interval_steps == 3
    assert places.load(environ={f"LEDGER_{key}": "3"}).settings.extraction_interval_steps == 3


def test_lists_and_infinity_in_every_source(places: Places) -> None:
    places.write(places.user_file, 'escalationInjections = inf\ninjectable_extensions = [".parquet"]\n')
    loaded = places.load(environ={"LEDGER_INJECTION_TOOLS": '["bash", "run"]'}).settings
    assert loaded.escalation_injections == math.inf
    assert loaded.injectable_extensions == ("parquet",)
    assert loaded.injection_tools == ("bash", "run")
    assert places.load("injectable_extensions=").settings.injectable_extensions == ()


def test_keys_are_merged_action_by_action(places: Places) -> None:
    places.write(places.user_file, '[keys]\npin = "P"\nundo = ["u", "U"]\n')
    loaded = places.load("keys.pin=ctrl+p", environ={"LEDGER_KEYS": '{"zoom": "Z"}'})
    assert loaded.settings.keys == {"pin": "ctrl+p", "undo": "u,U", "zoom": "Z"}
    assert loaded.value("keys.pin").where == "--set"
    assert loaded.value("keys.undo").where == str(places.user_file)
    assert loaded.value("keys").value == loaded.settings.keys


def test_unknown_key_names_its_place_and_the_nearest(places: Places) -> None:
    assert "--set: unknown setting 'max_finding'. Did you mean max_findings?" in refusal(
        UsageError, places, "max_finding=3"
    )
    places.write(places.project_file, "thema = 'x'\n")
    message = refusal(UsageError, places)
    assert message.startswith(f"{places.project_file}: unknown setting 'thema'. Did you mean theme?")


def test_a_variable_that_names_no_setting_is_ignored_with_a_warning(places: Places) -> None:
    loaded = places.load(environ={"LEDGER_EXTRACTION_INTERVALL_STEPS": "3", "LEDGER_ASCII": "true", "LEDGER_FILE": "x"})
    assert loaded.settings.extraction_interval_steps == 15
    assert loaded.settings.ascii
    (warning,) = loaded.warnings
    assert "LEDGER_EXTRACTION_INTERVALL_STEPS" in warning and "it is ignored" in warning
    assert "Did you mean extraction_interval_steps?" in warning
    assert places.load().warnings == ()


@pytest.mark.parametrize("variable", ["LEDGER_FILE", "LEDGER_HOME", "LEDGER_DEBUG", "LEDGER_PRICE_DB", "OTHER"])
def test_variables_that_are_not_ours_are_left_alone(places: Places, variable: str) -> None:
    assert places.load(environ={variable: "x"}).settings == places.load().settings


def test_wrong_value_names_place_key_and_value(places: Places) -> None:
    message = refusal(UsageError, places, "max_findings=many")
    assert message.startswith("--set: max_findings should be")
    assert "'many'" in message
    assert "Default: 50." in message
    places.write(places.user_file, "[keys]\npin = 3\n")
    assert refusal(UsageError, places).startswith(f"{places.user_file}: keys.pin should be")


def test_flag_without_a_value(places: Places) -> None:
    assert "--set key=value" in refusal(UsageError, places, "ascii")


def test_two_spellings_in_one_file(places: Places) -> None:
    places.write(places.user_file, "max_findings = 3\nmaxFindings = 4\n")
    assert "given twice" in refusal(UsageError, places)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ascii = true\ntheme =\n", 2),
        ('a = """\n\n', 3),
        (b"ascii = true\n\ntheme = '\xff'\n", 3),
        ("x = " + "[" * 5000, None),
    ],
)
def test_broken_file_names_itself_and_the_line(places: Places, text: str | bytes, line: int | None) -> None:
    places.write(places.project_file, text)
    message = refusal(FileError, places)
    assert message.startswith(str(places.project_file))
    assert line is None or f", line {line}: " in message


def test_folder_or_device_in_the_place_of_the_file(places: Places) -> None:
    places.user_file.mkdir(parents=True)
    assert "not a regular file" in refusal(FileError, places)


def test_huge_file_is_refused(places: Places) -> None:
    places.write(places.user_file, "#" * 1_100_000)
    assert "larger than 1 MiB" in refusal(FileError, places)


def test_byte_order_mark_is_no_fault(places: Places) -> None:
    places.write(places.user_file, b"\xef\xbb\xbfmax_findings = 3\r\n")
    assert places.load().settings.max_findings == 3


@pytest.mark.parametrize("path", ["/etc/ledger.json", "~/.bashrc", "../other/facts.json"])
def test_project_may_not_send_the_dump_elsewhere(
    places: Places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: str
) -> None:
    monkeypatch.setattr("core.config.TEMPORARY", (tmp_path / "temporary",))
    places.write(places.project_file, f'dump_path = "{path}"\n')
    assert "leads out of the project" in refusal(UsageError, places)


def test_dump_path_of_a_project_is_meant_from_its_folder(places: Places) -> None:
    places.write(places.project_file, 'dump_path = "out/facts.json"\n')
    assert places.load().settings.dump_path == places.project / "out" / "facts.json"


class TestProjectFile:
    def test_is_found_from_a_folder_below(self, places: Places) -> None:
        places.write(places.project_file, "")
        below = places.project / "a" / "b"
        below.mkdir(parents=True)
        assert paths.project_config_file(below) == places.project_file

    def test_is_not_looked_for_beyond_the_worktree(self, places: Places) -> None:
        inner = places.project / "vendor" / "inner"
        (inner / ".git").mkdir(parents=True)
        places.write(places.project_file, "")
        assert paths.project_config_file(inner) == inner / ".opencode" / "ledger.toml"

    def test_outside_of_a_worktree_is_in_the_folder_itself(self, tmp_path: Path) -> None:
        folder = tmp_path / "plain"
        folder.mkdir()
        assert paths.project_config_file(folder) == folder / ".opencode" / "ledger.toml"


class TestAssign:
    def test_creates_the_users_file(self, places: Places) -> None:
        written = config.assign("maxFindings", "7", directory=places.project)
        assert written == places.user_file
        assert places.user_file.read_text() == "max_findings = 7\n"
        assert stat.S_IMODE(places.user_file.stat().st_mode) == 0o600

    def test_keeps_comments_spelling_and_order(self, places: Places) -> None:
        before = "# mine\nmaxFindings = 3  # few\n\n[keys]  # bindings\npin = 'P' # capital\n"
        places.write(places.user_file, before)
        config.assign("max_findings", "4", directory=places.project)
        config.assign("keys.undo", "U", directory=places.project)
        after = before.replace("= 3", "= 4") + 'undo = "U"\n'
        assert places.user_file.read_text() == after

    def test_keeps_windows_line_ends(self, places: Places) -> None:
        places.write(places.user_file, b"# a\r\nmax_findings = 3\r\n")
        config.assign("ascii", "yes", directory=places.project)
        assert places.user_file.read_bytes() == b"# a\r\nmax_findings = 3\r\nascii = true\r\n"

    @pytest.mark.parametrize(
        ("key", "text", "line"),
        [
            ("escalation_injections", "Infinity", "escalation_injections = inf"),
            ("injectable_extensions", ".csv,parquet", 'injectable_extensions = ["csv", "parquet"]'),
            ("injectable_extensions", "", "injectable_extensions = []"),
            ("extraction_timeout_seconds", "2.5", "extraction_timeout_seconds = 2.5"),
            ("dump_path", "~/facts.json", 'dump_path = "~/facts.json"'),
        ],
    )
    def test_writes_what_load_reads_back(self, places: Places, key: str, text: str, line: str) -> None:
        config.assign(key, text, directory=places.project)
        assert places.user_file.read_text() == line + "\n"
        assert places.load().value(key).value == places.load(f"{key}={text}").value(key).value

    def test_project(self, places: Places) -> None:
        below = places.project / "src"
        below.mkdir()
        assert config.assign("theme", "light", directory=below, project=True) == places.project_file
        assert places.load().value("theme").source == "project"

    @pytest.mark.parametrize(
        ("key", "text"), [("max_findings", "0"), ("nonsense", "1"), ("keys", "{}"), ("keys.", "p")]
    )
    def test_writes_nothing_that_is_wrong(self, places: Places, key: str, text: str) -> None:
        places.write(places.user_file, "ascii = true\n")
        with pytest.raises(UsageError):
            config.assign(key, text, directory=places.project)
        assert places.user_file.read_text() == "ascii = true\n"
        assert list(places.user_file.parent.iterdir()) == [places.user_file]

    def test_mends_a_wrong_value(self, places: Places) -> None:
        places.write(places.user_file, "max_findings = 'many'\n")
        config.assign("max_findings", "5", directory=places.project)
        assert places.load().settings.max_findings == 5

    def test_does_not_touch_a_broken_file(self, places: Places) -> None:
        places.write(places.user_file, "theme =\n")
        with pytest.raises(FileError):
            config.assign("ascii", "yes", directory=places.project)
        assert places.user_file.read_text() == "theme =\n"

    def test_keeps_mode_and_link(self, places: Places, tmp_path: Path) -> None:
        target = tmp_path / "dotfiles" / "ledger.toml"
        places.write(target, "ascii = true\n")
        target.chmod(0o644)
        places.user_file.parent.mkdir(parents=True)
        places.user_file.symlink_to(target)
        config.assign("max_findings", "5", directory=places.project)
        assert places.user_file.is_symlink()
        assert target.read_text() == "ascii = true\nmax_findings = 5\n"
        assert stat.S_IMODE(target.stat().st_mode) == 0o644

    def test_project_link_that_leads_away_is_refused(self, places: Places, tmp_path: Path) -> None:
        target = tmp_path / "elsewhere"
        target.write_text("ascii = true\n")
        places.project_file.parent.mkdir()
        places.project_file.symlink_to(target)
        with pytest.raises(FileError):
            config.assign("max_findings", "5", directory=places.project, project=True)
        assert target.read_text() == "ascii = true\n"

    def test_text_that_toml_cannot_hold(self, places: Places) -> None:
        with pytest.raises(LedgerError):
            config.assign("dump_path", "/x/\udcff.json", directory=places.project)
        assert not places.user_file.exists()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (3, "3"),
        (math.inf, "inf"),
        (2.5, "2.5"),
        (120.0, "120"),
        (("a", "b"), "a,b"),
        (Path("/x"), "/x"),
    ],
)
def test_values_as_text(value: object, text: str) -> None:
    assert config.shown(value) == text
