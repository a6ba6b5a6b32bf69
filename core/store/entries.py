"""One entry of the dump file, as other tools read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel


class DumpEntry(BaseModel):
    """An accepted finding. The first four keys are those of the original plugin and keep their place and names.

    Attributes:
        established_at: ms since the epoch; 0 when it is not known.
        source_step: step in which it was established; 0 when a person added it.
        session: id of the root session; empty in files of the original plugin.
        id: unique within its session.
        origin: agent session of the step.
        call: id of the call it most likely came from.
        title, directory: of the root session.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    fact: str
    topic: str
    established_at: int = 0
    source_step: int = 0
    session: str = ""
    id: str = ""
    pinned: bool = False
    source: Literal["extraction", "user"] = "extraction"
    origin: str = ""
    call: str = ""
    title: str = ""
    directory: str = ""


_LIST = TypeAdapter(list[DumpEntry])


def encode(entries: Sequence[DumpEntry]) -> bytes:
    """The whole file: a JSON array in UTF-8, ended by a line break."""
    return _LIST.dump_json(list(entries), by_alias=True, indent=2) + b"\n"
