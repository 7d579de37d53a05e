"""Pauses between retries."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 10.0


def backoff() -> Iterator[float]:
    """Yields doubling pauses in seconds, with jitter, so that workloads do not all retry at the
    same time."""
    pause = _FIRST_PAUSE_S
    while True:
        yield pause * random.uniform(0.5, 1.0)
        pause = min(pause * 2, _LONGEST_PAUSE_S)
