from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import stale
from tests.corpus.cases import StaleCase
from tests.corpus.load import load_as


@pytest.mark.parametrize("case", load_as(StaleCase), ids=lambda case: case.id)
def test_the_label_of_each_open_case_is_found(case: StaleCase) -> None:
    assert stale.judge(case) == case.label, f"{case.why}; about {stale.files(case)}"


async def test_the_same_is_found_with_files_on_disk(tmp_path: Path) -> None:
    cases = load_as(StaleCase)
    found = await stale.judge_on_disk(cases, tmp_path)
    assert {case.id: found[case.id] for case in cases} == {case.id: case.label for case in cases}
