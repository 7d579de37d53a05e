"""How often to save."""

from __future__ import annotations

# Of the time for saving on this machine, and as much for uploading to the server.
_SHARE_OF_TIME = 0.01
_QUICK_S = 1.0


class Cadence:
    """When to do what takes long and is needed in case of a kill: after a pause, and in no more
    than its share of the time. The first one comes early."""

    def __init__(self, began: float, first_after_s: float, after_s: float) -> None:
        self._done_at = began
        self._first_after_s = first_after_s
        self._after_s = after_s
        self._cost: float | None = None

    def is_due(self, now: float, *, epoch_ends: bool = False) -> bool:
        """Whether it is time. The end of an epoch, where a stop during its evaluation leaves, is
        also saved before its time, unless that takes long."""
        cost = self._cost or 0.0
        if epoch_ends and cost < _QUICK_S:
            return True
        pause = self._first_after_s if self._cost is None else self._after_s
        return now - self._done_at >= max(pause, cost / _SHARE_OF_TIME)

    def saved(self, began: float, ended: float) -> None:
        """Notes how long it took this time."""
        self._done_at = ended
        self._cost = ended - began
