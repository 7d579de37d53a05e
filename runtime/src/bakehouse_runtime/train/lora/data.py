"""Prepared examples as the datasets that TRL trains on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .objectives.objective import IGNORED

if TYPE_CHECKING:
    from datasets import Dataset

    from ...data.builder import Examples


def to_dataset(examples: Examples) -> Dataset:
    """`input_ids` and `labels`, without a copy of the tokens."""
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
