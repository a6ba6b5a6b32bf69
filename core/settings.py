"""The settings: one frozen model; each field's description is its documentation.

Where a value comes from (flag, environment, file) is the business of :mod:`core.config`. Names are snake_case;
camelCase is accepted for each of them.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic.alias_generators import to_camel

DEFAULT_EXTENSIONS = ("ckpt", "bin", "bpe", "json", "safetensors", "npy", "pt", "pth", "csv", "txt", "dat")
"""Extensions of the original plugin."""

DEFAULT_DUMP_PATH = Path("/tmp/opencode-ledger-facts.json")  # noqa: S108 - the path other tools read; mode 0600, no symlinks
"""Dump file of the original plugin."""

_EXTENSION = re.compile(r"[^\s./\\,*?\"'\[\]{}]+(?:\.[^\s./\\,*?\"'\[\]{}]+)*")
_INFINITE = {"inf", "+inf", "infinity", "+infinity"}


def _listed(value: Any) -> Any:
    """A list written as text: JSON, or items with commas between them."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text.startswith("["):
        return [item.strip() for item in text.split(",") if item.strip()]
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError("should be a JSON list or items with commas between them") from error


def _extensions(value: Any) -> Any:
    """Extensions in lower case, without their leading dot, each once."""
    value = _listed(value)
    if not isinstance(value, list | tuple):
        raise ValueError("should be a list of file extensions")  # noqa: TRY004 - pydantic reports ValueError only
    return tuple(dict.fromkeys(_extension(item) for item in value))


def _extension(item: Any) -> str:
    if isinstance(item, str):
        name = item.strip().removeprefix(".").lower()
        if _EXTENSION.fullmatch(name):
            return name
    raise ValueError(f"{item!r} is not a file extension; write for example csv")


def _escalation(value: Any) -> int | float:
    """A whole number of touches from 0 up, or infinity."""
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _INFINITE:
            return math.inf
        if re.fullmatch(r"\+?[0-9]{1,9}", text):
            return int(text)
    elif isinstance(value, float) and value == math.inf:
        return math.inf
    elif isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value == int(value):
        return int(value)
    raise ValueError("should be a whole number from 0 up, or inf")


def _path(value: Any) -> Any:
    if isinstance(value, str):
        if not value.strip() or "\0" in value:
            raise ValueError("should be the path of a file")
        return Path(value).expanduser()
    return value


def _key_lists(value: Any) -> Any:
    """Key lists may be written as lists; kept as text with commas."""
    if not isinstance(value, dict):
        return value
    return {str(action): ",".join(map(str, keys)) if isinstance(keys, list) else keys for action, keys in value.items()}


def _number(value: Any) -> Any:
    """Truth values are no numbers, though Python counts with them."""
    if isinstance(value, bool):
        raise ValueError("should be a number")  # noqa: TRY004 - pydantic reports ValueError only
    return value


Whole = Annotated[int, BeforeValidator(_number)]
Seconds = Annotated[float, BeforeValidator(_number)]
Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Extensions = Annotated[tuple[str, ...], BeforeValidator(_extensions)]
Escalation = Annotated[
    int | float,
    PlainValidator(_escalation),
    PlainSerializer(lambda value: "inf" if value == math.inf else value, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"enum": ["inf", "Infinity"]}]}),
]
FilePath = Annotated[Path, BeforeValidator(_path)]
KeyTable = Annotated[dict[str, str], BeforeValidator(_key_lists)]
Count = Annotated[Whole, Field(ge=1, le=10**9)]
Chars = Annotated[Whole, Field(ge=0, le=10_000_000)]


class Settings(BaseModel):
    """All settings of one run; `model_fields_set` tells which were given and are not defaults."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
        str_strip_whitespace=True,
    )

    extraction_interval_steps: Count = Field(
        default=15,
        description="Extract facts after this many completed steps of the root session and its sub-agents.",
    )
    max_findings_per_topic: Count = Field(
        default=5,
        description="Findings kept per topic; the oldest one that is not pinned goes first.",
    )
    max_findings: Count = Field(
        default=50,
        description="Findings kept in all; the oldest one that is not pinned goes first.",
    )
    injection_enabled: bool = Field(
        default=True,
        description="Put notes in front of the agent. false: watch and record only, touches are counted all the same.",
    )
    agent: str = Field(
        default="auto",
        min_length=1,
        description="Agent that extracts. auto: the first that is there of ledger-extractor, momus, general, build.",
    )
    extraction_model: str = Field(
        default="",
        pattern=r"^(?:[^/\s]+/\S+)?$",
        description="Model that extracts, as provider/model. Empty: the server's small_model.",
    )
    extraction_timeout_seconds: Seconds = Field(
        default=120,
        gt=0,
        le=86_400,
        description="An extraction that takes longer is aborted and counts as failed, in seconds.",
    )
    extraction_output_chars: Whole = Field(
        default=1_200,
        ge=100,
        le=1_000_000,
        description="Characters of one tool output that an extraction is shown, from its head and its tail.",
    )
    extraction_prompt_chars: Whole = Field(
        default=24_000,
        ge=1_000,
        le=10_000_000,
        description="Characters of all that an extraction is shown; every step keeps a share of them.",
    )
    extractor: Literal["llm", "rules", "both"] = Field(
        default="llm",
        description="Who extracts: a model; rules for well-known outputs, which cost nothing; or both.",
    )
    extraction_budget_session_tokens: Whole = Field(
        default=0,
        ge=0,
        description="Tokens that the extractions of one session may use; then none is started. 0: no limit.",
    )
    extraction_budget_day_tokens: Whole = Field(
        default=0,
        ge=0,
        description="The same for a day, over all sessions of this user.",
    )
    review: Literal["off", "unsupported", "all"] = Field(
        default="unsupported",
        description="Facts that wait for you: none; those that no output bears out or that read like an order; all.",
    )
    doubtful: Literal["caveat", "withhold"] = Field(
        default="caveat",
        description="Facts about a file that has changed since: shown to the agent with a caveat, or not shown.",
    )
    max_buffered_steps: Count = Field(
        default=200,
        description="Steps that may wait for extraction; beyond that the oldest is dropped.",
    )
    escalation_injections: Escalation = Field(
        default=4,
        description="The touch of a topic at which the hard stop begins. 1: at the first touch; inf or 0: never.",
    )
    escalation_scope: Literal["topic", "session"] = Field(
        default="topic",
        description="topic: a counter per topic and agent session. session: one counter per agent session.",
    )
    injectable_extensions: Extensions = Field(
        default=DEFAULT_EXTENSIONS,
        description="Extensions of the files whose mention is a touch; a leading dot is allowed. An empty list: none.",
    )
    injection_tools: Names = Field(
        default=("bash", "shell"),
        description="Tools whose finished calls can be a touch.",
    )
    match: Literal["files", "keys"] = Field(
        default="files",
        description="What of a topic is looked for in a call: files; keys: also paths, tables, error codes and names.",
    )
    key_tools: Names = Field(
        default=("bash", "shell"),
        description="Tools whose calls are looked at for such names: bash, shell, read, grep, webfetch, edit.",
    )
    retention_days: Whole = Field(
        default=90,
        ge=0,
        description="Days that stored facts of a session are kept after it was last active. 0: for ever.",
    )
    history_text_chars: Chars = Field(
        default=4_000,
        description="Characters of one text that the transcript of a past session keeps.",
    )
    history_reasoning_chars: Chars = Field(
        default=200,
        description="Characters of the hint that stands there for one piece of the agent's reasoning.",
    )
    history_tool_input_chars: Chars = Field(
        default=1_000,
        description="Characters of the arguments of one tool call there.",
    )
    history_tool_output_chars: Chars = Field(
        default=1_500,
        description="Characters of one tool output there, from its head and its tail.",
    )
    history_head_chars: Chars = Field(
        default=6_000,
        description="Characters of the beginning that the whole transcript keeps when it is too long.",
    )
    history_tail_chars: Chars = Field(
        default=12_000,
        description="Characters of its end.",
    )
    dump_path: FilePath = Field(
        default=DEFAULT_DUMP_PATH,
        description="JSON file with the accepted findings, written after every change, for other tools to read.",
    )
    hook_deadline_ms: Whole = Field(
        default=250,
        ge=1,
        le=10_000,
        description="How long the plugin in OpenCode waits for the ledger, in ms; then a call's output goes on.",
    )
    toasts: bool = Field(
        default=True,
        description="Say in OpenCode's own screen that a session is watched, and when its agent was told to stop.",
    )
    max_frame_mib: Whole = Field(
        default=64,
        ge=1,
        le=1_024,
        description="Largest event taken from the server, in MiB; a larger one is skipped with a warning.",
    )
    theme: str = Field(
        default="ledger-dark",
        min_length=1,
        description="Colours of the dashboard.",
    )
    ascii: bool = Field(
        default=False,
        description="Draw with ASCII characters only.",
    )
    keys: KeyTable = Field(
        default={},
        description="Keys of the dashboard's actions: action = keys with commas between them.",
    )

    @property
    def threshold(self) -> int:
        """The touch at which the hard stop begins; 0: never."""
        return 0 if self.escalation_injections == math.inf else int(self.escalation_injections)

    @property
    def max_frame_bytes(self) -> int:
        """`max_frame_mib` in bytes."""
        return self.max_frame_mib * 1024 * 1024
