"""What of a model lies on a device that has no room for all of it, or has nothing to do."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Generic, TypeVar

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


class Residents(Generic[Part]):
    """Parts by number, on the device when they are asked for; the one that was asked for longest
    ago makes room for the next. Where all fit, all are there from the beginning."""

    def __init__(self, parts: Sequence[Part], device: torch.device, room: int) -> None:
        self._parts = parts
        self._device = device
        self._room = room
        self._resident: OrderedDict[int, None] = OrderedDict()
        for number in range(room):
            self.fetch(number)

    def fetch(self, number: int) -> Part:
        """The part, on the device."""
        part = self._parts[number]
        if number in self._resident:
            self._resident.move_to_end(number)
            return part
        if len(self._resident) == self._room:
            oldest, _ = self._resident.popitem(last=False)
            self._parts[oldest].to(CPU)
        self._resident[number] = None
        return part.to(self._device)


def free_cache(device: torch.device) -> None:
    """Gives the device's memory that torch keeps for later back to it."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
