from __future__ import annotations

import pytest

from core.ledger.places import home_of, resolved, same_place


@pytest.mark.parametrize(
    ("text", "folder", "place"),
    [
        ("data/rows.csv", "/home/ada/proj", "/home/ada/proj/data/rows.csv"),
        ("./data/../rows.csv", "/home/ada/proj/", "/home/ada/proj/rows.csv"),
        ("../shared//v.txt", "/home/ada/proj", "/home/ada/shared/v.txt"),
        ("/var/log/a.log", "/home/ada/proj", "/var/log/a.log"),
        ("//var/log/a.log", "/p", "/var/log/a.log"),
        ("../../../../x", "/p", "/x"),
        ("~/.config/a.toml", "/home/ada/proj", "/home/ada/.config/a.toml"),
        ("$HOME/a", "/Users/ada/proj", "/Users/ada/a"),
        ("${HOME}/a", "/root/proj", "/root/a"),
        ("$PWD/a", "/p", "/p/a"),
        ("my data.csv", "/p", "/p/my data.csv"),
        ("C:\\data\\rows.csv", "C:\\proj", "C:/data/rows.csv"),
        ("data\\rows.csv", "C:\\proj", "C:/proj/data/rows.csv"),
        ("file:///etc/hosts", "/p", "/etc/hosts"),
        ("50%.csv", "/p", "/p/50%.csv"),
    ],
)
def test_a_path_leads_somewhere(text: str, folder: str, place: str) -> None:
    assert resolved(text, folder) == place


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("", "/p"),
        ("a.csv", ""),
        ("~/a", "/srv/proj"),
        ("~bob/a", "/home/ada"),
        ("$DIR/a.csv", "/p"),
        ("*.csv", "/p"),
        ("shard_{i}.bin", "/p"),
        ("part-%05d.csv", "/p"),
        ("http://host/a.csv", "/p"),
        ("s3://bucket/a.csv", "/p"),
        ("a\0b", "/p"),
        ("a" * 5_000, "/p"),
    ],
)
def test_what_cannot_be_known_leads_nowhere(text: str, folder: str) -> None:
    assert resolved(text, folder) == ""


def test_the_home_folder_can_be_told() -> None:
    assert resolved("~/a", "/srv/proj", "/data/ada") == "/data/ada/a"


def test_home_folders_are_known_by_their_names() -> None:
    assert [home_of(folder) for folder in ("/home/ada", "/home/ada/x", "/root/x", "/rooted", "/homes/x")] == [
        "/home/ada",
        "/home/ada",
        "/root",
        "",
        "",
    ]


def test_unicode_forms_of_a_name_are_one_place() -> None:
    assert same_place("/p/U\u0308.md") == same_place("/p/\u00dc.md") != same_place("/p/u.md")
