"""How often to save."""

from __future__ import annotations

# Of the time for saving on this machine, and as much for uploading to the server.
_SHARE_OF_TIME = 0.01


class Cadence:
    """When to do what takes long and is needed in case of a kill: after a pause, and in no more
    than its share of the time. The first one comes early."""

    def __init__(self, began: float, first_after_s: float, after_s: float) -> None:
        self._done_at = began
        self._first_after_s = first_after_s
        self._after_s = after_s
        self._cost: float | None = None

    def is_due(self, now: float, *, epoch_ends: bool = False) -> bool:
        """Whether it is time. The end of an epoch, after which an evaluation may take long, waits
        for no pause, but for its share of the time like any other. Only the first one, of which
        nobody knows yet how long it takes, may exceed it."""
        pause = self._first_after_s if self._cost is None else self._after_s
        share = (self._cost or 0.0) / _SHARE_OF_TIME
        return now - self._done_at >= (share if epoch_ends else max(pause, share))

    def saved(self, began: float, ended: float) -> None:
        """Notes how long it took this time."""
        self._done_at = ended
        self._cost = ended - began
