"""Splits examples into training and held-out ones."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .conversations import Passage, Preference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .conversations import Conversation

    Numbers = NDArray[np.int64]


class SplitKey(NamedTuple):
    """Hashes of a row's question and of its whole text, ignoring spacing and case. Only comparable
    within one process."""

    question: int
    whole: int


def split_key(row: Conversation | Passage) -> SplitKey:
    """Returns the key of a row; the question is everything before the first answer, without system
    prompts."""
    if isinstance(row, Passage):
        key = _text_key(row.text)
        return SplitKey(key, key)
    turns = [turn for turn in row.turns if turn.role != "system"]
    answers = (at for at, turn in enumerate(turns) if turn.role == "assistant")
    answers_at = next(answers, len(turns))
    keys = [_text_key(turn.said) for turn in turns]
    question = hash(tuple(keys[: max(1, answers_at)]))
    if isinstance(row, Preference):
        keys.append(_text_key(row.rejected[-1].said))
    return SplitKey(question, hash(tuple(keys)))


class Split(NamedTuple):
    """Example numbers in the order in which they are used."""

    train: Numbers
    held_out: Numbers


def split_examples(questions: Numbers, wholes: Numbers, part: float, seed: int) -> Split:
    """Holds out about 1 - `part` of the examples, drawn by `seed`; the arrays hold their keys.

    All examples of one question are on the same side, because a held-out question that was also
    trained on would measure nothing. If this holds out too little (for example because every row
    asks the same question about another text), only identical rows stay together. Of a few long
    texts, the shortest is held out, even if it is long.
    """
    wanted = len(questions) - train_count(len(questions), part)
    by_question = _hold_out(questions, wanted, seed)
    if 2 * len(by_question.held_out) >= wanted:
        return by_question
    by_whole = _hold_out(wholes, wanted, seed)
    if len(by_whole.held_out) > 0:
        return by_whole
    sizes = np.unique(wholes, return_counts=True)[1]
    return _hold_out(wholes, sizes.min(), seed) if len(sizes) > 1 else by_whole


def train_count(count: int, part: float) -> int:
    """Returns how many of `count` are trained on: at least one, and at most all but one if there
    are two."""
    return max(1, min(round(count * part), count - 1))


def _hold_out(keys: Numbers, wanted: int, seed: int) -> Split:
    """Holds out at most `wanted` of the examples, with the examples of one key together."""
    _, firsts, by_key, sizes = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    shuffled = list(range(len(firsts)))
    random.Random(seed).shuffle(shuffled)
    # Draws groups by their first appearance, because hashes differ between processes.
    drawn = np.argsort(firsts)[shuffled]
    is_held_out = np.zeros(len(firsts), dtype=bool)
    room = wanted
    for group in drawn[::-1].tolist():
        if sizes[group] <= room:
            is_held_out[group] = True
            room -= sizes[group]
        if room == 0:
            break
    rank = np.empty(len(firsts), dtype=np.int64)
    rank[drawn] = np.arange(len(firsts))
    order = np.argsort(rank[by_key], kind="stable")
    held_out = is_held_out[by_key[order]]
    return Split(order[~held_out], order[held_out])


def _text_key(text: str) -> int:
    return hash(" ".join(text.casefold().split()))
