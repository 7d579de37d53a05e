"""Supervised fine-tuning: the loss of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from peft import get_peft_model
from transformers import set_seed
from trl import SFTConfig, SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from ..data import to_dataset
from ..evaluated import Evaluated
from ..ranks.trainer import OverRanks
from .objective import IGNORED, TrainingObjective

if TYPE_CHECKING:
    from peft import LoraConfig
    from transformers import PreTrainedModel, Trainer

    from ....device import Device
    from ....protocol import TrainingParameters


class _Sft(Evaluated):
    """The held-out loss is the mean over all tokens that count in the loss."""

    def compute_loss(self, model: Any, inputs: dict[str, Any], *args: Any, **options: Any) -> Any:
        return super().compute_loss(model, _for_model(inputs), *args, **options)

    def measure(self, inputs: dict[str, Any], loss: float) -> None:
        self.record("loss", loss, float((inputs["labels"][:, 1:] != IGNORED).sum()))


class _SftTrainer(_Sft, SFTTrainer):
    pass


class _TrainedPositions(OverRanks):
    """TRL's nll loss, from the model's own logits at the trained positions.

    TRL multiplies by `lm_head.weight` itself: on a GPU only at the trained positions, but on a CPU
    at all of them, which for short answers is a third of the work. It also rejects an adapter on
    lm_head, which it would bypass. Here the model computes the logits, only at the trained
    positions.
    """

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        targets = inputs["labels"][:, 1:]
        trained = targets != IGNORED
        positions = trained.any(dim=0).nonzero().squeeze(1)
        read = {name: value for name, value in _for_model(inputs).items() if name != "labels"}
        outputs = model(**read, logits_to_keep=positions, use_cache=False)
        trained = trained[:, positions]
        loss = torch.nn.functional.cross_entropy(
            outputs.logits[trained].float(), targets[:, positions][trained], reduction="sum"
        )
        count = trained.sum() if num_items_in_batch is None else num_items_in_batch
        loss = loss / torch.as_tensor(count).clamp(min=1)
        if num_items_in_batch is not None:
            # The count is the sum over all processes, whose gradients are averaged.
            loss = loss * self.ranks.count
        return (loss, outputs) if return_outputs else loss


class _CpuTrainer(_TrainedPositions, _SftTrainer):
    pass


class _HeadTrainer(_TrainedPositions, _Sft):
    pass


def _arguments(_: TrainingParameters, settings: dict[str, Any]) -> SFTConfig:
    return SFTConfig(
        **settings,
        # The examples are already cut.
        max_length=None,
        loss_type="nll",
        # The examples are already tokenised.
        dataset_kwargs={"skip_prepare_dataset": True},
    )


def _for_model(inputs: dict[str, Any]) -> dict[str, Any]:
    """For packed examples the model must receive positions and no mask; the mask only serves to
    count tokens."""
    return {
        name: value
        for name, value in inputs.items()
        if name != "attention_mask" or "position_ids" not in inputs
    }


class _Collator:
    """TRL's own collators, with positions for packed examples."""

    def __init__(self, pad_token_id: int, _limit: int) -> None:
        self._collate = DataCollatorForLanguageModeling(pad_token_id)
        self._collate_packed = DataCollatorForLanguageModeling(
            pad_token_id, return_position_ids=True
        )

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        return (self._collate_packed if "seq_lengths" in rows[0] else self._collate)(rows)


def _trainer(
    model: Any,
    adapter: LoraConfig | None,
    _: TrainingParameters,
    device: Device,
    parts: dict[str, Any],
) -> Trainer:
    if adapter and "lm_head" in (adapter.target_modules or ()):
        arguments = parts["args"]
        set_seed(arguments.seed)
        arguments.label_names = ["labels"]
        # It does not know the column with the lengths of packed examples.
        arguments.remove_unused_columns = False
        checkpointing = bool(arguments.activation_checkpointing)
        return _HeadTrainer(_with_adapter(model, adapter, checkpointing), **parts)
    kind = _SftTrainer if device == "cuda" else _CpuTrainer
    return kind(model, peft_config=adapter, **parts)


def _with_adapter(model: PreTrainedModel, adapter: LoraConfig, checkpointing: bool) -> Any:
    if checkpointing:
        model.enable_input_require_grads()
    adapted = get_peft_model(model, adapter)
    save = adapted.save_pretrained

    def save_without_base(*args: Any, **options: Any) -> None:
        save(*args, **{**options, "save_embedding_layers": False})

    # PEFT would store the base's whole lm_head in every checkpoint.
    adapted.save_pretrained = save_without_base
    return adapted


SFT = TrainingObjective(_arguments, to_dataset, _Collator, _trainer)
