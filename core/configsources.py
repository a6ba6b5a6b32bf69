"""The sources of settings, each turned into the same list of values not validated yet."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from core import configfile
from core.errors import UsageError
from core.settings import Settings

ENV_PREFIX = "LEDGER_"

NOT_SETTINGS = frozenset({"HOME", "DEBUG", "ENDPOINT_KEY", "OPENCODE_BIN"})
"""Variables with our prefix that are read elsewhere (the last one by the tests)."""

OTHER_PROGRAMS = frozenset({"FILE", "INIT", "INIT_FILE", "PRICE_DB", "PRICE_EXP", "PAGER", "DATE_FORMAT", "COLUMNS"})
"""Variables with the same prefix that the accounting programs ledger and hledger read; not ours to complain about."""

Source = Literal["flag", "environment", "project", "user", "default"]


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A value as a source gave it, not validated yet. `key` is a setting's name or `keys.ACTION`."""

    key: str
    raw: Any
    source: Source
    where: str
    base: Path | None = None
    """The project's folder, for a value of the project's file."""


def file_values(path: Path, source: Literal["user", "project"]) -> list[Given]:
    """The values of a configuration file; none when there is no such file.

    Raises:
        UsageError: an unknown key, or one given twice in two spellings.
        FileError: the file cannot be read or is not TOML.
    """
    base = path.parent.parent if source == "project" else None
    return _named(configfile.read(path).items(), source, str(path), base)


def environment(environ: Mapping[str, str]) -> Iterable[Given]:
    """The values of all `LEDGER_<KEY>` variables that name a setting; see :func:`strange`."""
    for variable, raw in sorted(environ.items()):
        key = variable.removeprefix(ENV_PREFIX)
        if key == variable or key in NOT_SETTINGS or key in OTHER_PROGRAMS:
            continue
        if (name := resolve(key)) is not None:
            yield from _entries(Given(key=name, raw=raw, source="environment", where=variable))


def strange(environ: Mapping[str, str]) -> Iterable[str]:
    """A sentence for each variable with our prefix that names no setting: it may be another program's, or misspelt."""
    for variable in sorted(environ):
        key = variable.removeprefix(ENV_PREFIX)
        if key not in {variable} | NOT_SETTINGS | OTHER_PROGRAMS and resolve(key) is None:
            error = unknown(key.lower(), f"environment variable {variable}")
            yield f"{error.message}: it is ignored. {error.hint}"


def flags(arguments: Iterable[str]) -> Iterable[Given]:
    """The values of `--set`, in order.

    Raises:
        UsageError: an argument without `=`, or for no setting.
    """
    for argument in arguments:
        key, equals, raw = argument.partition("=")
        if not equals:
            raise UsageError(f"--set {argument}: no value given", "Write --set key=value.")
        name = resolve(key.strip())
        if name is None:
            raise unknown(key.strip(), "--set")
        yield from _entries(Given(key=name, raw=raw, source="flag", where="--set"))


def resolve(key: str) -> str | None:
    """The setting's own name for any accepted spelling of it; None when there is no such setting."""
    table, dot, action = key.partition(".")
    name = _SPELLINGS.get(_squashed(table))
    if not dot:
        return name
    return f"keys.{action}" if name == "keys" and action else None


def unknown(key: str, where: str, known: Iterable[str] = ()) -> UsageError:
    """The error for a key that is no setting; it names the nearest one that is."""
    names = [*Settings.model_fields, *known]
    nearest = difflib.get_close_matches(key.lower(), names, n=1, cutoff=0.0)
    place = f"{where}: " if where else ""
    hint = f"Did you mean {nearest[0]}? `ledger-tui config list` shows all." if nearest else ""
    return UsageError(f"{place}unknown setting {key!r}", hint)


def brief(raw: Any) -> str:
    """A value as an error message shows it."""
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _named(items: Iterable[tuple[str, Any]], source: Source, where: str, base: Path | None = None) -> list[Given]:
    given: dict[str, list[Given]] = {}
    for key, raw in items:
        name = resolve(key)
        if name is None:
            raise unknown(key, where)
        if name in given:
            raise UsageError(f"{where}: {name} is given twice", "Keep one of the two spellings.")
        given[name] = _entries(Given(key=name, raw=raw, source=source, where=where, base=base))
    return list(itertools.chain.from_iterable(given.values()))


def _entries(item: Given) -> list[Given]:
    """The table of keys as one value per action; any other value as it is."""
    if item.key != "keys":
        return [item]
    table = item.raw
    if isinstance(table, str):
        with contextlib.suppress(ValueError):
            table = json.loads(table)
    if not isinstance(table, dict):
        raise UsageError(f"{item.where}: keys is a table; it is {brief(item.raw)}", "Write for example keys.pin = 'V'.")
    return [msgspec.structs.replace(item, key=f"keys.{action}", raw=keys) for action, keys in table.items()]


def _squashed(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


_SPELLINGS = {_squashed(name): name for name in Settings.model_fields}
