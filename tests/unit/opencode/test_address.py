from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FileError, UsageError
from core.opencode.address import Credentials, directory_query, find_credentials, parse_address


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://127.0.0.1:4096", "http://127.0.0.1:4096"),
        ("http://127.0.0.1:4096/", "http://127.0.0.1:4096"),
        ("  localhost:4096 ", "http://localhost:4096"),
        ("4096", "http://127.0.0.1:4096"),
        ("https://box.example/oc/", "https://box.example/oc"),
        ("http://[::1]:4096/?x#y", "http://[::1]:4096"),
        ("HTTP://Box:1", "http://box:1"),
    ],
)
def test_addresses_as_users_write_them(written: str, url: str) -> None:
    assert parse_address(written).url == url
    assert parse_address(written).credentials is None


@pytest.mark.parametrize(
    "written", ["", "ftp://x", "http://", "http://x:99999", "http://x:0", "0", "http://[::1", "a b", "http://x\x1b[2J"]
)
def test_what_is_no_address_is_said_in_one_line(written: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_address(written)
    assert "\x1b" not in str(raised.value)
    assert "http://127.0.0.1:4096" in raised.value.hint


def test_credentials_in_the_url_are_taken_out_of_it_and_never_shown() -> None:
    address = parse_address("http://me:p%40ss@127.0.0.1:4096")
    assert address.url == "http://127.0.0.1:4096"
    assert address.credentials == Credentials(username="me", password="p@ss")
    assert "p@ss" not in repr(address)
    with pytest.raises(UsageError) as raised:
        parse_address("http://me:secret@:80")
    assert "secret" not in str(raised.value)


def test_credentials_come_from_the_environment_or_rather_from_a_file(tmp_path: Path) -> None:
    assert find_credentials({}) is None
    assert find_credentials({"OPENCODE_SERVER_PASSWORD": ""}) is None
    assert find_credentials({"OPENCODE_SERVER_USERNAME": "bob"}) is None
    environ = {"OPENCODE_SERVER_PASSWORD": "env", "OPENCODE_SERVER_USERNAME": "bob"}
    assert find_credentials(environ) == Credentials(username="bob", password="env")
    file = tmp_path / "pw"
    file.write_bytes("pä ss\r\nmore\n".encode())
    assert find_credentials({"OPENCODE_SERVER_PASSWORD": "env"}, file) == Credentials(password="pä ss")


def test_a_bad_password_file_is_an_error_of_that_file(tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text("\n")
    binary.write_bytes(b"\xff\xfe")
    for path in (empty, binary, tmp_path, tmp_path / "missing"):
        with pytest.raises(FileError, match=str(path)):
            find_credentials({}, path)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=30))
def test_the_directory_survives_being_decoded_twice(path: str) -> None:
    query = directory_query(path)
    assert unquote(unquote(query)) == path
    assert query.isascii()
    assert not set("?&#+ ") & set(query)
    if "%" not in path:
        assert unquote(query) == path
