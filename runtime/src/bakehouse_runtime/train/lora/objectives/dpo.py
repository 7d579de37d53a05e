"""Direct preference optimisation: makes better answers likelier relative to worse ones than they
are for the base (https://arxiv.org/abs/2305.18290)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trl import DPOConfig, DPOTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from ..data import to_dataset
from ..evaluated import Evaluated
from .objective import IGNORED, TrainingObjective
from .reference import prepare_reference

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import Trainer

    from ....data.builder import Examples
    from ....device import Device
    from ....protocol import TrainingParameters


# TRL's names for the answers of a pair.
_SIDES = ("chosen", "rejected")
# Measured separately: one is a mean over pairs and the other over tokens.
_LOSS_PARTS = ("dpo_loss", "sft_loss")


class _DpoTrainer(Evaluated, DPOTrainer):
    """Uses the base as the reference, computed in the same batch, so that both have the same
    rounding and differ only by the trained weights."""

    def measure(self, inputs: dict[str, Any], loss: float) -> None:
        measured = self._metrics["eval"]
        pairs = len(inputs["input_ids"]) // 2
        if "sft" in self.loss_types:
            weight = self.loss_weights[self.loss_types.index("sft")]
            tokens = int(inputs["completion_mask"][:pairs, 1:].sum())
            added = -weight * measured["logps/chosen"][-1] * pairs / tokens
            self.record("sft_loss", added, tokens)
            loss -= added
        self.record("dpo_loss", loss, pairs)
        self.record("reward_accuracy", measured["rewards/accuracies"][-1], pairs)
        self.record("reward_margin", measured["rewards/margins"][-1], pairs)

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **options: Any) -> Any:
        output = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **options)
        parts = (output.metrics.pop(f"{metric_key_prefix}_{name}", 0.0) for name in _LOSS_PARTS)
        output.metrics[f"{metric_key_prefix}_loss"] = sum(parts)
        return output


class _Collator:
    """Builds batches as TRL's own collator does: all better answers, then all worse ones, each with
    its question. The labels define which tokens count, at any position."""

    def __init__(self, pad_token_id: int, _limit: int) -> None:
        self._collate = DataCollatorForLanguageModeling(pad_token_id)

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        sequences = [
            {"input_ids": row[f"{side}_ids"], "labels": row[f"{side}_labels"]}
            for side in _SIDES
            for row in rows
        ]
        batch = self._collate(sequences)
        batch["completion_mask"] = (batch.pop("labels") != IGNORED).long()
        return batch


def _dataset(examples: Examples) -> Dataset:
    from datasets import concatenate_datasets

    assert examples.rejected is not None
    sides = zip(_SIDES, (examples, examples.rejected), strict=True)
    return concatenate_datasets(
        [
            to_dataset(one).rename_columns({"input_ids": f"{side}_ids", "labels": f"{side}_labels"})
            for side, one in sides
        ],
        axis=1,
    )


def _arguments(parameters: TrainingParameters, settings: dict[str, Any]) -> DPOConfig:
    losses = {"sigmoid": 1.0}
    if parameters.sft_weight > 0:
        losses["sft"] = parameters.sft_weight
    return DPOConfig(
        **settings,
        # The examples are already cut.
        max_length=None,
        beta=parameters.beta,
        loss_type=list(losses),
        loss_weights=list(losses.values()),
        # It would also disable the requested dropout of the adapter.
        disable_dropout=False,
        # The collator reads columns of its own.
        remove_unused_columns=False,
    )


def _trainer(
    model: Any, adapter: LoraConfig | None, _: TrainingParameters, __: Device, parts: dict[str, Any]
) -> Trainer:
    reference = prepare_reference(model, adapter)
    return _DpoTrainer(model, reference, peft_config=adapter, **parts)


DPO = TrainingObjective(_arguments, _dataset, _Collator, _trainer)
