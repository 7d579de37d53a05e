"""What an objective is made of: a row of the table that `build_trainer` reads."""

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

# What the loss leaves out, by PyTorch's convention.
IGNORED = -100


class TrainingObjective(NamedTuple):
    """How TRL trains for it."""

    # Its configuration, by the settings that all have.
    arguments: Callable[[TrainingParameters, dict[str, Any]], TrainingArguments]
    # The examples as its trainer reads them.
    dataset: Callable[[Examples], Dataset]
    # What makes a batch of their rows, by the token that fills them up and the longest sequence.
    collator: Callable[[int, int], Callable[[list[dict[str, Any]]], dict[str, Any]]]
    # The trainer of a base model and its adapter, or of all weights where there is none; the rest
    # is what all trainers take.
    trainer: Callable[[Any, LoraConfig | None, TrainingParameters, Device, dict[str, Any]], Trainer]
