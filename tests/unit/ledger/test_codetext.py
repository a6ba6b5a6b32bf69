"""Names of files in program text."""

from __future__ import annotations

import pytest

from core.ledger.codetext import names_in_code, names_in_text
from core.ledger.names import matcher_for

MATCHER = matcher_for(frozenset({"json", "csv", "txt", "npy"}))


def code(text: str) -> list[str]:
    """Names with a leading ">" for those only written."""
    return [">" * written + name.base for _, name, written in names_in_code(text, MATCHER, ())]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("open('a.txt')", ["a.txt"]),
        ("open('a.txt', 'rb')", ["a.txt"]),
        ("open('a.txt', 'w')", [">a.txt"]),
        ("open('a.txt', mode=\"xb\")", [">a.txt"]),
        ("open('a.txt', 'wide')", ["a.txt"]),
        ("Path('a.txt').write_text(open('b.txt').read())", [">a.txt", "b.txt"]),
        ("df.to_csv('a.csv'); pd.read_csv('b.csv')", [">a.csv", "b.csv"]),
        ("np.save(f(x, (1, 2)), 'a.npy')", [">a.npy"]),
        ("json.dump(json.load(open('a.json')), open('b.json', 'w'))", ["a.json", ">b.json"]),
        ("save(load('a.json'))", ["a.json"]),
        ('fs.writeFileSync(`a.txt`, fs.readFileSync("b.txt"))', [">a.txt", "b.txt"]),
        ('read.csv("a.csv"); x.json(); cfg.json; a.txt', ["a.csv"]),
        ("# don't read a.txt\nopen('b.txt')", ["b.txt"]),
        ("// it's a.txt\nopen('b.txt')", ["b.txt"]),
        ("'''see\na.txt''' + \"\"\"b.txt\"\"\"", ["a.txt", "b.txt"]),
        ("x = 'it\\'s a.txt'", ["a.txt"]),
        ("u = 'http://h/a.json#x' # 'b.json'", ["a.json"]),
        ("open('my a.txt'); print('saw b.txt')", ["my a.txt", "b.txt"]),
        ("f'{d}/a.txt' + f'x{i}.txt' + '%s.txt' + '*.txt'", ["a.txt"]),
        ('print $1 > "a.txt"', [">a.txt"]),
        ("{'k' => 'a.txt'}", ["a.txt"]),
    ],
)
def test_names_in_string_literals(text: str, names: list[str]) -> None:
    assert code(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (".import a.csv t\n.output b.csv\n", ["a.csv", ">b.csv"]),
        ("COPY (SELECT * FROM 'a.csv') TO 'b.csv'", ["a.csv", ">b.csv"]),
        ("\\copy t from 'a.csv'", ["a.csv"]),
        ("SELECT 1 INTO OUTFILE 'a.csv'", [">a.csv"]),
    ],
)
def test_names_in_other_text(text: str, names: list[str]) -> None:
    assert [">" * written + name.base for _, name, written in names_in_text(text, MATCHER, ())] == names


def test_a_name_says_where_it_stands_and_takes_the_folder_it_is_seen_from() -> None:
    text = "open('a.txt')"
    [(at, name, _)] = names_in_code(text, MATCHER, ("web",))
    assert text[at:].startswith("a.txt")
    assert name.folders == ("web",)
