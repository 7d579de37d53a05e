"""What of a model lies on a device that has no room for all of it, or has nothing to do."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import torch
from torch import nn

Part = TypeVar("Part", bound=nn.Module)

CPU = torch.device("cpu")
# Of a GPU's free memory, for what a step and the autoencoder compute.
COMPUTING_BYTES = 4 << 30


def room_for(parts: Sequence[nn.Module], device: torch.device) -> int:
    """How many of these parts of one size the device holds beside what is there: at least one, and
    all where it is no GPU."""
    if device.type != "cuda":
        return len(parts)
    size = sum(weight.nbytes for weight in parts[0].parameters())
    free, _ = torch.cuda.mem_get_info(device)
    return max(1, min(len(parts), (free - COMPUTING_BYTES) // size))


class ExpertCache(Generic[Part]):
    """Parts by number, on the device when they are asked for. Where all fit, they are moved there.
    Where not, copies are there: nothing changes them, so that one that makes room is dropped. As
    many as there is room for are there from the beginning.

    Each step asks for the parts that it needs in ascending order."""

    def __init__(self, parts: Sequence[Part], device: torch.device, room: int) -> None:
        self._parts = parts
        self._device = device
        self._room = room
        self._on_device: dict[int, Part] = {}
        # When each was last asked for, counted in calls.
        self._asked_at: dict[int, int] = {}
        self._calls = 0
        for number in range(min(room, len(parts))):
            self.fetch(number)

    def fetch(self, number: int) -> Part:
        """The part, on the device."""
        self._calls += 1
        if number not in self._on_device:
            if len(self._on_device) == self._room:
                del self._on_device[self._next_to_go()]
            self._on_device[number] = self._brought(self._parts[number])
        self._asked_at[number] = self._calls
        return self._on_device[number]

    def offload(self) -> None:
        """Leaves the device; each part is back when it is asked for next."""
        for part in self._parts:
            part.to(CPU)
        self._on_device.clear()

    def _brought(self, part: Part) -> Part:
        has_room_for_all = self._room >= len(self._parts)
        return part.to(self._device) if has_room_for_all else copy_to(part, self._device)

    def _next_to_go(self) -> int:
        """One that steps no longer ask for; where they ask for all, the one that was just used: its
        turn comes after that of all others."""
        oldest = min(self._on_device, key=self._asked_at.__getitem__)
        if self._calls - self._asked_at[oldest] >= len(self._parts):
            return oldest
        return max(self._on_device, key=self._asked_at.__getitem__)


def copy_to(part: Part, device: torch.device) -> Part:
    """The part with its weights on the device; itself it stays where it is."""
    copies: dict[int, Any] = {
        id(weight): nn.Parameter(weight.to(device), requires_grad=False)
        for weight in part.parameters()
    }
    copies |= {id(buffer): buffer.to(device) for buffer in part.buffers()}
    # What the memo of a deep copy knows already is not copied.
    return copy.deepcopy(part, copies)


def free_cache(device: torch.device) -> None:
    """Gives the device's memory that torch keeps for later back to it."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
