from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from core.settings import Settings


def make(**values: Any) -> Settings:
    return Settings.model_validate(values)


def test_defaults_are_those_of_the_original_plugin() -> None:
    settings = Settings()
    assert settings.extraction_interval_steps == 15
    assert (settings.max_findings_per_topic, settings.max_findings) == (5, 50)
    assert settings.injection_enabled
    assert settings.threshold == 4
    extensions = ("ckpt", "bin", "bpe", "json", "safetensors", "npy", "pt", "pth", "csv", "txt", "dat")
    assert settings.injectable_extensions == extensions
    assert settings.dump_path == Path("/tmp/opencode-ledger-facts.json")
    assert settings.model_fields_set == set()


def test_every_field_is_documented() -> None:
    assert [name for name, field in Settings.model_fields.items() if not (field.description or "").endswith(".")] == []


def test_camel_case_is_the_same_setting() -> None:
    assert make(extractionIntervalSteps=3, escalationInjections=2) == make(
        extraction_interval_steps=3, escalation_injections=2
    )


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings().max_findings = 3


def test_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        make(max_finding=3)


@pytest.mark.parametrize("value", ["inf", "Infinity", "INF", "+inf", " infinity ", math.inf])
def test_infinity_never_escalates(value: Any) -> None:
    settings = make(escalation_injections=value)
    assert settings.escalation_injections == math.inf
    assert settings.threshold == 0


@pytest.mark.parametrize(("value", "threshold"), [(0, 0), ("0", 0), (1, 1), ("7", 7), (4.0, 4)])
def test_threshold(value: Any, threshold: int) -> None:
    assert make(escalation_injections=value).threshold == threshold


@pytest.mark.parametrize(
    "value", [-1, "-1", 1.5, "1.5", math.nan, -math.inf, "-inf", True, None, [], "", "four", "1e3"]
)
def test_no_threshold(value: Any) -> None:
    with pytest.raises(ValidationError):
        make(escalation_injections=value)


@pytest.mark.parametrize(
    ("value", "extensions"),
    [
        (".csv", ("csv",)),
        ("csv, .JSON ,tar.gz", ("csv", "json", "tar.gz")),
        ('[".csv", "csv"]', ("csv",)),
        (["parquet", ".h5"], ("parquet", "h5")),
        ("", ()),
        ("[]", ()),
        ([], ()),
    ],
)
def test_extensions(value: Any, extensions: tuple[str, ...]) -> None:
    assert make(injectable_extensions=value).injectable_extensions == extensions


@pytest.mark.parametrize("value", ["*", "a/b", "..", ["a b"], [3], ["."], "[1", {"csv": 1}, None])
def test_no_extensions(value: Any) -> None:
    with pytest.raises(ValidationError):
        make(injectable_extensions=value)


@pytest.mark.parametrize(
    "values",
    [
        {"extraction_interval_steps": 0},
        {"extraction_interval_steps": True},
        {"max_findings": -5},
        {"max_findings": "many"},
        {"max_frame_mib": 0},
        {"extraction_timeout_seconds": 0},
        {"extraction_timeout_seconds": math.inf},
        {"agent": "  "},
        {"extraction_model": "gpt-5-mini"},
        {"escalation_scope": "world"},
        {"injection_enabled": "maybe"},
        {"dump_path": ""},
        {"dump_path": "a\0b"},
        {"keys": "p"},
        {"keys": {"pin": 3}},
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        make(**values)


def test_text_from_the_command_line_is_understood() -> None:
    settings = make(extraction_interval_steps="7", injection_enabled="off", extraction_model="fake/m1", ascii="yes")
    assert (settings.extraction_interval_steps, settings.injection_enabled, settings.ascii) == (7, False, True)
    assert settings.extraction_model == "fake/m1"


def test_home_in_a_path_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert make(dump_path="~/facts.json").dump_path == tmp_path / "facts.json"


def test_key_lists_become_text() -> None:
    assert make(keys={"pin": ["p", "P"], "undo": "u,ctrl+z"}).keys == {"pin": "p,P", "undo": "u,ctrl+z"}


def test_json_round_trip_keeps_infinity() -> None:
    settings = make(escalation_injections="Infinity", injectable_extensions="csv", keys={"pin": "P"})
    dumped = json.loads(settings.model_dump_json())
    assert dumped["escalation_injections"] == "inf"
    assert make(**dumped) == settings


def test_frame_size_in_bytes() -> None:
    assert make(max_frame_mib=2).max_frame_bytes == 2_097_152
