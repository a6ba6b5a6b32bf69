from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

IMPORT_ALL = """
import importlib, pkgutil, sys, core
for module in pkgutil.walk_packages(core.__path__, "core."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


def sources(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(found) >= len(folders)
    return found


def python(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120).stdout


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_core_does_without_textual() -> None:
    assert (
        python(IMPORT_ALL + "print(sorted(n for n in sys.modules if n.split('.')[0] in ('textual', 'ledger_tui')))")
        == "[]\n"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["headless", "--help"], ["--bogus"]])
def test_simple_answers_load_nothing_heavy(arguments: list[str]) -> None:
    heavy = {"textual", "rich", "httpx", "pydantic", "sqlite3", "watchfiles", "asyncio", "msgspec"}
    program = (
        f"import sys; from ledger_tui.cli import main; main({arguments}); print(sorted({heavy} & set(sys.modules)))"
    )
    assert python(program).splitlines()[-1] == "[]"


def test_files_are_short() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources("core", "ledger_tui", "tests")
        if (lines := len(path.read_text().splitlines())) > MAX_FILE_LINES
    }
    assert long == {}


def test_functions_are_short() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{function.name}": lines
        for path in sources("core", "ledger_tui", "tests")
        for function in functions(path)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long == {}


def test_nothing_prints_but_the_command_line() -> None:
    printing = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources("core", "ledger_tui")
        if path.name != "cli.py" and "commands" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []
