"""Kahneman-Tversky optimisation: makes good answers likelier and bad ones less likely than they are
for the base, each row separately (https://arxiv.org/abs/2402.01306)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from trl import KTOConfig, KTOTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from ....errors import PlainError
from ..data import to_dataset
from ..evaluated import Evaluated
from .objective import IGNORED, TrainingObjective
from .reference import prepare_reference, use_reference_model

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import Trainer

    from ....data.builder import Examples
    from ....device import Device
    from ....protocol import TrainingParameters

# TRL's prefix for answers paired with other questions.
_OTHER = "KL_"


class _Measured(NamedTuple):
    """Held-out rows: whether they are good, and the gain in log-likelihood over the base for their
    own answers and for answers to other questions."""

    good: torch.Tensor
    gained: torch.Tensor
    drifted: torch.Tensor


class _KtoTrainer(Evaluated, KTOTrainer):
    """Uses the base as the reference, computed in the same batch, so that both have the same
    rounding and differ only by the trained weights."""

    _measured: list[_Measured]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # TRL pairs answers with other questions in advance and requires the same order in each
        # epoch; our collator pairs rows of any batch.
        self.args.train_sampling_strategy = "random"

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any
    ) -> tuple[torch.Tensor, None, None]:
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            tuned = [_log_likelihoods(model, inputs, prefix) for prefix in ("", _OTHER)]
            with use_reference_model(self) as reference:
                base = [_log_likelihoods(reference, inputs, prefix) for prefix in ("", _OTHER)]
        gained, drifted = (one - other for one, other in zip(tuned, base, strict=True))
        self._measured.append(_Measured(inputs["label"], gained.double(), drifted.double()))
        return torch.zeros(()), None, None

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **options: Any) -> Any:
        self._measured = []
        output: Any = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **options)
        measures = self._measures() if self._measured else {}
        for name, value in measures.items():
            output.metrics[f"{metric_key_prefix}_{name}"] = float(value)
        return output

    def _measures(self) -> dict[str, torch.Tensor]:
        """Returns measurements over all held-out rows. The model's drift is estimated once from all
        rows, where TRL estimates it per batch."""
        good, gained, drifted = map(torch.cat, zip(*self._measured, strict=True))
        moved = drifted.mean().clamp(min=0)
        ahead = torch.where(good, gained - moved, moved - gained)
        weights = torch.where(good, self.desirable_weight, self.undesirable_weight)
        measures = {"loss": (weights * (1 - torch.sigmoid(self.beta * ahead))).mean()}
        if good.any() and not good.all():
            better, worse = gained[good], gained[~good]
            # Over all pairs of a good and a bad answer.
            measures["reward_accuracy"] = (better[:, None] > worse).double().mean()
            measures["reward_margin"] = self.beta * (better.mean() - worse.mean())
        return measures


def _log_likelihoods(model: Any, batch: dict[str, Any], prefix: str) -> torch.Tensor:
    """Returns the log-likelihood of each answer, as in TRL's loss."""
    ids = batch[f"{prefix}input_ids"]
    labels = ids.masked_fill(batch[f"{prefix}completion_mask"] == 0, IGNORED)
    output = model(
        input_ids=ids,
        attention_mask=batch[f"{prefix}attention_mask"],
        labels=labels,
        use_cache=False,
        fused_lm_head=True,
    )
    return output.log_probs.sum(-1)


class _Collator:
    """Builds batches as TRL's own collator does: the rows, and their questions with the answer of
    another row: the previous row in the batch, unless the row specifies one."""

    def __init__(self, pad_token_id: int, limit: int) -> None:
        self._collate = DataCollatorForLanguageModeling(pad_token_id)
        self._limit = limit

    def __call__(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        before = [rows[-1], *rows[:-1]]
        others = [
            {
                name: [*_question(row, name), *_answer(_named(row, other), name)][: self._limit]
                for name in ("input_ids", "labels")
            }
            for row, other in zip(rows, before, strict=True)
        ]
        return {
            **self._padded([{name: row[name] for name in ("input_ids", "labels")} for row in rows]),
            **{f"{_OTHER}{name}": value for name, value in self._padded(others).items()},
            "label": torch.tensor([row["label"] for row in rows]),
        }

    def _padded(self, sequences: list[dict[str, Any]]) -> dict[str, Any]:
        batch = self._collate(sequences)
        batch["completion_mask"] = (batch.pop("labels") != IGNORED).long()
        return batch


def _named(row: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Returns the row whose answer is paired with the question of `row`."""
    names = ("input_ids", "labels")
    return {name: row[_OTHER + name] for name in names} if _OTHER + "labels" in row else other


def _begin(row: dict[str, Any]) -> int:
    return next(at for at, label in enumerate(row["labels"]) if label != IGNORED)


def _question(row: dict[str, Any], name: str) -> list[int]:
    return row[name][: _begin(row)]


def _answer(row: dict[str, Any], name: str) -> list[int]:
    return row[name][_begin(row) :]


def _dataset(examples: Examples) -> Dataset:
    from datasets import Dataset, concatenate_datasets

    assert examples.good is not None
    ratings = Dataset.from_dict({"label": examples.good.tolist()})
    return concatenate_datasets([to_dataset(examples), ratings], axis=1)


def _with_others(dataset: Dataset) -> Dataset:
    """Pairs each held-out row with the row half a file away, so that measurements do not depend on
    batches; rows with the same question are adjacent in the file."""
    from datasets import Dataset, concatenate_datasets

    count = len(dataset)
    names = {name: _OTHER + name for name in ("input_ids", "labels")}
    table = dataset.data.table.select(list(names)).rename_columns(names)
    others = table.take([(at + count // 2) % count for at in range(count)])
    return concatenate_datasets([dataset, Dataset(others)], axis=1)


def _arguments(parameters: TrainingParameters, settings: dict[str, Any]) -> KTOConfig:
    if parameters.batch_size < 2:
        raise PlainError("KTO compares the answers of a batch: choose a batch size of at least 2.")
    return KTOConfig(
        **settings,
        # The examples are already cut.
        max_length=None,
        beta=parameters.beta,
        desirable_weight=parameters.desirable_weight,
        undesirable_weight=parameters.undesirable_weight,
        # It would also disable the requested dropout of the adapter.
        disable_dropout=False,
        # The collator reads columns of its own.
        remove_unused_columns=False,
    )


def _trainer(
    model: Any, adapter: LoraConfig | None, _: TrainingParameters, __: Device, parts: dict[str, Any]
) -> Trainer:
    reference = prepare_reference(model, adapter)
    held_out = parts["eval_dataset"]
    if held_out is not None:
        parts = parts | {"eval_dataset": _with_others(held_out)}
    return _KtoTrainer(model, reference, peft_config=adapter, **parts)


KTO = TrainingObjective(_arguments, _dataset, _Collator, _trainer)
