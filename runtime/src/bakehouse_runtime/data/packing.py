"""Packs several examples into one sequence to reduce padding."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .split import Numbers


def pack(lengths: Numbers, limit: int) -> Numbers:
    """Returns the sequence number of each example by best-fit decreasing. No sequence is longer
    than `limit`, no example is cut."""
    found = np.empty(len(lengths), dtype=np.int64)
    count = 0
    # The sequences by their remaining room, and those rooms in ascending order.
    by_room: dict[int, list[int]] = defaultdict(list)
    rooms: list[int] = []
    for example in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[example])
        at = bisect_left(rooms, length)
        if at == len(rooms):
            sequence, room = count, limit
            count += 1
        else:
            room = rooms[at]
            sequence = by_room[room].pop()
            if not by_room[room]:
                del rooms[at]
        found[example] = sequence
        left = room - length
        if left > 0:
            if not by_room[left]:
                insort(rooms, left)
            by_room[left].append(sequence)
    return found


def packed_lengths(lengths: Numbers, limit: int) -> Numbers:
    """Returns the token count of each packed sequence."""
    return np.bincount(pack(lengths, limit), weights=lengths).astype(np.int64)
