"""Which program ran the tests or the compiler, also behind npm, make and the like."""

from __future__ import annotations

import re
from typing import Final, Literal

from core.ledger.rules.shown import UNKNOWN, Shown

Runner = Literal["pytest", "unittest", "jest", "go", "cargo", "any", ""]

_JS: Final = re.compile(r"jest|vitest|react-scripts|mocha")
_RUNNERS: Final[dict[str, Runner]] = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "jest": "jest",
    "vitest": "jest",
    "mocha": "jest",
    "react-scripts": "jest",
}
_OWN_TESTS: Final[dict[tuple[str, str], Runner]] = {
    ("go", "test"): "go",
    ("cargo", "test"): "cargo",
    ("cargo", "t"): "cargo",
    ("cargo", "nextest"): "cargo",
}
_SCRIPTED: Final = frozenset({"npm", "yarn", "pnpm", "bun"})
_MAKES: Final = frozenset({"make", "gmake", "just", "task", "tox", "nox", "hatch", "nx", "turbo", "rake"})
_TESTS: Final = re.compile(r"(?:.*[-_:./])?(?:tests?|check|t|unit|e2e|spec)(?:[-_:./].*)?", re.IGNORECASE)
_TEST_SCRIPT: Final = re.compile(r"(?:.*[-_])?tests?(?:[-_].*)?(?:\.sh)?", re.IGNORECASE)
_ASKING: Final = frozenset({"--help", "-h", "--version", "--collect-only", "--co", "--no-run", "--list", "--dry-run"})

_COMPILER: Final = re.compile(
    r"(?:[\w.]+-)*(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(?:-[\d.]+)?|cl|rustc|tsc|vue-tsc|javac|kotlinc|swiftc|nvcc|zig|ghc"
    r"|ninja|make|gmake|mvn|mvnw|gradle|gradlew|msbuild|bazel|meson|scons|xcodebuild|mypy|emcc|wasm-pack|maturin|trunk"
)
_BUILDERS: Final = {
    "cargo": re.compile(r"build|check|c|b|clippy|test|t|run|r|doc|install|bench|rustc|nextest"),
    "go": re.compile(r"build|vet|run|test|install|generate"),
    "cmake": re.compile(r"--build"),
    "dotnet": re.compile(r"build|run|test|publish|msbuild"),
    "swift": re.compile(r"build|run|test"),
    "python": re.compile(r"setup\.py"),
}
_BUILDS: Final = re.compile(
    r"(?:.*[-_:])?(?:build|compile|types?|typecheck|type-check|check|tsc|lint|test|dev|start)(?:[-_:].*)?",
    re.IGNORECASE,
)


def test_runner(shown: Shown) -> Runner:
    """Whose report a command prints; `any`: one that its project chose; empty: no tests are run."""
    name, words = shown.program, [arg for arg in shown.args if not arg.startswith("-")]
    if _ASKING & set(shown.args):
        return ""
    if known := _RUNNERS.get(name):
        return known
    if name in {"go", "cargo"}:
        return _OWN_TESTS.get((name, words[0] if words else ""), "")
    if name in _SCRIPTED:
        runs = any(_TESTS.fullmatch(word) or _JS.fullmatch(word) for word in words[:2])
    elif name in _MAKES:
        runs = name in {"tox", "nox"} or any(map(_TESTS.fullmatch, words))
    else:
        runs = _TEST_SCRIPT.fullmatch(_script(shown)) is not None
    return "any" if runs else ""


def _script(shown: Shown) -> str:
    """The base name of a script that is run; of a shell, the one it is given."""
    if shown.program in {"bash", "sh", "zsh"} and len(shown.args) == 1:
        return shown.args[0].rpartition("/")[2]
    return shown.program if "/" in shown.word else ""


def runs_compiler(shown: Shown) -> bool:
    """Whether the command's output is a compiler's."""
    name = shown.program
    if set(shown.args) & {"--help", "--version", "--explain", "-h"} or any(
        arg.startswith("--explain") for arg in shown.args
    ):
        return False
    if builder := _BUILDERS.get(name):
        return any(map(builder.fullmatch, [arg for arg in shown.args if not arg.startswith("+")][:2]))
    if name in _SCRIPTED:
        words = [arg for arg in shown.args if not arg.startswith(("-", UNKNOWN))]
        return any(map(_BUILDS.fullmatch, words[:2]))
    if name in _MAKES:
        return True
    return _COMPILER.fullmatch(name) is not None
