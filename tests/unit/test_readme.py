"""The README tells what the program does."""

from __future__ import annotations

import re

from tests.readme import README, rendered


def test_tables_are_those_of_the_program() -> None:
    text = README.read_text()
    assert text == rendered(text), "run `make readme`"


def test_pictures_and_links_are_there() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text())
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []
