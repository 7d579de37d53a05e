"""Tests a model on a device with room for some of its parts."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import pytest
import torch
from torch import nn

from bakehouse_runtime.image import residency
from bakehouse_runtime.image.residency import COMPUTING_BYTES, ExpertCache, copy_to, room_for

CPU, GPU = torch.device("cpu"), torch.device("cuda")
STEPS = 14


class Carried(nn.Module):
    """Records the devices that it is moved to."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[str] = []

    def to(self, device: torch.device) -> Carried:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.places.append(device.type)
        return self


@pytest.fixture
def carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residency, "copy_to", lambda part, device: part.to(device))


def moves(room: int, asked: Sequence[int]) -> int:
    """Returns how many of eight parts are moved to the device in some steps that each request these
    parts, after the initial ones."""
    parts = [Carried() for _ in range(8)]
    cache = ExpertCache(parts, GPU, room)
    for _ in range(STEPS):
        for number in asked:
            assert cache.fetch(number) is parts[number]
    assert {place for part in parts for place in part.places} == {"cuda"}
    return sum(len(part.places) for part in parts) - room


@pytest.mark.parametrize("room", [8, 7, 4, 2, 1])
@pytest.mark.usefixtures("carry")
def test_steps_of_all_experts_move_few_parts(room: int) -> None:
    # No policy moves fewer parts than (8 - room) per round if all parts are requested in order.
    # Allow a seventh more.
    assert moves(room, range(8)) <= (8 - room) * STEPS * 8 / 7


@pytest.mark.usefixtures("carry")
def test_frequently_used_experts_stay_on_the_device() -> None:
    assert moves(7, [6, 7]) == 1
    assert moves(2, [6, 7]) == 7


def test_does_not_move_experts_if_all_fit() -> None:
    parts = [Carried() for _ in range(3)]
    cache = ExpertCache(parts, CPU, room_for(parts, CPU))
    for number in (2, 0, 1, 2):
        assert cache.fetch(number) is parts[number]
    assert [len(part.places) for part in parts] == [1, 1, 1]


@pytest.mark.usefixtures("carry")
def test_offloads_an_idle_model_and_reloads_it_on_request() -> None:
    parts = [Carried() for _ in range(3)]
    cache = ExpertCache(parts, GPU, 3)
    cache.offload()
    assert cache.fetch(1) is cache.fetch(1)
    assert [part.places for part in parts] == [
        ["cuda", "cpu"],
        ["cuda", "cpu", "cuda"],
        ["cuda", "cpu"],
    ]


def test_drops_the_copies_of_an_idle_model() -> None:
    parts = [nn.Linear(2, 2) for _ in range(3)]
    cache = ExpertCache(parts, torch.device("meta"), 2)
    copies = [weakref.ref(cache.fetch(number)) for number in (0, 1)]
    assert [copied() is None for copied in copies] == [False, False]
    cache.offload()
    assert [copied() is None for copied in copies] == [True, True]
    assert cache.fetch(1).weight.device.type == "meta"
    assert {part.weight.device for part in parts} == {CPU}


def test_a_copy_has_the_weights_on_the_device_and_leaves_the_original() -> None:
    part = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).eval()
    copied = copy_to(part, torch.device("meta"))
    assert {weight.device.type for weight in copied.state_dict().values()} == {"meta"}
    assert {weight.device.type for weight in part.state_dict().values()} == {"cpu"}
    x = torch.randn(4, 2)
    assert torch.equal(copy_to(part, CPU)(x), part(x))


@pytest.mark.parametrize(
    ("free", "room"), [(-1.0, 1), (0.5, 1), (2.0, 2), (2.9, 2), (3.0, 3), (99.0, 3)]
)
def test_room_on_a_gpu_excludes_the_computing_reserve(
    monkeypatch: pytest.MonkeyPatch, free: float, room: int
) -> None:
    parts = [nn.Linear(10, 10) for _ in range(3)]
    free_bytes = COMPUTING_BYTES + int(free * 440)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free_bytes, 80 << 30))
    assert room_for(parts, GPU) == room
