"""Decides how often to save."""

from __future__ import annotations

# Share of the time for saving on this machine; uploading to the server may take as much again.
_SHARE_OF_TIME = 0.01


class Cadence:
    """Schedules slow operations that save work in case the process is killed. Between two
    operations there is a pause, and together they may take only a share of the time. The first
    operation is early."""

    def __init__(self, began: float, first_after_s: float, after_s: float) -> None:
        self._done_at = began
        self._first_after_s = first_after_s
        self._after_s = after_s
        self._cost: float | None = None

    def is_due(self, now: float, *, epoch_ends: bool = False) -> bool:
        """Returns whether it is time. The end of an epoch skips the pause, because an evaluation
        may follow, but not the share of the time. Only the first operation, whose duration is
        unknown, may exceed the share."""
        pause = self._first_after_s if self._cost is None else self._after_s
        share = (self._cost or 0.0) / _SHARE_OF_TIME
        return now - self._done_at >= (share if epoch_ends else max(pause, share))

    def saved(self, began: float, ended: float) -> None:
        self._done_at = ended
        self._cost = ended - began
