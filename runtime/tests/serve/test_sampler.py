"""The thread that draws, without calls in front of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import torch

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.pipeline import ParisDrawing, ParisPipeline, ParisRequest
from bakehouse_runtime.serve.sampler import Failed, Job, Sampler, Stepped
from image.tiny import write_tiny_paris

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bakehouse_runtime.serve.sampler import Event


def test_the_model_is_loaded_by_the_thread_that_draws(tmp_path: Path) -> None:
    folder = write_tiny_paris(tmp_path / "paris")
    computed: list[int] = []

    class Noting(ParisPipeline):
        def step(self, drawings: Sequence[ParisDrawing]) -> None:
            computed.append(threading.get_ident())
            super().step(drawings)

    def load() -> Noting:
        computed.append(threading.get_ident())
        paris = Noting.from_folder(folder, torch.device("cpu"))
        assert isinstance(paris, Noting)
        return paris

    sampler = Sampler(load, 1)
    job = Job(ParisRequest("", seed=0, steps=1), 0)
    sampler.submit(job)
    job.take(60)
    assert sampler.close(60)
    assert len(computed) == 2
    assert len({*computed, threading.get_ident()}) == 2


def test_a_model_that_cannot_be_loaded_is_no_sampler() -> None:
    def load() -> ParisPipeline:
        raise PlainError("It holds no expert_0.")

    with pytest.raises(PlainError, match="It holds no expert_0"):
        Sampler(load, 1)


def test_only_the_last_event_of_a_job_wakes_who_waits() -> None:
    job = Job(None, preview_every=0)
    expected: list[Event] = [Stepped(1, None, None), Stepped(2, None, None), Failed("no")]
    job.put(expected[0])
    # With the first event in place, and with time left for the others.
    threading.Timer(0.2, lambda: [job.put(event) for event in expected[1:]]).start()
    assert job.take(60) == expected
    assert job.take(60) == []
