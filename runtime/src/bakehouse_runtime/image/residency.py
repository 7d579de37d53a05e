"""Moves parts of a model to and from a device without room for all of it, or while it is idle."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import torch
from torch import nn

Part = TypeVar("Part", bound=nn.Module)

CPU = torch.device("cpu")
# Reserve of a GPU's free memory for a step and the autoencoder.
COMPUTING_BYTES = 4 << 30


def room_for(parts: Sequence[nn.Module], device: torch.device) -> int:
    """Returns how many of these equally large parts fit on the device: at least one, and all if it
    is no GPU."""
    if device.type != "cuda":
        return len(parts)
    size = sum(weight.nbytes for weight in parts[0].parameters())
    free, _ = torch.cuda.mem_get_info(device)
    return max(1, min(len(parts), (free - COMPUTING_BYTES) // size))


class ExpertCache(Generic[Part]):
    """Loads numbered parts to the device on demand. If all parts fit, it moves them to the device.
    Otherwise it copies them and keeps the originals. Copies never change, so a copy can be dropped
    to make room. It starts with as many parts as fit.

    Each step requests its parts in ascending order.
    """

    def __init__(self, parts: Sequence[Part], device: torch.device, room: int) -> None:
        self._parts = parts
        self._device = device
        self._room = room
        self._on_device: dict[int, Part] = {}
        # The call at which each part was last requested.
        self._asked_at: dict[int, int] = {}
        self._calls = 0
        for number in range(min(room, len(parts))):
            self.fetch(number)

    def fetch(self, number: int) -> Part:
        """Returns the part, on the device."""
        self._calls += 1
        if number not in self._on_device:
            if len(self._on_device) == self._room:
                del self._on_device[self._next_to_go()]
            self._on_device[number] = self._brought(self._parts[number])
        self._asked_at[number] = self._calls
        return self._on_device[number]

    def offload(self) -> None:
        """Moves all parts off the device; each returns on its next request."""
        for part in self._parts:
            part.to(CPU)
        self._on_device.clear()

    def _brought(self, part: Part) -> Part:
        has_room_for_all = self._room >= len(self._parts)
        return part.to(self._device) if has_room_for_all else copy_to(part, self._device)

    def _next_to_go(self) -> int:
        """Returns the part to evict. A part that recent steps did not request is evicted first. If
        every step requests all parts in order, the most recently used part is evicted, because it
        is needed again last."""
        oldest = min(self._on_device, key=self._asked_at.__getitem__)
        if self._calls - self._asked_at[oldest] >= len(self._parts):
            return oldest
        return max(self._on_device, key=self._asked_at.__getitem__)


def copy_to(part: Part, device: torch.device) -> Part:
    """Returns a copy of the part with its weights on the device; the original stays."""
    copies: dict[int, Any] = {
        id(weight): nn.Parameter(weight.to(device), requires_grad=False)
        for weight in part.parameters()
    }
    copies |= {id(buffer): buffer.to(device) for buffer in part.buffers()}
    # A deep copy reuses the objects in its memo.
    return copy.deepcopy(part, copies)


def free_cache(device: torch.device) -> None:
    """Releases the device memory that torch caches."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
