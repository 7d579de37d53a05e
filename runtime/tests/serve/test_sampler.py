"""Tests the sampling thread without an HTTP server."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
import torch
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.pipeline import (
    ParisPipeline,
    ParisRequest,
    ParisSampling,
)
from bakehouse_runtime.image.sampling import Generated
from bakehouse_runtime.serve import sampler as sampler_module
from bakehouse_runtime.serve.sampler import Done, Failed, Job, Sampler, Stepped
from image.tiny import write_tiny_paris

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakehouse_runtime.serve.sampler import Event


def until_ended(job: Job) -> list[Event]:
    """Returns all events of the job."""
    assert job.wait(60)
    return job.take()


def test_loads_the_model_in_the_sampling_thread(tmp_path: Path) -> None:
    folder = write_tiny_paris(tmp_path / "paris")
    computed: list[int] = []

    class Noting(ParisPipeline):
        def step(self, samplings: Sequence[ParisSampling]) -> None:
            computed.append(threading.get_ident())
            super().step(samplings)

    def load() -> Noting:
        computed.append(threading.get_ident())
        paris = Noting.from_folder(folder, torch.device("cpu"))
        assert isinstance(paris, Noting)
        return paris

    sampler = Sampler(load, 1)
    job = Job(ParisRequest("", seed=0, steps=1), 0)
    sampler.submit(job)
    until_ended(job)
    assert sampler.close(60)
    assert len(computed) == 2
    assert len({*computed, threading.get_ident()}) == 2


def test_a_load_error_ends_the_sampler() -> None:
    def load() -> ParisPipeline:
        raise PlainError("It holds no expert_0.")

    sampler = Sampler(load, 1)
    assert sampler.close(60)
    assert not sampler.is_loaded
    with pytest.raises(PlainError, match="It holds no expert_0"):
        sampler.raise_if_ended()


def test_creating_a_sampler_does_not_wait_for_its_model() -> None:
    opened = threading.Event()

    def load() -> Sketcher:
        assert opened.wait(60)
        return Sketcher()

    sampler = Sampler(load, 1)
    assert not sampler.is_loaded
    # The sampler cannot be stopped while it loads; its thread ends after loading.
    assert not sampler.close(0.01)
    opened.set()
    assert sampler.close(60)
    assert sampler.is_loaded


def test_only_the_last_event_of_a_job_wakes_the_waiting_thread() -> None:
    job = Job(None, preview_every=0)
    expected: list[Event] = [Stepped(1, None, None), Stepped(2, None, None), Failed("no")]
    job.put(expected[0])
    # The first event does not wake the thread, so the other events are added before it reads.
    threading.Timer(0.2, lambda: [job.put(event) for event in expected[1:]]).start()
    assert until_ended(job) == expected
    assert job.take() == []


class Sketch:
    """A sampling without computation."""

    expert_weights = None
    steps = 10

    def __init__(self, request: object) -> None:
        self.request = request
        self.steps_done = 0

    @property
    def is_done(self) -> bool:
        return self.steps_done == self.steps


class Sketcher:
    """A model with its own clock, on which a step takes an eighth of a second. It starts no request
    before `open` is set."""

    medium = "picture"

    def __init__(self, preview_s: float = 0.0) -> None:
        self.seconds = 0.0
        self.preview_s = preview_s
        self.offloads = 0
        self.open = threading.Event()

    def prepared(self, request: object) -> object:
        return request

    def begin(self, request: object) -> Sketch:
        assert self.open.wait(60)
        return Sketch(request)

    def step(self, samplings: Sequence[Sketch]) -> None:
        self.seconds += 0.125
        for sampling in samplings:
            sampling.steps_done += 1

    def finish(self, samplings: Sequence[Sketch]) -> list[Generated]:
        return [Generated(self.preview(sampling), 0, 1.0) for sampling in samplings]

    def preview(self, sampling: Sketch) -> Image.Image:
        self.seconds += self.preview_s
        return Image.new("RGB", (1, 1))

    def offload(self) -> None:
        self.offloads += 1


@pytest.mark.parametrize(
    ("together", "preview_s", "previewed"),
    # 8 ms is a fiftieth of 0.4 s.
    [(1, 0.0, [3, 6, 9]), (2, 0.0, [6]), (1, 0.008, [3, 7])],
)
def test_limits_the_rate_and_cost_of_previews(
    together: int, preview_s: float, previewed: list[int]
) -> None:
    sketcher = Sketcher(preview_s)
    sampler = Sampler(lambda: sketcher, together, now=lambda: sketcher.seconds)
    jobs = [Job(None, preview_every=1) for _ in range(together)]
    for job in jobs:
        sampler.submit(job)
    sketcher.open.set()
    for job in jobs:
        steps = [event for event in until_ended(job) if isinstance(event, Stepped)]
        assert len(steps) == Sketch.steps
        assert [event.step for event in steps if event.preview] == previewed
    assert sampler.close(60)


def test_offloads_an_idle_model_once_until_the_next_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampler_module, "_OFFLOAD_AFTER_S", 0.02)
    sketcher = Sketcher()
    sketcher.open.set()
    sampler = Sampler(lambda: sketcher, 1)
    for offloads in (1, 2):
        until = time.monotonic() + 60
        while sketcher.offloads < offloads:
            assert time.monotonic() < until
            time.sleep(0.005)
        time.sleep(0.1)
        assert sketcher.offloads == offloads
        job = Job(None, preview_every=0)
        sampler.submit(job)
        assert isinstance(until_ended(job)[-1], Done)
    assert sampler.close(60)


def test_a_request_that_cannot_start_does_not_affect_others() -> None:
    class Refuser(Sketcher):
        def begin(self, request: object) -> Sketch:
            if request == "odd":
                message = "a type that nobody knows"
                raise TypeError(message)
            return Sketch(request)

    sampler = Sampler(Refuser, 2)
    jobs = [Job("odd", preview_every=0), Job("plain", preview_every=0)]
    for job in jobs:
        sampler.submit(job)
    odd, plain = (until_ended(job) for job in jobs)
    assert odd == [Failed("The picture could not be started.")]
    assert isinstance(plain[-1], Done)
    assert sampler.close(60)


class Stumbler(Sketcher):
    """Fails for requests with 'odd': at a step, or at the end."""

    def step(self, samplings: Sequence[Sketch]) -> None:
        for sampling in samplings:
            if sampling.request == "odd step" and sampling.steps_done == 2:
                raise RuntimeError("a shape that does not fit")
            sampling.steps_done += 1

    def finish(self, samplings: Sequence[Sketch]) -> list[Generated]:
        if samplings[0].request == "odd end":
            raise RuntimeError("too large to be decoded")
        return super().finish(samplings)


@pytest.mark.parametrize("request_", ["odd step", "odd end"])
def test_a_picture_that_cannot_be_generated_does_not_affect_others(request_: str) -> None:
    sketcher = Stumbler()
    sampler = Sampler(lambda: sketcher, 3)
    jobs = [Job(request, preview_every=0) for request in ("plain", request_, "plain")]
    for job in jobs:
        sampler.submit(job)
    sketcher.open.set()
    first, odd, last = (until_ended(job) for job in jobs)
    assert odd[-1] == Failed("The picture could not be generated.")
    for events in (first, last):
        assert [event.step for event in events if isinstance(event, Stepped)] == [*range(1, 11)]
        assert isinstance(events[-1], Done)
    assert sampler.close(60)


def test_a_broken_accelerator_ends_the_sampler() -> None:
    class Broken(Sketcher):
        def step(self, samplings: Sequence[Sketch]) -> None:
            raise torch.AcceleratorError("an illegal memory access")

    sketcher = Broken()
    sketcher.open.set()
    sampler = Sampler(lambda: sketcher, 1)
    job = Job(None, preview_every=0)
    sampler.submit(job)
    assert until_ended(job)[-1] == Failed("The model server failed.")
    with pytest.raises(torch.AcceleratorError):
        sampler.raise_if_ended()


def test_steps_continue_under_a_flood_of_requests() -> None:
    ended = threading.Event()

    class Flooded(Sketcher):
        """While this model starts a request, the next request arrives."""

        def begin(self, request: object) -> Sketch:
            if not ended.is_set():
                sampler.submit(Job(request, 0))
            return super().begin(request)

    model = Flooded()
    sampler = Sampler(lambda: model, 1)
    first = Job("first", 0)
    sampler.submit(first)
    model.open.set()
    try:
        assert isinstance(until_ended(first)[-1], Done)
    finally:
        ended.set()
        assert sampler.close(60)
