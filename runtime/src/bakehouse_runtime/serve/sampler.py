"""Samples the pictures or videos of all requests in one thread, one step for all of them at a time.

Requests join and leave between two steps. All of torch runs in this thread, including loading:
OpenMP creates a thread pool for each thread that computes. With more pool threads than processors,
the threads sleep while they wait instead of spinning, which makes a step almost twice as slow on
two cores. Each request has its own thread, which reads the events of its job.
"""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections import deque
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import torch

from ..errors import PlainError, RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PIL.Image import Image

    from ..image.sampling import Generated, Sampling


# Idle time after which the model releases device memory that it can restore.
_OFFLOAD_AFTER_S = 300.0
# The server forwards progress no more often than this.
PROGRESS_INTERVAL_S = 0.35
# Reading a prompt may take as long as a step. Limiting it lets running requests progress, however
# many requests arrive and are cancelled.
_BEGUN_BETWEEN_STEPS = 8
# The largest share of the time that previews may take, because they delay the pictures.
_PREVIEW_SHARE = 1 / 50


class Model(Protocol):
    """The interface of a pipeline of any family."""

    # The kind of media that it generates.
    medium: str

    def prepared(self, request: Any) -> object: ...
    def begin(self, request: Any) -> Any: ...
    def step(self, samplings: Sequence[Any]) -> None: ...
    def finish(self, samplings: Sequence[Any]) -> Sequence[Generated]: ...
    def preview(self, sampling: Any) -> Image: ...
    def offload(self) -> None: ...


@dataclass(frozen=True)
class Queued:
    """The request is queued; `position` 1 is next."""

    position: int


@dataclass(frozen=True)
class Stepped:
    step: int
    expert_weights: list[float] | None
    preview: Image | None


@dataclass(frozen=True)
class Done:
    generated: Generated


@dataclass(frozen=True)
class Refused:
    """The first and only event of an invalid request; `field` is its invalid field."""

    message: str
    field: str


@dataclass(frozen=True)
class Failed:
    message: str


Event: TypeAlias = Queued | Stepped | Done | Refused | Failed


class Job:
    """One request and its events."""

    def __init__(self, request: object, preview_every: int) -> None:
        self.request = request
        self.preview_every = preview_every
        self.is_cancelled = False
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._has_ended = threading.Event()

    def put(self, event: Event) -> None:
        """Adds an event; only the last event wakes the waiting thread."""
        self._events.put(event)
        if isinstance(event, Done | Refused | Failed):
            self._has_ended.set()

    def wait(self, timeout_s: float) -> bool:
        """Waits until the job has ended or the time is up; returns whether it has ended. Single
        steps do not wake the thread, because the computing threads use all processors."""
        return self._has_ended.wait(timeout_s)

    def take(self) -> list[Event]:
        """Returns the events since the last call."""
        events: list[Event] = []
        with contextlib.suppress(Empty):
            while True:
                events.append(self._events.get_nowait())
        return events

    def cancel(self) -> None:
        """The client is gone: no further step is computed."""
        self.is_cancelled = True


class _Row:
    """A job with its sampling, queued or running."""

    def __init__(self, job: Job, sampling: Sampling) -> None:
        self.job = job
        self.sampling = sampling
        self.position = 0
        # Time of the last preview, or of the start of sampling if there was none.
        self.previewed_at = 0.0
        # How long the last preview took.
        self.preview_cost_s = 0.0


class Sampler:
    """The sampling thread and its queue: first come, first served."""

    def __init__(
        self,
        load: Callable[[], Model],
        rows_max: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._rows_max = rows_max
        self._now = now
        self._loaded = threading.Event()
        self._changed = threading.Condition()
        self._arrived: deque[Job] = deque()
        self._waiting: list[_Row] = []
        self._rows: list[_Row] = []
        self._is_closing = False
        self._error: BaseException | None = None
        # Counts completed operations that may take long, even while idle.
        self._turns = 0
        self._turns_seen = -1
        self._is_idle = True
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()

    @property
    def is_loaded(self) -> bool:
        """Returns whether the model is loaded. If it cannot be loaded, the thread ends."""
        return self._loaded.is_set()

    def prepared(self, request: object) -> object:
        """Returns the request in a form that may wait; call it only after the model is loaded."""
        return self._model.prepared(request)

    def submit(self, job: Job) -> None:
        """Queues a request; its events end with Done, Refused or Failed."""
        with self._changed:
            if self._is_closing:
                job.put(Failed("The model server is stopping."))
                return
            self._arrived.append(job)
            self._changed.notify()

    def raise_if_ended(self) -> None:
        """Raises the error that ended the thread, if any."""
        if self._error is not None:
            raise self._error

    def advances(self) -> bool:
        """Returns whether it has progressed since the last call, or is idle."""
        with self._changed:
            before, self._turns_seen = self._turns_seen, self._turns
            return self._is_idle or self._turns != before

    def close(self, timeout_s: float) -> bool:
        """Ends the thread after its step; returns whether it has ended."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        message = "The model server is stopping."
        try:
            self._model = self._load()
            message = f"The model server was stopped before the {self._model.medium} was done."
            self._loaded.set()
            while self._wait_for_work():
                self._admit()
                self._step()
        except BaseException as error:
            self._error = error
            message = "The model server failed."
        finally:
            with self._changed:
                self._is_closing = True
            jobs = [*self._arrived, *(row.job for row in (*self._waiting, *self._rows))]
            for job in jobs:
                job.put(Failed(message))

    def _wait_for_work(self) -> bool:
        """Waits until there is something to generate; False when closing."""
        with self._changed:
            self._is_idle = not self._has_work()
            is_called = self._changed.wait_for(self._is_called, _OFFLOAD_AFTER_S)
        # Offloading gigabytes takes a while, in which requests may arrive.
        if not is_called:
            self._model.offload()
        with self._changed:
            self._changed.wait_for(self._is_called)
            self._is_idle = False
            self._turns += 1
            return not self._is_closing

    def _is_called(self) -> bool:
        return self._is_closing or self._has_work()

    def _has_work(self) -> bool:
        return bool(self._arrived or self._waiting or self._rows)

    def _admit(self) -> None:
        """Drops cancelled jobs, and fills the free rows of the batch from the queue."""
        self._rows = [row for row in self._rows if not row.job.is_cancelled]
        self._waiting = [row for row in self._waiting if not row.job.is_cancelled]
        begun = 0
        while self._arrived and begun < _BEGUN_BETWEEN_STEPS:
            if not self._arrived[0].is_cancelled:
                self._begin(self._arrived[0])
                begun += 1
            self._arrived.popleft()
        free = self._rows_max - len(self._rows)
        for row in self._waiting[:free]:
            row.previewed_at = self._now()
            self._rows.append(row)
        self._waiting = self._waiting[free:]
        for position, row in enumerate(self._waiting, start=1):
            if row.position != position:
                row.position = position
                row.job.put(Queued(position))

    def _begin(self, job: Job) -> None:
        try:
            self._waiting.append(_Row(job, self._model.begin(job.request)))
        except PlainError as error:
            field = error.field if isinstance(error, RequestError) else "prompt"
            job.put(Refused(str(error), field))
        # The device cannot compute any more after this error.
        except torch.AcceleratorError:
            raise
        # One faulty request must not end the other requests.
        except Exception:
            traceback.print_exc()
            job.put(Failed(f"The {self._model.medium} could not be started."))

    def _step(self) -> None:
        if self._rows:
            self._rows = [row for row in self._stepped(self._rows) if self._report_step(row)]

    def _stepped(self, rows: list[_Row]) -> list[_Row]:
        """Runs a step for all rows together. If it fails, runs each row alone, so that one faulty
        row does not end the other rows. Returns the rows that succeeded."""
        steps_before = [row.sampling.steps_done for row in rows]
        try:
            self._model.step([row.sampling for row in rows])
        # The device cannot compute any more after this error.
        except torch.AcceleratorError:
            raise
        except Exception:
            traceback.print_exc()
        else:
            return rows
        if len(rows) == 1:
            rows[0].job.put(self._not_generated())
            return []
        stepped: list[_Row] = []
        for row, before in zip(rows, steps_before, strict=True):
            stepped += [row] if row.sampling.steps_done > before else self._stepped([row])
        return stepped

    def _not_generated(self) -> Failed:
        return Failed(f"The {self._model.medium} could not be generated.")

    def _report_step(self, row: _Row) -> bool:
        """Reports the step to the job; returns whether another step follows."""
        sampling, job = row.sampling, row.job
        try:
            job.put(Stepped(sampling.steps_done, sampling.expert_weights, self._preview(row)))
            if sampling.is_done:
                job.put(Done(self._model.finish([sampling])[0]))
        # The result has values that are not finite.
        except PlainError as error:
            job.put(Failed(str(error)))
            return False
        except torch.AcceleratorError:
            raise
        except Exception:
            traceback.print_exc()
            job.put(self._not_generated())
            return False
        return not sampling.is_done

    def _preview(self, row: _Row) -> Image | None:
        every, sampling = row.job.preview_every, row.sampling
        # The last step is followed by the picture itself.
        is_due = every > 0 and sampling.steps_done % every == 0 and not sampling.is_done
        if not (is_due and self._is_seen(row)):
            return None
        begun_at = self._now()
        preview = self._model.preview(sampling)
        row.previewed_at = self._now()
        row.preview_cost_s = row.previewed_at - begun_at
        return preview

    def _is_seen(self, row: _Row) -> bool:
        """Returns whether a preview is due. Enough time must have passed since the last preview to
        show a difference and to stay within the time budget, which concurrent requests share. A
        picture that finishes sooner has no preview."""
        interval = max(PROGRESS_INTERVAL_S, row.preview_cost_s / _PREVIEW_SHARE)
        return self._now() - row.previewed_at >= interval * len(self._rows)
