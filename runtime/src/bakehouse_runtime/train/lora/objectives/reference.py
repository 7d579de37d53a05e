"""Helpers of objectives that compare with the base. With an adapter the reference is the same model
with the adapter disabled; in a full fine-tune it is a copy."""

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
    """Returns the reference model for TRL: None if it is `model` without its adapter."""
    compute_reference_identically(model)
    return None if adapter else copy.deepcopy(model).requires_grad_(False)


def compute_reference_identically(model: Any) -> None:
    """Makes TRL compute model and reference identically, and only at the answers."""
    # Without Triton TRL computes lm_head at all positions, to give compilers constant shapes.
    # Nothing is compiled here, so computing only the answers is enough and gives the same result.
    utils._use_triton = _always
    # Dropout must not randomise the reference.
    utils.disable_dropout_in_model(model)


@contextmanager
def use_reference_model(trainer: Any) -> Iterator[Any]:
    """Within the block, the yielded model computes as the base does."""
    if trainer.ref_model is not None:
        yield trainer.ref_model
        return
    with trainer.accelerator.unwrap_model(trainer.model).disable_adapter():
        yield trainer.model


def _always(_: torch.device) -> bool:
    return True
