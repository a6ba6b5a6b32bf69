"""Where the output of a simple command goes, and how what it carries is understood there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.ledger.programs import Role, files_away
from core.ledger.roles import language, lists
from core.ledger.shellwords import Simple
from core.ledger.wrappers import command_at, program

_CHAIN = 10
"""Commands of a pipeline, or behind one, that are followed."""

_SCRIPT = re.compile(r"(?:\.(?:ba|z)?sh|[/\\][^./\\]+)\Z")


def fed_into(simple: Simple) -> list[str]:
    """The command that takes the output for its arguments."""
    return next((words for words in _downstream(simple) if command_at(words)[1]), [])


def reads_listing(simple: Simple) -> bool:
    """Whether the command reads names of files from a pipe."""
    source = simple.source
    for _ in range(_CHAIN):
        if source is None:
            return False
        if lists([word.text for word in source.words]):
            return True
        source = source.source
    return False


def consumer(commands: Sequence[Simple], index: int) -> Role | None:
    """How what the command is given or prints is understood by whoever reads it in the end.

    Args:
        commands: a whole command line; a later one may run the file that this one writes.
        index: which of them has a here-document or prints its arguments.

    Returns:
        None when nobody runs it.
    """
    simple = commands[index]
    targets = [word.text for operator, word in simple.redirects if operator.startswith(">")]
    for words in ([word.text for word in simple.words], *_downstream(simple)):
        if kind := language(words):
            return kind
        if "tee" in words:
            targets += words[words.index("tee") + 1 :]
    bases = {program(target) for target in targets}
    for command in commands[index + 1 : index + 1 + _CHAIN] if bases else ():
        words = [word.text for word in command.words]
        if any(program(word) in bases for word in words) and not files_away(words):
            kind = language(words)
            if kind is None and program(words[0]) in bases:
                kind = "shell" if _SCRIPT.search(words[0]) else "code"
            if kind:
                return kind
    return None


def _downstream(simple: Simple) -> Iterator[list[str]]:
    """Words of the commands that the output goes through."""
    sink = simple.sink
    for _ in range(_CHAIN):
        if sink is None:
            return
        yield [word.text for word in sink.words]
        sink = sink.sink
