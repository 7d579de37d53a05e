"""Samples the pictures or films of all requests in one thread, a step of all of them at a time.

Requests join and leave between two steps. All of torch runs here, loading included: OpenMP keeps
threads for each thread that ever computed, and where they are more than there are processors, all
of them sleep instead of spinning, which makes a step almost twice as slow on two cores. The thread
of a request reads the events of its job.
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


# After so long without a request the model gives up memory of its device that it can get back.
_OFFLOAD_AFTER_S = 300.0
# The server passes progress on no more often: what comes sooner, nobody sees.
PROGRESS_INTERVAL_S = 0.35
# Reading a prompt may take as long as a step: however many arrive, and are cancelled again, others
# get on meanwhile.
_BEGUN_BETWEEN_STEPS = 8
# Previews take this part of the time at most: they are made of what the picture is waiting for.
_PREVIEW_SHARE = 1 / 50


class Model(Protocol):
    """What samples: a pipeline of any family, with requests and samplings of its own."""

    # What it makes, in a word.
    medium: str

    def prepared(self, request: Any) -> object: ...
    def begin(self, request: Any) -> Any: ...
    def step(self, samplings: Sequence[Any]) -> None: ...
    def finish(self, samplings: Sequence[Any]) -> Sequence[Generated]: ...
    def preview(self, sampling: Any) -> Image: ...
    def offload(self) -> None: ...


@dataclass(frozen=True)
class Queued:
    """It waits; `position` 1 is next."""

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
    """The first and only event of a request that cannot be generated; `field` is what is wrong with
    it."""

    message: str
    field: str


@dataclass(frozen=True)
class Failed:
    message: str


Event: TypeAlias = Queued | Stepped | Done | Refused | Failed


class Job:
    """One request, and what happens to it."""

    def __init__(self, request: object, preview_every: int) -> None:
        self.request = request
        self.preview_every = preview_every
        self.is_cancelled = False
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._has_ended = threading.Event()

    def put(self, event: Event) -> None:
        """Adds what has happened; only the last event wakes the waiting thread."""
        self._events.put(event)
        if isinstance(event, Done | Refused | Failed):
            self._has_ended.set()

    def wait(self, timeout_s: float) -> bool:
        """Until the job has ended or the time is over; whether it has ended. The threads that
        compute take all processors: a step of a small model is no reason to wake."""
        return self._has_ended.wait(timeout_s)

    def take(self) -> list[Event]:
        """What has happened since the last call."""
        events: list[Event] = []
        with contextlib.suppress(Empty):
            while True:
                events.append(self._events.get_nowait())
        return events

    def cancel(self) -> None:
        """Nobody waits for it any more: no further step is taken."""
        self.is_cancelled = True


class _Row:
    """A job with its sampling, in the queue or being generated."""

    def __init__(self, job: Job, sampling: Sampling) -> None:
        self.job = job
        self.sampling = sampling
        self.position = 0
        # When it had its last preview; before the first, when its sampling began.
        self.previewed_at = 0.0
        # What that took.
        self.preview_cost_s = 0.0


class Sampler:
    """The thread, and the queue in front of it: first come, first served."""

    def __init__(
        self,
        load: Callable[[], Model],
        rows_max: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begins to load the model."""
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
        # Counts whatever may take long; even while there is nothing to do.
        self._turns = 0
        self._turns_seen = -1
        self._is_idle = True
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()

    @property
    def is_loaded(self) -> bool:
        """Whether the model is there. Where it cannot be loaded, the thread ends."""
        return self._loaded.is_set()

    def prepared(self, request: object) -> object:
        """The request as it may wait; the model is loaded."""
        return self._model.prepared(request)

    def submit(self, job: Job) -> None:
        """Takes a request in; what comes of it are its events, the last of them Done, Refused or
        Failed."""
        with self._changed:
            if self._is_closing:
                job.put(Failed("The model server is stopping."))
                return
            self._arrived.append(job)
            self._changed.notify()

    def raise_if_ended(self) -> None:
        """Raises what has ended the thread."""
        if self._error is not None:
            raise self._error

    def advances(self) -> bool:
        """Whether it has got on since it was last asked, or has nothing to do."""
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
        """Waits until there is something to generate; False when there never will be."""
        with self._changed:
            self._is_idle = not self._has_work()
            is_called = self._changed.wait_for(self._is_called, _OFFLOAD_AFTER_S)
        # Moving gigabytes takes a while, in which requests may come.
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
        """Drops cancelled jobs, and fills the free rows of the batch out of the queue."""
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
        # After this one nothing is computed here any more.
        except torch.AcceleratorError:
            raise
        # What one request brings must not end what others wait for.
        except Exception:
            traceback.print_exc()
            job.put(Failed(f"The {self._model.medium} could not be begun."))

    def _step(self) -> None:
        if self._rows:
            self._rows = [row for row in self._stepped(self._rows) if self._report_step(row)]

    def _stepped(self, rows: list[_Row]) -> list[_Row]:
        """Takes a step of all of them at once. Where that fails, of each alone: one that cannot be
        generated must not end the others. Returns those that took it."""
        steps_before = [row.sampling.steps_done for row in rows]
        try:
            self._model.step([row.sampling for row in rows])
        # After this one nothing is computed here any more.
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
        """Reports the step to the job; returns whether there is another."""
        sampling, job = row.sampling, row.job
        try:
            job.put(Stepped(sampling.steps_done, sampling.expert_weights, self._preview(row)))
            if sampling.is_done:
                job.put(Done(self._model.finish([sampling])[0]))
        # Values that are not numbers.
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
        # After the last step comes the picture itself.
        is_due = every > 0 and sampling.steps_done % every == 0 and not sampling.is_done
        if not (is_due and self._is_seen(row)):
            return None
        begun_at = self._now()
        preview = self._model.preview(sampling)
        row.previewed_at = self._now()
        row.preview_cost_s = row.previewed_at - begun_at
        return preview

    def _is_seen(self, row: _Row) -> bool:
        """Whether the time before has been long enough for a preview to be seen, and for what the
        last one cost; a picture that is done sooner has none at all. Several at once
        have fewer each: together no more than one alone."""
        interval = max(PROGRESS_INTERVAL_S, row.preview_cost_s / _PREVIEW_SHARE)
        return self._now() - row.previewed_at >= interval * len(self._rows)
