"""Reward modeling: a head on the base scores each better answer above the worse one, by the loss of
Bradley and Terry (https://arxiv.org/abs/2203.02155)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trl import RewardConfig, RewardTrainer
from trl.trainer.reward_trainer import DataCollatorForPreference
from trl.trainer.utils import disable_dropout_in_model

from ..data import to_dataset
from ..evaluated import Evaluated
from .objective import TrainingObjective

if TYPE_CHECKING:
    from collections.abc import Callable

    from datasets import Dataset
    from peft import LoraConfig
    from transformers import Trainer

    from ....data.builder import Examples
    from ....device import Device
    from ....protocol import TrainingParameters, TrainTextSpec


class _RewardTrainer(Evaluated, RewardTrainer):
    def create_model_card(self, *_: Any, **__: Any) -> None:
        """TRL writes a card into every checkpoint; ours is written once, by `export`."""

    def measure(self, inputs: dict[str, Any], loss: float) -> None:
        measured = self._metrics["eval"]
        pairs = len(inputs["input_ids"]) // 2
        self.note("loss", loss, pairs)
        self.note("reward_accuracy", measured["accuracy"][-1], pairs)
        self.note("reward_margin", measured["margin"][-1], pairs)


def _dataset(examples: Examples) -> Dataset:
    """The tokens of both answers, each after its question."""
    from datasets import concatenate_datasets

    assert examples.rejected is not None
    sides = {"chosen_ids": examples, "rejected_ids": examples.rejected}
    return concatenate_datasets(
        [
            to_dataset(one).select_columns("input_ids").rename_column("input_ids", name)
            for name, one in sides.items()
        ],
        axis=1,
    )


def _collator(pad_token_id: int, _limit: int) -> Callable[[list[dict[str, Any]]], Any]:
    return DataCollatorForPreference(pad_token_id)


def _arguments(_: TrainingParameters, settings: dict[str, Any]) -> RewardConfig:
    # Its loss is that of the scores alone.
    known = {name: one for name, one in settings.items() if name != "router_aux_loss_coef"}
    return RewardConfig(
        **known,
        # The examples come cut.
        max_length=None,
        # It would switch off the adapter's too, which is asked for.
        disable_dropout=False,
    )


def _trainer(
    model: Any, adapter: LoraConfig | None, _: TrainTextSpec, __: Device, parts: dict[str, Any]
) -> Trainer:
    assert adapter is not None
    disable_dropout_in_model(model)
    # It is trained, which PEFT makes no wider.
    model.score.float()
    # With it PEFT trains the head as well, and saves it beside the adapter.
    return _RewardTrainer(model, peft_config=replace(adapter, task_type="SEQ_CLS"), **parts)


REWARD = TrainingObjective(_arguments, _dataset, _collator, _trainer, scores=True)
