"""Serves any model: ready once it answers, watched while it works, drained at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..errors import PlainError
from ..protocol import ServeTextSpec
from ..workload import workload
from .engine import LoadsAdapters, answers
from .late_adapters import AdapterLoader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..protocol import ServeEmbeddingSpec, ServeImageSpec
    from ..reporter import Reporter
    from .engine import ServingEngine

# A small model loads immediately, a large one takes minutes and needs the processors: each poll
# waits longer than the previous one, up to half a second.
_POLL_LOADING_S = 0.02
_POLL_LOADING_GROWTH = 1.1
_POLL_READY_S = 0.5
_POLL_DRAINING_S = 0.1
_CHECK_INTERVAL_S = 5.0
# The longest operation is one batch of a prompt, which takes a large model minutes on a busy CPU;
# each check of a stalled engine takes up to two seconds. The gateway times out earlier.
_STALLED_CHECKS_MAX = 40


def serve(
    spec: ServeTextSpec | ServeEmbeddingSpec | ServeImageSpec,
    start: Callable[[dict[str, Path]], ServingEngine],
) -> int:
    """Serves the engine that `start` builds from the inputs until SIGTERM, the server's `stop`, or
    its 410. Returns the exit status."""
    engine: ServingEngine | None = None
    try:
        with workload(spec) as work:
            inputs = work.inputs()
            work.reporter.phase("loading model")
            engine = start(inputs)
            adapters = None
            if isinstance(spec, ServeTextSpec) and isinstance(engine, LoadsAdapters):
                adapters = AdapterLoader(work, engine, spec.adapters)
            _serve(engine, work.reporter, adapters)
    finally:
        # Close after all reports: an engine that hangs may end this process.
        if engine is not None:
            engine.close()
    return 0


class _Watchdog:
    """Checks every few seconds whether the engine makes progress. It counts checks instead of
    seconds: if the machine is suspended, time passes although nothing could run."""

    def __init__(self, engine: ServingEngine) -> None:
        self._engine = engine
        self._next_at = time.monotonic() + _CHECK_INTERVAL_S
        self._stalled_checks = 0

    def check(self) -> None:
        """Raises PlainError after too many checks in a row without progress."""
        if time.monotonic() < self._next_at:
            return
        self._stalled_checks = 0 if self._engine.advances() else self._stalled_checks + 1
        if self._stalled_checks >= _STALLED_CHECKS_MAX:
            raise PlainError("The model server hangs: it has not advanced for several minutes.")
        self._next_at = time.monotonic() + _CHECK_INTERVAL_S


def _serve(
    engine: ServingEngine, reporter: Reporter, adapters: AdapterLoader | None = None
) -> None:
    """Runs from loading to the last answer. Raises PlainError if the engine ends or hangs."""
    ready, poll_s = False, _POLL_LOADING_S
    watchdog = _Watchdog(engine)
    while not reporter.stop_requested:
        if (reason := engine.ended()) is not None:
            raise PlainError(reason)
        if not ready and answers(engine):
            if adapters:
                adapters.load_first()
            ready, poll_s = True, _POLL_READY_S
            reporter.ready(engine.base_url)
        if ready:
            watchdog.check()
            if adapters:
                adapters.follow_server()
        reporter.wait_for_stop(poll_s)
        poll_s = min(poll_s * _POLL_LOADING_GROWTH, _POLL_READY_S)
    if ready:
        if (within_s := reporter.environment_drain_s) is not None:
            reporter.leaving(within_s)
        # The gateway may still forward a request that it accepted before the stop.
        time.sleep(_POLL_DRAINING_S)
        _drain(engine, reporter, watchdog)
    reporter.stopped(0)


def _drain(engine: ServingEngine, reporter: Reporter, watchdog: _Watchdog) -> None:
    """Waits until no request is running, within the limit of the stop. An engine that is too busy
    to report a count still has requests."""
    while time.monotonic() < reporter.stop_by and engine.ended() is None:
        if engine.in_flight() == 0:
            return
        watchdog.check()
        time.sleep(_POLL_DRAINING_S)
