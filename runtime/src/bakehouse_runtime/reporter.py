"""Reports of a workload: numbered, and sent from a separate thread."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from .errors import PlainError, WorkloadOver
from .server_client import RETRY_TIMEOUT_S, retry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .protocol import HeldOutAnswers, ReportsAnswer
    from .server_client import Artefact, ServerClient

_STOP_TIMEOUT_S = 15.0
# Default for how long a stopped workload may finish running requests.
_DRAIN_S = 10.0
# These frequent reports are batched; all others are sent immediately.
_BATCHABLE = {"progress", "metrics", "log"}


class Reporter:
    """Sends reports to the server from a separate thread, so that work never waits for it.

    Reports are numbered when their batch is made; a batch is repeated unchanged until the server
    accepts it. Use it as a context manager; exiting waits until everything is accepted.
    """

    def __init__(
        self,
        client: ServerClient,
        *,
        heartbeat_s: float = 3.0,
        batch_delay_s: float = 0.2,
    ) -> None:
        self._client = client
        self._heartbeat_s = heartbeat_s
        self._batch_delay_s = batch_delay_s
        # With several nodes only the first reports, so that one process numbers the reports.
        self._is_heard = int(os.environ.get("PET_NODE_RANK") or 0) == 0
        self._waiting: deque[dict[str, Any]] = deque()
        self._in_flight = False
        self._changed = threading.Condition()
        self._closing = False
        self._stop = threading.Event()
        self._stop_by = math.inf
        self._leaves_within_s: float | None = None
        self._over: Exception | None = None
        self._last_answer: ReportsAnswer | None = None
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    def __enter__(self) -> Reporter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        # A stopped workload must end soon; a finished result may wait for its server.
        self._thread.join(_STOP_TIMEOUT_S if self.stop_requested else RETRY_TIMEOUT_S)

    @property
    def stop_requested(self) -> bool:
        """Whether to save the work and end it, because of the server, a signal, or a lost
        connection."""
        return self._stop.is_set()

    @property
    def stop_by(self) -> float:
        """The deadline on the monotonic clock for finishing running requests. A second stop may
        shorten it."""
        return self._stop_by

    def request_stop(self, drain_s: float | None = None) -> None:
        """Requests that the work is saved and ended, as the server's `stop` does."""
        within_s = _DRAIN_S if drain_s is None else drain_s
        self._stop_by = min(self._stop_by, time.monotonic() + within_s)
        self._stop.set()

    def request_stop_by_environment(self, within_s: float | None) -> None:
        """As `request_stop`, after a signal from the environment, which may allow more time."""
        self._leaves_within_s = within_s
        self.request_stop(within_s)

    @property
    def environment_drain_s(self) -> float | None:
        """Seconds that the environment allows for finishing running requests; None if it has sent
        no signal or set no limit."""
        return self._leaves_within_s

    @property
    def last_answer(self) -> ReportsAnswer | None:
        """The server's last answer, or None before the first."""
        return self._last_answer

    def wait_for_stop(self, timeout_s: float) -> bool:
        """Waits until a stop is requested; returns whether it was."""
        return self._stop.wait(timeout_s)

    def wait_until_accepted(self, timeout_s: float) -> bool:
        """Waits until the server has accepted every earlier report; returns whether it has."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._over or not (self._waiting or self._in_flight), timeout_s
            )
            return not (self._waiting or self._in_flight)

    def raise_if_over(self) -> None:
        """Raises the error that ended the connection, if any: WorkloadOver, or PlainError for a
        rejected report."""
        if self._over is not None:
            raise self._over

    def phase(self, phase: str, *, counted: bool = True) -> None:
        """Reports a new phase; the user is not billed for an uncounted phase."""
        self._add("phase", phase=phase, counted=counted)

    def progress(
        self,
        done: float,
        total: float,
        unit: Literal["steps", "bytes", "examples"],
        remaining_seconds: float | None = None,
    ) -> None:
        """Reports progress within the phase. Replaces an unsent previous progress report."""
        self._add(
            "progress", done=done, total=total, unit=unit, remaining_seconds=remaining_seconds
        )

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """Reports one point of the curves. JSON has no NaN or infinity, so such values are only
        logged."""
        finite = {key: value for key, value in values.items() if abs(value) < float("inf")}
        if finite:
            self._add("metrics", step=step, values=finite)
        if len(finite) < len(values):
            names = ", ".join(key for key in values if key not in finite)
            self.log(f"Step {step}: not a finite number: {names}.")

    def log(self, line: str) -> None:
        """Reports one log line, and prints it."""
        print(line, flush=True)
        self._add("log", line=line)

    def checkpoint(self, step: int) -> None:
        """Reports that a complete checkpoint of `step` is on disk."""
        self._add("checkpoint", step=step)

    def held_out_answers(self, answers: HeldOutAnswers) -> None:
        """Reports the answers of the base and the tuned model to held-out rows."""
        self._add("held_out_answers", **answers.model_dump(exclude_unset=True))

    def samples(
        self, step: int, pictures: list[dict[str, object]], adapter: str | None = None
    ) -> None:
        """Reports uploaded pictures of a checkpoint, with path, width and height of each, and the
        uploaded adapter that generated them, if there is one."""
        drawn_by = {} if adapter is None else {"adapter": adapter}
        self._add("samples", step=step, pictures=pictures, **drawn_by)

    def ready(self, base_url: str) -> None:
        """Reports that a server answers at `base_url`."""
        self._add("ready", base_url=base_url)

    def adapter(self, name: str, failure: str | None) -> None:
        """Reports that a text server has loaded an adapter, or why it could not."""
        self._add("adapter", name=name, failure=failure)

    def leaving(self, within_s: float) -> None:
        """Reports that the environment ends a server, which is finishing its requests."""
        self._add("leaving", within_seconds=round(within_s))

    def result(self, files: list[Artefact], summary: Mapping[str, float | str | None]) -> None:
        """Reports that the work is done and all artefacts are uploaded. JSON has no NaN or
        infinity, so such values of the summary become None."""
        self._add(
            "result",
            files=[vars(file) for file in files],
            summary={
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in summary.items()
            },
        )

    def stopped(self, step: int) -> None:
        """Reports that the work was saved at `step` and ended on request."""
        self._add("stopped", step=step)

    def failed(self, message: str) -> None:
        """Reports a permanent failure; `message` is one plain sentence."""
        self._add("failed", message=message)

    def _add(self, kind: str, **fields: Any) -> None:
        report = {"type": kind, "at": _now(), **fields}
        with self._changed:
            if kind == "progress" and self._waiting and self._waiting[-1]["type"] == "progress":
                self._waiting[-1] = report
            else:
                self._waiting.append(report)
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            self._send()
        except (WorkloadOver, PlainError) as error:
            self._end(error)
        # An exception would end only this thread, and the work would continue without reports.
        except Exception as error:
            over = PlainError(f"The reports cannot be sent ({type(error).__name__}: {error}).")
            over.__cause__ = error
            self._end(over)

    def _send(self) -> None:
        # A restarted workload continues from the last number that the server accepted.
        accepted = self._post([])
        while batch := self._next_batch():
            accepted = self._post(
                [{"seq": accepted + i, **report} for i, report in enumerate(batch.reports, 1)]
            )
            with self._changed:
                self._in_flight = False
                self._changed.notify_all()

    def _end(self, over: Exception) -> None:
        with self._changed:
            self._over = over
            self._changed.notify_all()
        self.request_stop()

    def _next_batch(self) -> _Batch | None:
        """Waits for reports or the next heartbeat; None when closed and everything is sent."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing, self._heartbeat_s)
            if self._waiting and self._waiting[-1]["type"] in _BATCHABLE:
                self._changed.wait_for(lambda: self._closing, self._batch_delay_s)
            if self._closing and not self._waiting:
                return None
            count = min(len(self._waiting), 500)
            self._in_flight = count > 0
            return _Batch([self._waiting.popleft() for _ in range(count)])

    def _post(self, reports: list[dict[str, Any]]) -> int:
        """Repeats one batch until it is accepted; returns the last number that the server has."""
        if not self._is_heard:
            return 0
        answer = retry(lambda: self._client.post_reports(reports), "take the reports")
        if answer.command == "stop":
            self.request_stop(answer.drain_seconds)
        self._last_answer = answer
        return answer.accepted_seq


@dataclass(frozen=True)
class _Batch:
    """Reports that are sent in one request. An empty batch is a heartbeat, which only reads the
    server's command."""

    reports: list[dict[str, Any]]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
