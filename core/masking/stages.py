"""The order in which secrets are looked for: the surest first, so that its kind is the one named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from core.masking.around import mask_addresses, mask_arguments, mask_headers
from core.masking.named import mask_named
from core.masking.pem import mask_private_keys
from core.masking.tokens import mask_tokens

STAGES: Final[tuple[Callable[[str], str], ...]] = (
    mask_private_keys,
    mask_tokens,
    mask_addresses,
    mask_headers,
    mask_arguments,
    mask_named,
)
