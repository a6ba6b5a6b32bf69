"""Requests on which an agent waits (permissions and questions), from the wire to the observation."""

from __future__ import annotations

from typing import Final

from core.ledger import observations as seen
from core.opencode import facts
from core.opencode.events import PermissionAsked, PermissionData, QuestionAsked

Request = PermissionAsked | QuestionAsked

MAX_REQUESTS: Final = 200
"""Requests of one agent session that are remembered."""
_LIST_CHARS: Final = 500
_NOTHING: Final = PermissionData()


def observation(request: Request, session: str, t: int) -> seen.PermissionAsked:
    """The observation of a request that waits."""
    id = facts.identifier(request.id)
    if isinstance(request, QuestionAsked):
        text = "\n".join(question.question or question.header for question in request.questions)
        return seen.PermissionAsked(t=t, session=session, id=id, kind="question", title="question", text=_whole(text))
    about = request.metadata or _NOTHING
    return seen.PermissionAsked(
        t=t,
        session=session,
        id=id,
        title=facts.name(request.permission),
        text=_whole(about.command or about.filepath or about.url or "\n".join(request.patterns)),
        patterns=_listed(request.patterns),
        always=_listed(request.always),
    )


def _whole(text: str) -> str:
    return facts.bounded(text).strip()


def _listed(items: tuple[str, ...]) -> str:
    return facts.line(", ".join(items), _LIST_CHARS)
