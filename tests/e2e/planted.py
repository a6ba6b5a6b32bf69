"""Secrets that a test plants, made anew for each run, and a search for any piece of them."""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass, field

_ALNUM = string.ascii_letters + string.digits
PIECE = 10
"""Characters of a secret that are as bad as all of it."""


def _some(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


@dataclass(frozen=True)
class Planted:
    """Keys and passwords of realistic shape, none of which opens anything."""

    aws_id: str = field(default_factory=lambda: "AKIA" + _some(string.ascii_uppercase + "234567", 16))
    aws_key: str = field(default_factory=lambda: _some(_ALNUM + "/+", 40))
    github: str = field(default_factory=lambda: "ghp_" + _some(_ALNUM, 36))
    password: str = field(default_factory=lambda: _some(_ALNUM, 18))
    bearer: str = field(default_factory=lambda: _some(_ALNUM + "-_", 43))
    pem: tuple[str, ...] = field(default_factory=lambda: tuple(_some(_ALNUM + "+/", 64) for _ in range(4)))

    @property
    def url(self) -> str:
        """With a password in it."""
        return f"postgres://shop:{self.password}@db.internal:5432/orders"

    @property
    def file(self) -> str:
        """A file in which they stand among what is no secret."""
        return "\n".join(
            (
                "region = eu-central-1",
                f"aws_access_key_id = {self.aws_id}",
                f"aws_secret_access_key = {self.aws_key}",
                f"GITHUB_TOKEN={self.github}",
                f"DATABASE_URL={self.url}",
                f"Authorization: Bearer {self.bearer}",
                "-----BEGIN PRIVATE KEY-----",
                *self.pem,
                "-----END PRIVATE KEY-----",
                "retries = 7\n",
            )
        )

    @property
    def all(self) -> tuple[str, ...]:
        """Each secret."""
        return self.aws_id, self.aws_key, self.github, self.password, self.bearer, *self.pem

    def pieces_in(self, text: str | bytes) -> list[str]:
        """What of the secrets a text holds, by :data:`PIECE` characters."""
        found = text.decode("latin-1") if isinstance(text, bytes) else text
        pieces = (secret[n : n + PIECE] for secret in self.all for n in range(len(secret) - PIECE + 1))
        return [piece for piece in pieces if piece in found]
