"""What objectives share that compare what is trained with the base. With an adapter the base is the
same model with the adapter switched off; where all weights are trained, a copy of it."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trl.trainer import utils

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from peft import LoraConfig


def prepare_reference(model: Any, adapter: LoraConfig | None) -> Any | None:
    """The model to compare with, as TRL takes it: None where that is `model` without adapter."""
    compare_alike(model)
    return None if adapter else copy.deepcopy(model).requires_grad_(False)


def compare_alike(model: Any) -> None:
    """Has TRL read both alike, and only where answers are."""
    # Without Triton TRL multiplies by lm_head at all positions, for compilers that want the same
    # shapes in each step. Nothing compiles here: the answers' are enough, and give the same.
    utils._use_triton = _always
    # The reference must not be drawn anew in each step.
    utils.disable_dropout_in_model(model)


@contextmanager
def read_reference(trainer: Any) -> Iterator[Any]:
    """The model that answers as the base within the block."""
    if trainer.ref_model is not None:
        yield trainer.ref_model
        return
    with trainer.accelerator.unwrap_model(trainer.model).disable_adapter():
        yield trainer.model


def _always(_: torch.device) -> bool:
    return True
