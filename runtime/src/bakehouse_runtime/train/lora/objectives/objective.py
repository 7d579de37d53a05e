"""The interface of an objective, which `build_trainer` uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasets import Dataset
    from peft import LoraConfig
    from transformers import Trainer, TrainingArguments

    from ....data.builder import Examples
    from ....device import Device
    from ....protocol import TrainingParameters

# PyTorch's label for tokens that do not count in the loss.
IGNORED = -100


class TrainingObjective(NamedTuple):
    """How TRL trains an objective."""

    # Builds its configuration from the settings that all objectives share.
    arguments: Callable[[TrainingParameters, dict[str, Any]], TrainingArguments]
    # Converts the examples to the trainer's dataset.
    dataset: Callable[[Examples], Dataset]
    # Builds the collator from the padding token and the longest sequence.
    collator: Callable[[int, int], Callable[[list[dict[str, Any]]], dict[str, Any]]]
    # Builds the trainer of a base model and its adapter, or of all weights without one, with the
    # arguments that all trainers share.
    trainer: Callable[[Any, LoraConfig | None, TrainingParameters, Device, dict[str, Any]], Trainer]
