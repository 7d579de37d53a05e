"""Cuts a rendered conversation to a chunk, and marks the tokens that count in the loss."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from .builder import SampleTurn

if TYPE_CHECKING:
    from tokenizers import Encoding

    from .conversations import Rendered
    from .turns import Turn


class Cut(NamedTuple):
    """A conversation up to the end of the chunk."""

    tokens: list[int]
    # A 1 for each token that counts in the loss.
    learnt: bytes
    turns: list[SampleTurn]
    # The turns before its last answer.
    asked: list[Turn]
    is_truncated: bool


def cut_conversation(
    turns: list[Turn], rendered: Rendered, encoding: Encoding, limit: int
) -> Cut | None:
    """Returns the first `limit` tokens, or None if no answer begins within them."""
    ids = encoding.ids
    learnt = bytearray(len(ids))
    offsets: list[tuple[int, int]] = encoding.offsets
    learnt_turns: set[int] = set()
    for (start, end), turn in zip(rendered.learnt, rendered.learnt_turns, strict=True):
        # A token that extends beyond the answer does not belong to it.
        first = bisect_left(offsets, (start, 0))
        last = bisect_right(offsets, end, key=_end_of)
        learnt[first:last] = b"\1" * (last - first)
        if first < last and first < limit:
            learnt_turns.add(turn)
    if 1 not in learnt[:limit]:
        return None
    is_truncated = len(ids) > limit
    kept = turns[: max(learnt_turns) + 1] if is_truncated else turns
    return Cut(
        ids[:limit],
        bytes(learnt[:limit]),
        [SampleTurn(turn, at in learnt_turns) for at, turn in enumerate(kept)],
        turns[: max(learnt_turns)],
        is_truncated,
    )


def _end_of(offset: tuple[int, int]) -> int:
    return offset[1]
