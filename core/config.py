"""Where each setting's value comes from, the strongest source first:

`--set key=value` · `LEDGER_<KEY>` in the environment · the project's `.opencode/ledger.toml` · the user's file · the
default. Keys are snake_case; camelCase is accepted in every source. A list may be a list, JSON, or items with commas
between them. The table `keys` is merged action by action.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pydantic import ValidationError

from core import configfile, paths
from core.configsources import Given, Source, brief, environment, file_values, flags, resolve, strange, unknown
from core.errors import FileError, UsageError
from core.settings import DEFAULT_DUMP_PATH, Settings

TEMPORARY = (Path(tempfile.gettempdir()), DEFAULT_DUMP_PATH.parent)
"""Folders in which a project's file may place the dump, besides the project's own."""


_REASONS = {
    "bool_parsing": "should be true or false",
    "bool_type": "should be true or false",
    "int_parsing": "should be a whole number",
    "int_type": "should be a whole number",
    "int_from_float": "should be a whole number",
    "float_parsing": "should be a number",
    "float_type": "should be a number",
    "string_pattern_mismatch": "is not written as it should be",
    "string_too_short": "should not be empty",
    "string_type": "should be text",
}
"""How a wrong value is called, by pydantic's type of error, where its own words are none for a user."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A setting in force.

    Attributes:
        key: its name; `keys.ACTION` for an entry of the table of keys.
        value: what it is, validated.
        source: which of the five sources won.
        where: that source as the user knows it: `--set`, the variable's name, the file's path; empty for a default.
    """

    key: str
    value: Any
    source: Source
    where: str = ""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The settings and where they come from."""

    settings: Settings
    values: tuple[Value, ...]
    """In the order of the settings' declaration."""
    user_file: Path
    project_file: Path
    warnings: tuple[str, ...] = ()
    """What was ignored, a sentence each."""

    def value(self, key: str) -> Value:
        """The setting of that name in any accepted spelling; `keys` is the whole table, whatever its sources.

        Raises:
            UsageError: there is none.
        """
        name = resolve(key)
        if name == "keys":
            return Value(key=name, value=self.settings.keys, source="default")
        found = next((value for value in self.values if value.key == name), None)
        if found is None:
            raise unknown(key, "", [value.key for value in self.values])
        return found


def load(
    *,
    directory: Path,
    sets: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Read all sources.

    Args:
        directory: the folder whose project configuration counts.
        sets: the arguments of `--set`, in order; of two for the same key the later wins.
        environ: the environment; that of the process when None.

    Raises:
        UsageError: an unknown key, a wrong value, a flag without `=`.
        FileError: a configuration file that cannot be read or is not TOML.
    """
    user_file = paths.user_config_file()
    project_file = paths.project_config_file(directory)
    variables = os.environ if environ is None else environ
    given = [
        *file_values(user_file, "user"),
        *file_values(project_file, "project"),
        *environment(variables),
        *flags(sets),
    ]
    in_force = {item.key: item for item in given}
    settings = validate(in_force.values())
    return Config(
        settings=settings,
        values=tuple(_values(settings, in_force)),
        user_file=user_file,
        project_file=project_file,
        warnings=tuple(strange(variables)),
    )


def validate(given: Iterable[Given]) -> Settings:
    """Settings from values of which no two have the same key.

    Raises:
        UsageError: a value that the setting does not take.
    """
    values: dict[str, Any] = {}
    origin: dict[str, Given] = {}
    for item in given:
        name, dot, action = item.key.partition(".")
        if dot:
            values.setdefault(name, {})[action] = item.raw
        else:
            values[name] = _contained(item)
        origin[item.key] = item
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"][: 2 if first["loc"][0] == "keys" else 1]))
        raise _wrong(origin[key], _REASONS.get(first["type"], first["msg"])) from error


def assign(key: str, raw: str, *, directory: Path, project: bool = False) -> Path:
    """Write one setting to the user's file, or to the project's; the rest of the file stays as it is.

    Args:
        key: the setting, in any accepted spelling, or `keys.ACTION`.
        raw: the value as text.
        directory: a folder of the project.
        project: write to the project's file.

    Returns:
        The file that was written.

    Raises:
        UsageError: an unknown key, or a value that the setting does not take; nothing is written.
        FileError: the file cannot be read, understood or written.
    """
    name = resolve(key)
    if name == "keys":
        hint = "Write for example `ledger-tui config set keys.pin V`."
        raise UsageError("config set: keys is a table, of which one action at a time is set", hint)
    if name is None:
        raise unknown(key, "config set")
    path = paths.project_config_file(directory) if project else paths.user_config_file()
    base = path.parent.parent if project else None
    if base and not path.resolve().is_relative_to(base.resolve()):
        raise FileError(f"{path} is a link that leads out of the project", "Put a file in its place.")
    others = [item for item in file_values(path, "project" if project else "user") if item.key != name]
    new = Given(key=name, raw=raw, source="flag", where="config set", base=base)
    settings = validate([*others, new])
    table, dot, action = name.partition(".")
    value = settings.keys[action] if dot else raw if name == "dump_path" else plain(getattr(settings, name))
    spelling = next((k for k in configfile.read(path) if resolve(k) == table), table)
    configfile.change(path, (spelling, action) if dot else (spelling,), value)
    return path


def plain(value: Any) -> Any:
    """A setting's value in the types of JSON and TOML; infinity stays a float."""
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def shown(value: Any) -> str:
    """A setting's value as text that `config set` takes back."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(value)
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, float):
        return "inf" if value == math.inf else f"{value:g}"
    return str(value)


def _contained(item: Given) -> Any:
    """The value, once it is known to do no harm: a project's file may come from a stranger's repository.

    A path in it is meant from the project's folder, and must lead into it or into the folder for temporary files.
    """
    if item.key != "dump_path" or item.base is None or not isinstance(item.raw, str):
        return item.raw
    path = item.base / Path(item.raw).expanduser()
    if not any(path.resolve().is_relative_to(folder.resolve()) for folder in (item.base, *TEMPORARY)):
        hint = "A project's file may not name a path elsewhere; set dump_path with `ledger-tui config set`."
        raise UsageError(f"{item.where}: dump_path {item.raw!r} leads out of the project", hint)
    return path


def _wrong(item: Given, message: str) -> UsageError:
    reason = message.removeprefix("Value error, ").replace("Input should", "should").replace("String should", "should")
    field = Settings.model_fields[item.key.partition(".")[0]]
    hint = field.description or ""
    if "." not in item.key:
        hint += f" Default: {shown(field.default) or 'empty'}."
    return UsageError(f"{item.where}: {item.key} {reason}; it is {brief(item.raw)}", hint)


def _values(settings: Settings, in_force: Mapping[str, Given]) -> Iterable[Value]:
    for name in Settings.model_fields:
        value = getattr(settings, name)
        entries = {f"keys.{action}": keys for action, keys in value.items()} if name == "keys" else {name: value}
        for key, entry in entries.items():
            item = in_force.get(key)
            if item is None:
                yield Value(key=key, value=entry, source="default")
            else:
                yield Value(key=key, value=entry, source=item.source, where=item.where)
