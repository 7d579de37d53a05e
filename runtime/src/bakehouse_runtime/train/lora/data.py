"""Converts prepared examples to TRL's datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...data.packing import pack
from .objectives.objective import IGNORED

if TYPE_CHECKING:
    from datasets import Dataset

    from ...data.builder import Examples


def to_packed(examples: Examples, limit: int) -> Dataset:
    """Returns examples packed into sequences of at most `limit` tokens; `seq_lengths` are the
    lengths of the examples in each."""
    import pyarrow as pa
    from datasets import Dataset

    numbers = pack(examples.lengths(), limit)
    order = np.argsort(numbers, kind="stable")
    lengths = examples.lengths()[order]
    tokens = np.concatenate([examples.example(at) for at in order.tolist()])
    learnt = np.concatenate([examples.learnt_of(at) for at in order.tolist()])
    labels = np.where(learnt, tokens, IGNORED).astype(np.int32)
    # The first token of an example has no context of its own.
    labels[np.cumsum(lengths) - lengths] = IGNORED
    of_sequence = np.bincount(numbers)
    ends = [np.cumsum(np.bincount(numbers, weights=examples.lengths())), np.cumsum(of_sequence)]
    of_tokens, of_examples = (pa.array(np.concatenate([[0], one]).astype(np.int64)) for one in ends)
    return Dataset(
        pa.table(
            {
                "input_ids": pa.LargeListArray.from_arrays(of_tokens, pa.array(tokens)),
                "labels": pa.LargeListArray.from_arrays(of_tokens, pa.array(labels)),
                "seq_lengths": pa.LargeListArray.from_arrays(of_examples, pa.array(lengths)),
            }
        )
    )


def to_dataset(examples: Examples) -> Dataset:
    """Returns `input_ids` and `labels`, without a copy of the tokens."""
    import pyarrow as pa
    from datasets import Dataset

    labels = np.where(examples.learnt, examples.tokens, IGNORED).astype(np.int32)
    starts = pa.array(examples.starts)
    return Dataset(
        pa.table(
            {
                "input_ids": pa.LargeListArray.from_arrays(starts, pa.array(examples.tokens)),
                "labels": pa.LargeListArray.from_arrays(starts, pa.array(labels)),
            }
        )
    )
