"""Requests on which an agent waits (permissions and questions), from the wire to the observation."""

from __future__ import annotations

from typing import Final

from core.ledger import observations as seen
from core.opencode import facts
from core.opencode.events import PermissionAsked, PermissionData, PermissionReplied, QuestionAsked
from core.opencode.events import Question as WireQuestion
from core.text import mask_line

Request = PermissionAsked | QuestionAsked

MAX_REQUESTS: Final = 200
"""Requests of one agent session that are remembered."""
LABEL_CHARS: Final = 200
"""Of an option's label; OpenCode asks the model for one to five words."""
HEADER_CHARS: Final = 80
DESCRIPTION_CHARS: Final = 500
MAX_QUESTIONS: Final = 50
"""Of one request; OpenCode takes further ones for unanswered. Of one question, as many options."""
REFUSED: Final = "refused"
_LIST_CHARS: Final = 500
_NOTHING: Final = PermissionData()


def observation(request: Request, session: str, t: int) -> seen.PermissionAsked:
    """The observation of a request that waits."""
    id = facts.identifier(request.id)
    call = facts.identifier(request.tool.call) if request.tool is not None else ""
    if isinstance(request, QuestionAsked):
        questions = tuple(map(_question, request.questions[:MAX_QUESTIONS]))
        text = "\n".join(question.text for question in questions)
        return seen.PermissionAsked(
            t=t,
            session=session,
            id=id,
            kind="question",
            title="question",
            text=_whole(text),
            questions=questions,
            call=call,
        )
    about = request.metadata or _NOTHING
    return seen.PermissionAsked(
        t=t,
        session=session,
        id=id,
        title=facts.name(request.permission),
        text=_whole(about.command or about.filepath or about.url or "\n".join(request.patterns)),
        patterns=_listed(request.patterns),
        always=_listed(request.always),
        call=call,
    )


def answer(kind: str, data: PermissionReplied) -> str:
    """What was answered, on one line, by the type of the event that says so."""
    if kind == "question.rejected":
        return REFUSED
    if kind == "question.replied":
        return "; ".join(_listed(labels) or "no answer" for labels in data.answers[:MAX_QUESTIONS])
    return mask_line(data.reply, LABEL_CHARS)


def _question(asked: WireQuestion) -> seen.Question:
    labelled = {facts.line(option.label, LABEL_CHARS): option for option in asked.options[:MAX_QUESTIONS]}
    return seen.Question(
        header=mask_line(asked.header, HEADER_CHARS),
        text=_whole(asked.question or asked.header),
        options=tuple(
            seen.Option(label=label, description=mask_line(option.description, DESCRIPTION_CHARS))
            for label, option in labelled.items()
            if label
        ),
        multiple=asked.multiple,
        custom=asked.custom,
    )


def _whole(text: str) -> str:
    return facts.bounded(text).strip()


def _listed(items: tuple[str, ...]) -> str:
    return mask_line(", ".join(items), _LIST_CHARS)
