"""Versions that programs tell."""

from __future__ import annotations

import pytest

from tests.unit.ledger.rules.builders import facts, found


@pytest.mark.parametrize(
    ("command", "output", "version"),
    [
        ("rustc --version", "rustc 1.82.0 (f6e511eec 2024-10-15)", "rustc is version 1.82.0"),
        ("clang --version", "Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64", "clang is version 18.1.3"),
        ("make --version", "GNU Make 4.3\nBuilt for x86_64", "make is version 4.3"),
        ("jq --version", "jq-1.7.1", "jq is version 1.7.1"),
        ("psql --version", "psql (PostgreSQL) 16.4 (Ubuntu 16.4-1.pgdg22.04+1)", "psql is version 16.4"),
        ("sqlite3 --version", "3.45.1 2024-01-30 16:01:20 e876e51a0ed5c5b3126f (64-bit)", "sqlite3 is version 3.45.1"),
        ("curl --version", "curl 8.5.0 (x86_64-pc-linux-gnu) libcurl/8.5.0 OpenSSL/3.0.13", "curl is version 8.5.0"),
        ("docker --version", "Docker version 27.3.1, build ce12230", "docker is version 27.3.1"),
        ("npx tsc -v", "Version 5.6.3", "tsc is version 5.6.3"),
        ("pip --version", "pip 24.0 from /usr/lib/python3/dist-packages/pip (python 3.12)", "pip is version 24.0"),
        ("cmake --version | head -1", "cmake version 3.30.5", "cmake is version 3.30.5"),
        ("ssh -V", "OpenSSH_9.6p1 Ubuntu-3ubuntu13.5, OpenSSL 3.0.13 30 Jan 2024", "ssh is version 9.6p1"),
        ("less --version", "less 590 (GNU regular expressions)", "less is version 590"),
        (".venv/bin/python -V", "Python 3.11.9", ".venv/bin/python is version 3.11.9"),
        ("uv run pytest --version", "pytest 8.3.4", "pytest is version 8.3.4"),
        ("./tool --version", "tool 2.4.0-rc.1", "./tool is version 2.4.0-rc.1"),
        (
            "ffmpeg -version",
            "ffmpeg version 6.1.1 Copyright (c) 2000-2023 FFmpeg developers",
            "ffmpeg is version 6.1.1",
        ),
        ("deno --version", "deno 2.1.4 (stable, release)\nv8 13.0\ntypescript 5.6.2", "deno is version 2.1.4"),
        ("php -v", "PHP 8.3.14 (cli) (built: Nov 21 2024 10:06:47) (NTS)", "php is version 8.3.14"),
        ("npm --version", "npm WARN config old v1.2.3\n10.9.0", "npm is version 10.9.0"),
    ],
)
def test_programs(command: str, output: str, version: str) -> None:
    told = facts(command, output)
    assert [one.partition(" (`")[0] for one in told] == ([version] if version else [])


def test_several_in_one_call() -> None:
    told = facts("node -v && npm -v; python3 --version", "v22.11.0\n10.9.0\nPython 3.12.7")
    assert [one.partition(" (`")[0] for one in told] == [
        "node is version 22.11.0",
        "npm is version 10.9.0",
        "python3 is version 3.12.7",
    ]
    assert facts("node -v && npm -v", "v22.11.0\nwarning\n10.9.0") == []


def test_in_a_container_it_says_so() -> None:
    assert facts("docker exec web node -v", "v20.1.0") == [
        "node is version 20.1.0 (`docker exec web node -v`) (in `docker exec web`)."
    ]


def test_packages() -> None:
    assert facts("pip show numpy", "Name: numpy\nVersion: 2.1.3\nSummary: x") == [
        "The Python package numpy is installed in version 2.1.3."
    ]
    [fact] = facts('python -c "import torch; print(torch.__version__)"', "2.5.1+cu121")
    assert fact.startswith("The Python package torch is installed in version 2.5.1+cu121")
    assert facts('python -c "import a; print(b.__version__)"', "2.5.1") == []
    assert facts('python -c "print(1.5)"', "1.5") == []


@pytest.mark.parametrize(
    ("command", "output", "exit"),
    [
        ("deno --version", "bash: deno: command not found", 127),
        ("npm -v", "npm ERR! v10.9.0", 1),
        ("grep -v x a", "3.12.7", 0),
        ("echo 1.2.3", "1.2.3", 0),
        ("cat VERSION", "1.2.3", 0),
        ("pytest -v", "test_1.2.3 PASSED", 0),
        ("tool --help", "--version 1.2.3", 0),
        ("tool -v", "1.2.3", 0),
        ("tool --version x", "1.2.3", 0),
        ("git log -1", "version 1.2.3", 0),
        ("man node", "v1.2.3", 0),
        ("tool --version", "error: unknown option --version (tool 1.2.3)", 0),
        ("tool --version", "listening on 10.0.0.7:80 with the tool and more words", 0),
        ("docker run x node -v", "v1.2.3", 0),
    ],
)
def test_no_version(command: str, output: str, exit: int) -> None:
    assert facts(command, output, exit) == []


def test_receipt() -> None:
    [one] = found("nvcc --version", "nvcc: NVIDIA (R)\nCuda compilation tools, release 12.4, V12.4.131")
    assert (one.topic, one.lines, one.rule) == ("version:nvcc", (2,), "versions")
