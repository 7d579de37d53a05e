"""How processes share the rows of a step: together they read what one alone would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Sampler

from ....base_model import objective_name
from ....errors import PlainError
from ..objectives.objective import IGNORED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from datasets import Dataset

    from ....protocol import TrainingParameters


def share_batch(batch: int, accumulation: int, count: int) -> tuple[int, int]:
    """The batch of each of `count` processes, and how many of these make a step: it has as many
    rows as with one process, and no process has larger batches than that one. Raises PlainError
    where the rows of a step cannot be shared equally."""
    rows, rest = divmod(batch * accumulation, count)
    if rest or rows == 0:
        raise PlainError(
            f"{count} GPUs cannot share the {batch * accumulation} rows of a step (batch size x "
            f"gradient accumulation): make it a multiple of {count}."
        )
    of_each = next(size for size in range(min(batch, rows), 0, -1) if rows % size == 0)
    return of_each, rows // of_each


def shared_settings(parameters: TrainingParameters, count: int) -> dict[str, Any]:
    """Trainer's settings where so many processes train; none where it is one."""
    if count == 1:
        return {}
    if parameters.objective != "sft":
        raise PlainError(f"{objective_name(parameters.objective)} trains on one GPU: choose 1.")
    batch, accumulation = share_batch(
        parameters.batch_size, parameters.gradient_accumulation_steps, count
    )
    return {
        "per_device_train_batch_size": batch,
        "gradient_accumulation_steps": accumulation,
        # Each step trains the whole adapter, and buffers such as rotary frequencies never change.
        "ddp_find_unused_parameters": False,
        "ddp_broadcast_buffers": False,
    }


def with_blank(dataset: Dataset, pad_token_id: int) -> Dataset:
    """The rows, and one after them from which nothing is learnt."""
    from datasets import Dataset, concatenate_datasets

    values = {"input_ids": [pad_token_id], "labels": [IGNORED], "seq_lengths": [1]}
    blank = {name: [values[name]] for name in dataset.column_names}
    return concatenate_datasets([dataset, Dataset.from_dict(blank, features=dataset.features)])


class SharedRows(Sampler[int]):
    """The rows in the order of one process, and after them the blank one, which is the last of the
    dataset, until all processes have equally many whole batches. Accelerate deals the batches out.
    Without a seed the order is that of the file."""

    def __init__(self, rows: int, of_a_round: int, seed: int | None) -> None:
        """`of_a_round`: rows of a batch of each process."""
        self._rows, self._seed, self._epoch = rows, seed, 0
        self._length = -(-rows // of_a_round) * of_a_round

    def set_epoch(self, epoch: int) -> None:
        """Called before each epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[int]:
        if self._seed is None:
            yield from range(self._rows)
        else:
            # As Accelerate's SeedableRandomSampler draws it.
            generator = torch.Generator().manual_seed(self._seed + self._epoch)
            yield from torch.randperm(self._rows, generator=generator).tolist()
        yield from [self._rows] * (self._length - self._rows)
