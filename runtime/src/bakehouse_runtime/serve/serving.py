"""Serving any model: ready once it answers, watched while it works, drained at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..errors import PlainError
from ..workload import workload
from .engine import answers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..protocol import ServeEmbeddingSpec, ServeImageSpec, ServeTextSpec
    from ..reporter import Reporter
    from .engine import ServingEngine

# A small model is there at once, a large one after minutes, in which it needs the processors: each
# look waits longer than the one before, up to half a second.
_POLL_LOADING_S = 0.02
_POLL_LOADING_GROWTH = 1.1
_POLL_READY_S = 0.5
_POLL_DRAINING_S = 0.1
_CHECK_INTERVAL_S = 5.0
# The longest piece of work is one batch of a prompt, which a large model reads for minutes on a
# busy CPU; each check of a stalled engine takes up to two seconds. The gateway times out earlier.
_STALLED_CHECKS_MAX = 40


def serve(
    spec: ServeTextSpec | ServeEmbeddingSpec | ServeImageSpec,
    start: Callable[[dict[str, Path]], ServingEngine],
) -> int:
    """Serves what `start` makes of the inputs until SIGTERM, the server's `stop`, or its 410.
    Returns the exit status."""
    engine: ServingEngine | None = None
    try:
        with workload(spec) as work:
            inputs = work.inputs()
            work.reporter.phase("loading model")
            engine = start(inputs)
            _serve(engine, work.reporter)
    finally:
        # Last, when everything is reported: an engine that hangs may take this process with it.
        if engine is not None:
            engine.close()
    return 0


class _Watchdog:
    """Checks every few seconds whether the engine advances. Checks are counted, and not seconds:
    where the whole machine stands still, so does the watchdog."""

    def __init__(self, engine: ServingEngine) -> None:
        self._engine = engine
        self._next_at = time.monotonic() + _CHECK_INTERVAL_S
        self._stalled_checks = 0

    def check(self) -> None:
        """Raises PlainError when the engine has not advanced for too many checks in a row."""
        if time.monotonic() < self._next_at:
            return
        self._stalled_checks = 0 if self._engine.advances() else self._stalled_checks + 1
        if self._stalled_checks >= _STALLED_CHECKS_MAX:
            raise PlainError("The model server hangs: it has not advanced for several minutes.")
        self._next_at = time.monotonic() + _CHECK_INTERVAL_S


def _serve(engine: ServingEngine, reporter: Reporter) -> None:
    """From loading to the last answer. Raises PlainError when the engine ends or hangs."""
    ready, poll_s = False, _POLL_LOADING_S
    watchdog = _Watchdog(engine)
    while not reporter.stop_requested:
        if (reason := engine.ended()) is not None:
            raise PlainError(reason)
        if not ready and answers(engine):
            ready, poll_s = True, _POLL_READY_S
            reporter.ready(engine.base_url)
        if ready:
            watchdog.check()
        reporter.wait_for_stop(poll_s)
        poll_s = min(poll_s * _POLL_LOADING_GROWTH, _POLL_READY_S)
    if ready:
        if (within_s := reporter.leaves_within_s) is not None:
            reporter.leaving(within_s)
        # The gateway may be handing over a request that it accepted before the stop.
        time.sleep(_POLL_DRAINING_S)
        _drain(engine, reporter, watchdog)
    reporter.stopped(0)


def _drain(engine: ServingEngine, reporter: Reporter, watchdog: _Watchdog) -> None:
    """Waits until no request is in flight, as long as the stop allows. An engine that is too busy
    to say how many there are has some."""
    while time.monotonic() < reporter.stop_by and engine.ended() is None:
        if engine.in_flight() == 0:
            return
        watchdog.check()
        time.sleep(_POLL_DRAINING_S)
