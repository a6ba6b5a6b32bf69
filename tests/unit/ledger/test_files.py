from __future__ import annotations

from typing import Any

import pytest

from core.ledger.files import MAX_FILES, files_of, is_about, written_by
from core.ledger.observations import ToolFinished
from core.ledger.steps import Call

HERE = "/home/ada/proj"


def bash(command: str) -> Call:
    return Call(
        call="c", tool="bash", ok=True, summary=command, command=command, path="", output="", exit=0, ended=1, ms=1
    )


def read(path: str) -> Call:
    return Call(
        call="c", tool="read", ok=True, summary=path, command="", path=path, output="", exit=None, ended=1, ms=1
    )


def done(tool: str = "bash", **more: Any) -> ToolFinished:
    fields = {"t": 1, "session": "s", "message": "m", "part": "p", "call": "c", "ok": True, "summary": ""}
    return ToolFinished(tool=tool, **{**fields, **more})


def about(topic: str, *commands: str, fact: str = "") -> list[str]:
    found = files_of(topic, [bash(command) for command in commands], HERE, fact=fact)
    assert all(path.startswith("/") for path in found)
    return [path.removeprefix(HERE + "/") for path in found]


@pytest.mark.parametrize(
    ("topic", "command", "files"),
    [
        ("file-format:a.bin", "cd sub && xxd a.bin", ["sub/a.bin"]),
        ("file-format:a.bin", "(cd sub; xxd b.bin); xxd a.bin", ["a.bin"]),
        ("file-format:sub/a.bin", "cd sub && xxd a.bin", ["sub/a.bin"]),
        ("file-format:a.bin", "cd $SOMEWHERE && xxd a.bin", []),
        ("file:api/package.json", "cat web/package.json api/package.json", ["api/package.json"]),
        ("file:package.json", "cat web/package.json api/package.json", ["web/package.json", "api/package.json"]),
        ("file:rows.json", "wc -l rows.jsonl rows.json", ["rows.json"]),
        ("file:my data.csv", "head -1 'my data.csv'; head -1 data.csv", ["my data.csv"]),
        ("file:my data.csv", "head -1 my\\ data.csv", ["my data.csv"]),
        ("build:Makefile", "grep -n '^bench' Makefile", ["Makefile"]),
        ("env:.env", "cat .env", [".env"]),
        ("env:.env", "cat config.env", [".env"]),
        ("config:a.toml", "cat ~/.config/a.toml", ["/home/ada/.config/a.toml"]),
        ("config:a.toml", 'cat "$HOME/a.toml"', ["/home/ada/a.toml"]),
        ("log:app.log", "tail -5 /var/log/app.log", ["/var/log/app.log"]),
        ("weights:m.ckpt:layer 3", "python3 -c \"open('w/m.ckpt','rb').read(4)\"", ["w/m.ckpt"]),
        ("weights:m.ckpt", "python3 - <<'EOF'\nimport numpy as np\nnp.load('w/m.ckpt')\nEOF", ["w/m.ckpt"]),
        ("weights:m.ckpt", "F=w/m.ckpt; xxd $F", ["w/m.ckpt"]),
        ("weights:m2.ckpt", "for f in m1.ckpt m2.ckpt; do xxd $f; done", ["m2.ckpt"]),
        ("weights:m.ckpt", "bash -c 'xxd w/m.ckpt | head'", ["w/m.ckpt"]),
        ("file:rows.csv", "wc -l data/*.csv", ["data/rows.csv"]),
        ("file:rows.csv", "sort < data/rows.csv | uniq -c", ["data/rows.csv"]),
        ("file:out.txt", "python gen.py > out.txt; cat out.txt", ["out.txt"]),
        ("file:rows.csv", "git -C ../other show HEAD:data/rows.csv", ["/home/ada/other/data/rows.csv"]),
    ],
)
def test_files_that_the_topic_names(topic: str, command: str, files: list[str]) -> None:
    assert about(topic, command) == files


def test_windows_paths_are_read() -> None:
    assert files_of("file:rows.csv", [bash("wc -l data\\rows.csv")], "C:\\proj") == ("C:/proj/data/rows.csv",)
    assert files_of("file:D:\\x\\rows.csv", [bash("type D:\\x\\rows.csv")], "C:\\proj") == ("D:/x/rows.csv",)


def test_files_that_only_the_fact_names_count_too() -> None:
    assert about("diff:a.csv", "diff a.csv b.csv", fact="a.csv and b.csv differ") == ["a.csv", "b.csv"]
    assert about("diff:a.csv", "diff a.csv b.csv") == ["a.csv"]


def test_the_path_of_a_file_tool_counts() -> None:
    assert files_of("docs:README.md", [read("README.md")], HERE) == (HERE + "/README.md",)


def test_a_topic_without_names_is_about_the_few_files_read() -> None:
    assert about("tokenizer", "head -3 vocab.bpe", "wc -l vocab.bpe") == ["vocab.bpe"]
    assert about("project", "cat a.c b.c c.c d.c") == []


def test_a_finding_without_calls_is_about_what_its_topic_names() -> None:
    assert about("config:config.json") == ["config.json"]
    assert about("config:web/Dockerfile") == ["web/Dockerfile"]


@pytest.mark.parametrize(
    ("topic", "command"),
    [
        ("api:/health", "curl -si http://127.0.0.1:7071/health"),
        ("version:node", "node -v"),
        ("port:7071", "ss -ltnp"),
        ("git:HEAD", "git log --oneline -1"),
        ("host:remote", "ssh box 'cat /etc/hosts'"),
        ("container:app", "docker exec app cat /etc/app.conf"),
        ("text:hint", "echo see a.csv"),
    ],
)
def test_a_fact_about_something_else_is_about_no_file(topic: str, command: str) -> None:
    assert about(topic, command) == []


def test_a_finding_is_about_few_files() -> None:
    names = [f"part{n}.csv" for n in range(2 * MAX_FILES)]
    assert len(about("files:" + ", ".join(names), "cat " + " ".join(names))) == MAX_FILES


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("python gen.py > data/rows.csv", ["data/rows.csv"]),
        ("echo x >> a; echo y >| b; cmd &> c 2>&1", ["a", "b", "c"]),
        ("cmd 2>/dev/null >&2", []),
        ("python gen.py | tee -a a.csv b.csv", ["a.csv", "b.csv"]),
        ("sed -i 's/;/,/g' a.csv b.csv", ["a.csv", "b.csv"]),
        ("sed -i.bak -e 's/;/,/g' a.csv", ["a.csv"]),
        ("sed 's/;/,/g' a.csv", []),
        ("perl -pi -e 's/a/b/' a.txt", ["a.txt"]),
        ("mv a.csv old.csv", ["a.csv", "old.csv", "old.csv/a.csv"]),
        ("cp x/a.csv data", ["data", "data/a.csv"]),
        ("cp -t data x/a.csv", ["data", "data/a.csv"]),
        ("rm -f a.csv data/b.csv", ["a.csv", "data/b.csv"]),
        ("truncate -s 0 a.csv", ["a.csv"]),
        ("printf x | dd of=a.bin conv=notrunc", ["a.bin"]),
        ("git checkout v1.2 -- a.csv b.csv", ["a.csv", "b.csv"]),
        ("git restore --source HEAD~1 a.csv", ["a.csv"]),
        ("git restore --staged a.csv", []),
        ("git mv a.csv b.csv", ["a.csv", "b.csv", "b.csv/a.csv"]),
        ("git add a.csv && git commit -m x", []),
        ("curl -sLo a.bin https://host/b.bin", ["a.bin"]),
        ("wget -O a.bin https://host/b.bin", ["a.bin"]),
        ("python train.py --out runs/m.ckpt", ["runs/m.ckpt"]),
        ("python train.py --output=runs/m.ckpt", ["runs/m.ckpt"]),
        ("sort -o a.csv a.csv", ["a.csv"]),
        ("xxd -r dump.hex a.bin", ["a.bin"]),
        ("gunzip a.csv.gz", ["a.csv.gz", "a.csv", "a.csv.gz.gz"]),
        ("gzip -k a.csv", []),
        ("sqlite3 app.db 'delete from t'", ["app.db"]),
        ("sqlite3 app.db 'select 1'", []),
        ("black src/a.py", ["src/a.py"]),
        ("ruff format src/a.py", ["src/a.py"]),
        ("ruff check src/a.py", []),
        ("cd sub && echo x > a.txt", ["sub/a.txt"]),
        ("(cd sub && rm a.txt); rm b.txt", ["sub/a.txt", "b.txt"]),
        ("echo 'x > a.csv'", []),
        ("bash -c 'echo x > a.csv'", ["a.csv"]),
        ("ssh box 'echo x > a.csv'", []),
        ("python3 -c \"open('a.txt','w').write('x')\"", ["a.txt"]),
        ("python3 -c \"open('a.txt').read()\"", []),
        ("python3 - <<E\nfrom pathlib import Path\nPath('a.txt').write_text('x')\nE", ["a.txt"]),
        ("F=a.csv; echo x > $F", ["a.csv"]),
        ("sudo rm a.csv", ["a.csv"]),
        ("wc -l a.csv", []),
        ("make data", []),
        ("cat > a.py <<'E'\nprint(1)\nE", ["a.py"]),
    ],
)
def test_files_that_a_command_writes(command: str, files: list[str]) -> None:
    assert [path.removeprefix(HERE + "/") for path in written_by(done(command=command), HERE)] == files


@pytest.mark.parametrize("tool", ["write", "edit", "multiedit"])
def test_file_tools_write_the_file_they_name(tool: str) -> None:
    assert written_by(done(tool, path="data/a.csv"), HERE) == (HERE + "/data/a.csv",)
    assert written_by(done(tool, path="/x/a.csv"), HERE) == ("/x/a.csv",)
    assert written_by(done(tool, path="/x/a.csv", ok=False), HERE) == ()


def test_reading_writes_nothing() -> None:
    assert written_by(done("read", path="a.csv"), HERE) == written_by(done("webfetch"), HERE) == ()


def test_patches_write_the_files_they_name() -> None:
    assert written_by(done("apply_patch", patched=("a.rs", "/x/b.rs")), HERE) == (HERE + "/a.rs", "/x/b.rs")


def test_hostile_commands_are_read_in_bounded_time_and_size() -> None:
    many = " ".join(f"f{n}.csv" for n in range(5_000))
    for command in ("rm " + many, "cat '" + "a/" * 20_000, "$(" * 500, "python3 -c \"'" + "/(" * 9_000 + "'\""):
        call = done(command=command)
        assert len(written_by(call, HERE)) <= 200
        assert len(files_of("x:f1.csv", [bash(command)], HERE)) <= MAX_FILES


def test_unicode_forms_of_a_name_are_the_same_file() -> None:
    assert is_about(["/p/\u00dc.md"], "/p/U\u0308.md")
    assert not is_about(["/p/a.csv"], "/p/a.csv.bak")
