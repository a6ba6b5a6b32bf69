"""From the user's settings to those of an engine."""

from __future__ import annotations

from core.ledger.state import EngineSettings
from core.settings import Settings


def engine_settings(settings: Settings) -> EngineSettings:
    """The part of the settings that the pure ledger obeys."""
    return EngineSettings(
        extraction_interval_steps=settings.extraction_interval_steps,
        max_findings_per_topic=settings.max_findings_per_topic,
        max_findings=settings.max_findings,
        injection_enabled=settings.injection_enabled,
        threshold=settings.threshold,
        escalation_scope=settings.escalation_scope,
        injectable_extensions=frozenset(settings.injectable_extensions),
        injection_tools=frozenset(settings.injection_tools),
        max_buffered_steps=settings.max_buffered_steps,
        review=settings.review,
        doubtful=settings.doubtful,
        extractor=settings.extractor,
        match=settings.match,
        key_tools=frozenset(settings.key_tools),
        extraction_budget_session_tokens=settings.extraction_budget_session_tokens,
        extraction_budget_day_tokens=settings.extraction_budget_day_tokens,
    )
