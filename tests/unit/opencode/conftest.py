"""Fixtures of the tests of the wire."""

from __future__ import annotations

import pytest

from .world import World


@pytest.fixture
def world() -> World:
    """An empty OpenCode server in miniature."""
    return World()
