"""Shares the rows of a step between processes: together they read the rows that one process
would."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Sampler

from ....errors import PlainError
from ..objectives.objective import IGNORED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from datasets import Dataset

    from ....protocol import TrainingParameters


def share_batch(batch: int, accumulation: int, count: int) -> tuple[int, int]:
    """Returns the batch size of each of `count` processes, and the number of batches per step. A
    step has as many rows as with one process, and batches are no larger. Raises PlainError if the
    rows of a step cannot be shared equally."""
    rows, rest = divmod(batch * accumulation, count)
    if rest or rows == 0:
        raise PlainError(
            f"{count} GPUs cannot share the {batch * accumulation} rows of a step (batch size x "
            f"gradient accumulation): make it a multiple of {count}."
        )
    of_each = next(size for size in range(min(batch, rows), 0, -1) if rows % size == 0)
    return of_each, rows // of_each


def shared_settings(parameters: TrainingParameters, count: int) -> dict[str, Any]:
    """Returns Trainer's settings for `count` processes; empty for one."""
    if count == 1:
        return {}
    batch, accumulation = share_batch(
        parameters.batch_size, parameters.gradient_accumulation_steps, count
    )
    if parameters.objective == "kto" and batch < 2:
        raise PlainError(
            f"KTO compares the answers of a batch, and each of {count} GPUs would get one: choose "
            f"a batch size of {2 * count} or more."
        )
    return {
        "per_device_train_batch_size": batch,
        "gradient_accumulation_steps": accumulation,
        # Each step trains the whole adapter, and buffers such as rotary frequencies never change.
        "ddp_find_unused_parameters": False,
        "ddp_broadcast_buffers": False,
    }


def with_blank(dataset: Dataset, pad_token_id: int) -> Dataset:
    """Appends a blank row that does not count in the loss."""
    from datasets import Dataset, concatenate_datasets

    values = {"input_ids": [pad_token_id], "labels": [IGNORED], "seq_lengths": [1]}
    blank = {name: [values[name]] for name in dataset.column_names}
    return concatenate_datasets([dataset, Dataset.from_dict(blank, features=dataset.features)])


class SharedRows(Sampler[int]):
    """Yields the rows in the order of a single process, then repeats the blank row, or the first
    rows without one, until all processes have equally many full batches. Accelerate distributes
    the batches. Without a seed the order is the file's."""

    def __init__(
        self, rows: int, of_a_round: int, seed: int | None, blank: int | None = None
    ) -> None:
        """`of_a_round`: rows of one batch of each process. `blank`: the position of the blank
        row."""
        self._rows, self._seed, self._blank, self._epoch = rows, seed, blank, 0
        self._length = -(-rows // of_a_round) * of_a_round

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        order = list(range(self._rows))
        if self._seed is not None:
            # The same order as Accelerate's SeedableRandomSampler.
            generator = torch.Generator().manual_seed(self._seed + self._epoch)
            order = torch.randperm(self._rows, generator=generator).tolist()
        yield from order
        added = order if self._blank is None else [self._blank]
        yield from islice(cycle(added), self._length - self._rows)
