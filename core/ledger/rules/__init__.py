"""Facts that need no model: what well-known tools print, read by rules.

Each rule is a pure function of the part of an output that one command certainly printed; a table lists them. A rule
prefers to say nothing: documents, logs, searches and manuals that look like a tool's output are not that tool's.
"""

from core.ledger.rules.facts import MOST_PER_CALL, MOST_PER_JOB, RULES, RuleFact, facts_of

__all__ = ["MOST_PER_CALL", "MOST_PER_JOB", "RULES", "RuleFact", "facts_of"]
