"""Group relative policy optimisation: of several answers that the model writes to a prompt those
become likelier that are paid more than the others (https://arxiv.org/abs/2402.03300)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Sampler
from trl import GRPOConfig, GRPOTrainer

from ....rewards.rules import build_rules
from ..evaluated import Evaluated
from .objective import TrainingObjective
from .reference import compare_alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from datasets import Dataset
    from peft import LoraConfig
    from transformers import Trainer

    from ....data.builder import Examples
    from ....device import Device
    from ....protocol import TrainingParameters
    from ....rewards.rules import Rule


class _GrpoTrainer(Evaluated, GRPOTrainer):
    """The reference is the base itself."""

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """TRL writes a card into every checkpoint; ours is written once, by `export`."""

    def _tokenize_prompts(self, prompts: list[list[int]]) -> tuple[list[list[int]], None, dict]:
        """The prompts come tokenised."""
        return prompts, None, {}

    def _generate_single_turn(self, *args: Any, **options: Any) -> Any:
        """Answers are written as they will be where the model is served: without dropout, and in
        the numbers that it trains with."""
        model: Any = self.model
        was_training = model.training
        model.eval()
        try:
            with self.accelerator.autocast():
                return super()._generate_single_turn(*args, **options)
        finally:
            model.train(was_training)

    def _get_train_sampler(self, dataset: Any = None) -> Sampler[int]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """TRL's own leaves out what fills no batch, and knows no epochs to go on from."""
        rows: Any = self.train_dataset if dataset is None else dataset
        answers: Any = self.num_generations
        return _Groups(len(rows), answers, self.args.seed if self.shuffle_dataset else None)

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **options: Any) -> Any:
        # Whatever has gained is no other draw: each evaluation draws the same numbers.
        torch.manual_seed(self.args.seed)
        output: Any = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **options)
        # Advantages are relative to other answers, so that this loss says nothing.
        output.metrics.pop(f"{metric_key_prefix}_loss", None)
        return output

    def prediction_step(
        self, model: Any, inputs: list[dict[str, Any]], *_: Any, **__: Any
    ) -> tuple[torch.Tensor, None, None]:
        """One answer to each prompt, and what it is paid."""
        prompts = [row["prompt"] for row in inputs]
        generated: Any = self._generate(prompts)
        ids, answers = generated[1], generated[3]
        paid = self._calculate_rewards(inputs, prompts, answers, ids)
        rewards = (paid * self.reward_weights.to(paid.device)).sum(1)
        self.note("reward", float(rewards.mean()), len(inputs))
        return torch.zeros(()), None, None


class _Groups(Sampler[int]):
    """Each row as often as it is answered, in another order in each epoch; without a seed in that
    of the file."""

    def __init__(self, rows: int, answers: int, seed: int | None) -> None:
        self._rows, self._answers, self._seed = rows, answers, seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Accelerate calls it before each epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return self._rows * self._answers

    def __iter__(self) -> Iterator[int]:
        order = range(self._rows)
        if self._seed is not None:
            generator = torch.Generator().manual_seed(self._seed + self._epoch)
            order = torch.randperm(self._rows, generator=generator).tolist()
        for row in order:
            yield from [row] * self._answers


def _dataset(examples: Examples) -> Dataset:
    """The tokens of the prompts, and what answers are compared with."""
    from datasets import Dataset

    assert examples.references is not None
    prompts = [examples.example(at).tolist() for at in range(len(examples))]
    return Dataset.from_dict({"prompt": prompts, "reference": examples.references})


def _collator(_pad_token_id: int, _limit: int) -> Callable[[list[dict[str, Any]]], Any]:
    """Rows as they are."""
    return list


def _arguments(parameters: TrainingParameters, settings: dict[str, Any]) -> GRPOConfig:
    answers = parameters.generations
    return GRPOConfig(
        # TRL counts the tokens itself, as it writes them.
        **settings
        | {
            "per_device_train_batch_size": parameters.batch_size * answers,
            "include_num_input_tokens_seen": "no",
        },
        beta=parameters.beta,
        num_generations=answers,
        num_generations_eval=1,
        # A batch is answered when its turn comes, by the model as it is then.
        steps_per_generation=1,
        max_completion_length=parameters.max_new_tokens,
        temperature=parameters.temperature,
        reward_weights=[reward.weight for reward in parameters.rewards],
    )


def _trainer(
    model: Any,
    adapter: LoraConfig | None,
    parameters: TrainingParameters,
    _: Device,
    parts: dict[str, Any],
) -> Trainer:
    # TRL loads the reference from the base's folder where there is no adapter to switch off.
    compare_alike(model)
    has_references = parts["train_dataset"][0]["reference"] is not None
    rules = build_rules(parameters.rewards, has_references=has_references)
    functions: list[Any] = [_function(rule) for rule in rules]
    # TRL makes its batches once answers are written.
    others = {name: part for name, part in parts.items() if name != "data_collator"}
    trainer: Any = _GrpoTrainer(model, functions, peft_config=adapter, **others)
    if trainer.ref_model is not None:
        # Autocast keeps copies of what it takes to be trained.
        trainer.ref_model.requires_grad_(False)
    return trainer


def _function(rule: Rule) -> Callable[..., list[float]]:
    """The rule as TRL calls it."""

    def paid(completions: list[str], reference: list[str | None], **_: Any) -> list[float]:
        pairs = zip(completions, reference, strict=True)
        return [float(rule.pays(answer.strip(), compared)) for answer, compared in pairs]

    paid.__name__ = rule.name
    return paid


GRPO = TrainingObjective(_arguments, _dataset, _collator, _trainer)
