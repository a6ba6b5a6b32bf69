from __future__ import annotations

import pytest

from core.extraction.prompt import build_prompt
from core.extraction.recorded import Answers, decode_answers
from core.ledger.effects import Extract
from core.ledger.observations import Candidate, ExtractionAnswered, ExtractionFailed, ExtractionStarted
from core.settings import Settings
from tests.unit.extraction.making import call, step


def job(id: str) -> Extract:
    return Extract(t=7, session="ses_root", id=id, steps=(step(1, call("xxd a.bin", "0000" * 900)),), known=())


def test_answers_are_used_in_order_and_then_there_are_none() -> None:
    answers = Answers(['[{"fact": "a1", "topic": "x:y"}]', "rate limit exceeded"], Settings())
    assert answers.extract(job("x1"))[1] == ExtractionAnswered(
        t=7, session="ses_root", id="x1", items=(Candidate(fact="a1", topic="x:y"),)
    )
    second = answers.extract(job("x2"))[1]
    assert isinstance(second, ExtractionFailed)
    assert second.error.startswith("error of the provider")
    assert answers.extract(job("x3"))[1] == ExtractionFailed(t=7, session="ses_root", id="x3", error="no answer left")


def test_the_same_prompt_is_built_as_in_a_live_run() -> None:
    settings = Settings(extraction_output_chars=500, extraction_prompt_chars=2000)
    started = Answers(["[]"], settings).extract(job("x1"))[0]
    prompt = build_prompt(job("x1").steps, (), output_chars=500, total_chars=2000)
    assert isinstance(started, ExtractionStarted)
    assert (started.t, started.id, started.prompt_chars) == (7, "x1", prompt.chars)


def test_decode_answers() -> None:
    text = '"[]"\n\n"say \\"a\\"\\n[]"\r\n"\u2028"\n'
    assert decode_answers(text) == ["[]", 'say "a"\n[]', "\u2028"]
    assert decode_answers("") == []


@pytest.mark.parametrize("line", ["no", '"open', "[" * 100_000])
def test_a_line_that_is_no_json_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"^line 2 is not a JSON string$"):
        decode_answers(f'"[]"\n{line}\n')


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ('[{"fact": "a1"}]', "an array"),
        ('{"fact": "a1"}', "an object"),
        ("7", "a number"),
        ("1.5", "a number"),
        ("true", "true or false"),
        ("null", "null"),
    ],
)
def test_a_line_of_another_kind_is_named(line: str, kind: str) -> None:
    with pytest.raises(ValueError, match=rf"^line 3 is {kind}, not a JSON string$"):
        decode_answers(f'"[]"\n\n{line}\n')
