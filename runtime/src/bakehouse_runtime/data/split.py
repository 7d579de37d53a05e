"""Which rows are trained on and which are held out."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class PairKey(NamedTuple):
    """What a row asks, and what it asks and answers, as numbers: equal for equal texts, however
    they are spaced and whether in capitals."""

    question: int
    pair: int


def pair_key(question: str, answer: str) -> PairKey:
    """The keys of a row; they mean nothing in another process."""
    asked, answered = (" ".join(text.casefold().split()) for text in (question, answer))
    return PairKey(hash(asked), hash((asked, answered)))


class Split(NamedTuple):
    """Numbers of rows in the order in which they are used."""

    train: list[int]
    held_out: list[int]
    # Rows whose question stood in an earlier row.
    repeated: int


def split_rows(rows: Sequence[PairKey], part: float, seed: int) -> Split:
    """Holds out about 1 - `part` of the rows, drawn by `seed`.

    All rows of one question fall on the same side: what was trained on would measure nothing. Where
    that leaves too little to hold out, as when every row asks the same of another text, only those
    that answer alike too are kept together.
    """
    wanted = len(rows) - train_count(len(rows), part)
    repeated = len(rows) - len({row.question for row in rows})
    by_question = _hold_out([row.question for row in rows], wanted, seed)
    if repeated == 0 or 2 * len(by_question[1]) >= wanted:
        return Split(*by_question, repeated)
    return Split(*_hold_out([row.pair for row in rows], wanted, seed), repeated)


def train_count(count: int, part: float) -> int:
    """How many of `count` are trained on: at least one, and all but one if there are two."""
    return max(1, min(round(count * part), count - 1))


def _hold_out(keys: list[int], wanted: int, seed: int) -> tuple[list[int], list[int]]:
    """At most `wanted` of the rows held out, those of one key together."""
    groups: dict[int, list[int]] = {}
    for row, key in enumerate(keys):
        groups.setdefault(key, []).append(row)
    shuffled = list(groups.values())
    random.Random(seed).shuffle(shuffled)
    train: list[int] = []
    held_out: list[int] = []
    for group in reversed(shuffled):
        fits = len(held_out) + len(group) <= wanted
        (held_out if fits else train).extend(reversed(group))
    return train[::-1], held_out[::-1]
