"""Which examples are put together into one sequence, so that little has to be filled up."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .split import Numbers


def pack(lengths: Numbers, limit: int) -> Numbers:
    """The number of the sequence of each example: the longest examples first, each where it leaves
    the least room (best fit decreasing). No sequence is longer than `limit`, no example is cut."""
    found = np.empty(len(lengths), dtype=np.int64)
    count = 0
    # The sequences by the room that they have, and that room in ascending order.
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
    """Tokens of each sequence that these examples are packed into."""
    return np.bincount(pack(lengths, limit), weights=lengths).astype(np.int64)
