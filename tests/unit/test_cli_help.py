"""What each command says of itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger_tui import cli, options
from ledger_tui.cli import COMMANDS
from ledger_tui.commands import history
from tests.unit.test_cli import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


APPLY = {
    **dict.fromkeys(("init", "uninit"), ("--directory",)),
    **dict.fromkeys(("demo", "replay", "watch"), ("--directory", "--set")),
    **dict.fromkeys(("config", "config list", "config get", "config set"), ("--directory", "--set")),
    "config schema": (),
    "facts": ("--directory", "--session"),
    "history": (),
    **dict.fromkeys(("history list", "history search", "history stats"), ()),
    "history show": ("--directory", "--set"),
    "history distil": ("--server", "--directory", "--password-file", "--set"),
    "doctor": ("--server", "--directory", "--password-file", "--set"),
}
"""The common flags that a command's help shows, where not all of them apply."""
ARGUMENTS = {
    "replay": ["x"],
    "config get": ["agent"],
    "config set": ["agent", "auto"],
    "history show": ["ses_a"],
    "history search": ["word"],
}


@pytest.mark.parametrize(
    "command",
    [
        (),
        *((name,) for name in COMMANDS),
        *(("config", name) for name in ("list", "get", "set", "schema")),
        *(("history", name) for name in history.ACTIONS),
    ],
    ids=" ".join,
)
def test_help(shell: Shell, command: tuple[str, ...]) -> None:
    ended = shell(*command, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"usage: {' '.join(('ledger-tui', *command))} ")
    shown = {flag for flag in options.ALL if re.search(rf"^ +{flag}\b", ended.out, re.MULTILINE)}
    assert shown == set(APPLY.get(" ".join(command), options.ALL))
    assert all(flag in shown or flag not in ended.out.partition("examples:")[0].split() for flag in options.ALL)
    if "--server" in shown:
        assert "(default: $OPENCODE_SERVER" in " ".join(ended.out.split())


@pytest.mark.parametrize("command", APPLY)
def test_flags_that_mean_nothing_are_taken_all_the_same(command: str) -> None:
    args = cli.build().parse_args([*command.split(), *ARGUMENTS.get(command, ()), "--server", "4096", "--latest"])
    assert args.server == "4096"


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_has_examples(shell: Shell, command: tuple[str, ...]) -> None:
    assert "examples:\n" in shell(*command, "--help").out
