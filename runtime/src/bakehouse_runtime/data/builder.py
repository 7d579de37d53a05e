"""Collects examples and dropped rows in compact arrays."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from tokenizers import Encoding

    from .conversations import Rendered
    from .table import Dropped
    from .turns import Turn

# Limits of a validation report.
_DROPPED_KEPT = 50
_SAMPLES_KEPT = 5
# A batch is tokenised only after all its rows are read, so rows may be dropped in another order
# than in the file.
_DROPPED_BUFFERED = 2000


def expected_padded_tokens(lengths: NDArray[np.int64], batch_size: int) -> int:
    """Returns the tokens of one epoch in random order, each batch padded to its longest example."""
    if len(lengths) == 0:
        return 0
    whole, rest = divmod(len(lengths), batch_size)
    ascending = np.sort(lengths)
    tokens = rest * _expected_longest(ascending, rest) if rest else 0.0
    if whole:
        tokens += whole * batch_size * _expected_longest(ascending, batch_size)
    return round(tokens)


def padded_tokens(lengths: NDArray[np.int64], batch_size: int) -> int:
    """Returns the tokens of examples in this order, each batch padded to its longest example."""
    if len(lengths) == 0:
        return 0
    starts = np.arange(0, len(lengths), batch_size)
    sizes = np.diff(starts, append=len(lengths))
    return int((np.maximum.reduceat(lengths, starts) * sizes).sum())


def _expected_longest(ascending: NDArray[np.int64], size: int) -> float:
    """Returns the mean longest length of `size` examples drawn at random. The i-th shortest of n is
    the longest in C(i-1, size-1) of C(n, size) draws."""
    count = len(ascending)
    shorter = np.arange(count - 1, size - 1, -1)
    chances = size / count * np.cumprod(np.concatenate([[1.0], (shorter - size + 1) / shorter]))
    return float(ascending[size - 1 :][::-1] @ chances)


@dataclass(frozen=True)
class Examples:
    """Token sequences, concatenated so that millions of them stay small. If they are only counted,
    there are no tokens, and `starts` alone holds their lengths."""

    tokens: NDArray[np.int32]
    # For each token, whether it counts in the loss.
    learnt: NDArray[np.bool_]
    # Example i is tokens[starts[i] : starts[i + 1]].
    starts: NDArray[np.int64]
    # For preference data: the worse answers, one per example.
    rejected: Examples | None = None
    # For rated data: whether the answer of each example is good.
    good: NDArray[np.bool_] | None = None
    # For prompts, to which the model generates answers: the reference of each.
    references: list[str | None] | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def example(self, index: int) -> NDArray[np.int32]:
        return self.tokens[self.starts[index] : self.starts[index + 1]]

    def learnt_of(self, index: int) -> NDArray[np.bool_]:
        """Returns which tokens of one example count in the loss."""
        return self.learnt[self.starts[index] : self.starts[index + 1]]

    def lengths(self) -> NDArray[np.int64]:
        """Returns the token count of each example, without its worse answer."""
        return np.diff(self.starts)

    @property
    def sequences(self) -> int:
        return 1 if self.rejected is None else 2

    def sequence_lengths(self) -> NDArray[np.int64]:
        """Returns the token count of each sequence, worse answers included."""
        others = () if self.rejected is None else (self.rejected.lengths(),)
        return np.concatenate([self.lengths(), *others])

    def longest_of_each(self) -> NDArray[np.int64]:
        """Returns the token count of the longest sequence of each example, to which the others are
        padded."""
        lengths = self.lengths()
        return lengths if self.rejected is None else np.maximum(lengths, self.rejected.lengths())


class SampleTurn(NamedTuple):
    """A turn of an example, and whether any of its tokens counts in the loss."""

    turn: Turn
    learnt: bool


@dataclass(frozen=True)
class Sample:
    """One of the first examples as shown in a report: its turns and tokens."""

    turns: list[SampleTurn]
    tokens: list[int]
    learnt: list[bool]
    # For preference data: the worse answer to the same question.
    rejected: Sample | None = None
    # For rated data: whether the answer is good.
    label: bool | None = None
    # For prompts: the reference of the row, if it has one.
    reference: str | None = None


@dataclass
class DroppedRows:
    """The number of unusable rows, and the first of them."""

    count: int = 0
    first: list[Dropped] = field(default_factory=list)

    def add(self, row: Dropped) -> None:
        self.count += 1
        self.first.append(row)
        if len(self.first) >= _DROPPED_BUFFERED:
            self._cut()

    def by_line(self) -> list[Dropped]:
        """Returns the first ones in line order."""
        self._cut()
        return self.first

    def _cut(self) -> None:
        self.first = sorted(self.first, key=lambda row: row.line)[:_DROPPED_KEPT]


@dataclass
class ExampleBuilder:
    """Collects examples in arrays, which take a thirtieth of the memory of lists. Stores no tokens
    if they are only counted."""

    keeps_tokens: bool = True
    tokens: array[int] = field(default_factory=lambda: array("i"))
    learnt: bytearray = field(default_factory=bytearray)
    starts: array[int] = field(default_factory=lambda: array("q", [0]))
    samples: list[Sample] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def add(self, tokens: list[int], learnt: bytes, turns: list[SampleTurn]) -> None:
        if self.keeps_tokens:
            self.tokens.extend(tokens)
            self.learnt.extend(learnt)
        self.starts.append(self.starts[-1] + len(tokens))
        if len(self.samples) < _SAMPLES_KEPT:
            self.samples.append(Sample(turns, tokens, [bool(one) for one in learnt]))

    def examples(self, order: Iterable[int] | None = None) -> Examples:
        """Returns all examples, or the examples with these numbers in this order."""
        tokens = np.frombuffer(self.tokens, dtype=np.int32)
        learnt = np.frombuffer(self.learnt, dtype=np.bool_)
        starts = np.frombuffer(self.starts, dtype=np.int64)
        if order is None:
            return Examples(tokens, learnt, starts)
        chosen = np.fromiter(order, dtype=np.int64)
        lengths = np.diff(starts)[chosen]
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        if not self.keeps_tokens:
            return Examples(tokens, learnt, ends)
        found = np.empty(ends[-1], dtype=np.int32)
        marked = np.empty(ends[-1], dtype=np.bool_)
        for at, (number, length) in enumerate(zip(chosen, lengths, strict=True)):
            source, target = starts[number], ends[at]
            found[target : target + length] = tokens[source : source + length]
            marked[target : target + length] = learnt[source : source + length]
        return Examples(found, marked, ends)


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
