"""`serve` for text: pulls the model, starts its engine, reports ready, and drains at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..errors import PlainError
from ..workload import workload
from .engine import TextEngine, answers, drain

if TYPE_CHECKING:
    from pathlib import Path

    from ..protocol import ServeTextSpec
    from ..server_client import Reporter

_DRAIN_S = 10.0
_POLL_LOADING_S = 0.02
_POLL_READY_S = 0.5


def serve_text(spec: ServeTextSpec) -> int:
    """Serves until SIGTERM, the server's `stop`, or the server's 410. Returns the exit status."""
    with workload(spec) as work:
        inputs = work.pull_inputs()
        work.reporter.phase("loading model")
        engine = _start(spec, inputs)
        try:
            _serve(engine, work.reporter)
        finally:
            engine.close()
    return 0


def _start(spec: ServeTextSpec, inputs: dict[str, Path]) -> TextEngine:
    if spec.engine == "vllm":
        from .vllm import Vllm

        return Vllm(spec, inputs)
    from .llamacpp import LlamaCpp

    return LlamaCpp(spec, inputs)


def _serve(engine: TextEngine, reporter: Reporter) -> None:
    """From loading to the last answer. Raises PlainError when the engine ends by itself."""
    ready = False
    while not reporter.stop_requested:
        if (reason := engine.ended()) is not None:
            raise PlainError(reason)
        if not ready and answers(engine):
            ready = True
            reporter.ready(engine.base_url)
        reporter.wait_for_stop(_POLL_READY_S if ready else _POLL_LOADING_S)
    if ready:
        # The gateway may be handing over a request that it accepted before the stop.
        time.sleep(0.1)
        drain(engine, _DRAIN_S)
    reporter.stopped(0)
