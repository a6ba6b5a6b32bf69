"""Time that can run faster, slower, or not at all."""

from __future__ import annotations

import asyncio
import math


class Pace:
    """A clock for pauses. `speed` is a multiple of real time: 0 stands still, infinity never waits."""

    def __init__(self, speed: float) -> None:
        self._speed = _checked(speed)
        self._changed = asyncio.Event()

    @property
    def speed(self) -> float:
        """The multiple now; a negative one, or one that is no number, is a ValueError."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._speed = _checked(speed)
        self._changed.set()
        self._changed = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait for that long at speed 1; a change of speed takes effect at once."""
        loop = asyncio.get_running_loop()
        left = seconds
        while left > 0 and self._speed != math.inf:
            speed, changed, begun = self._speed, self._changed, loop.time()
            try:
                async with asyncio.timeout(left / speed if speed else None):
                    await changed.wait()
            except TimeoutError:
                return
            left -= (loop.time() - begun) * speed


def _checked(speed: float) -> float:
    if math.isnan(speed) or speed < 0:
        raise ValueError(f"a speed of {speed} makes no sense")
    return speed
