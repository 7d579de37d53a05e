"""Group relative policy optimisation: generates several answers per prompt and makes those with
above-average rewards likelier (https://arxiv.org/abs/2402.03300)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Sampler
from trl import GRPOConfig, GRPOTrainer
from trl.import_utils import is_vllm_available

from ....rewards.rules import build_rules
from ..evaluated import Evaluated
from .objective import TrainingObjective
from .reference import compute_reference_identically

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
    """Uses the base as the reference."""

    def _tokenize_prompts(self, prompts: list[list[int]]) -> tuple[list[list[int]], None, dict]:
        """The prompts are already tokenised."""
        return prompts, None, {}

    def _generate_single_turn(self, *args: Any, **options: Any) -> Any:
        """Generates answers as in serving: without dropout, and in the dtype of training."""
        model: Any = self.model
        was_training = model.training
        model.eval()
        try:
            with self.accelerator.autocast():
                return super()._generate_single_turn(*args, **options)
        finally:
            model.train(was_training)

    def _get_train_sampler(self, dataset: Any = None) -> Sampler[int]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """TRL's own sampler drops an incomplete batch, and cannot resume by epoch."""
        rows: Any = self.train_dataset if dataset is None else dataset
        answers: Any = self.num_generations
        seed = self.args.seed if self.shuffle_dataset else None
        self._train_rows = _Groups(len(rows), answers, seed)
        return self._train_rows

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **options: Any) -> Any:
        # Uses the same random numbers in each evaluation, so that results are comparable.
        torch.manual_seed(self.args.seed)
        output: Any = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **options)
        # Advantages are relative to other answers, so this loss is meaningless.
        output.metrics.pop(f"{metric_key_prefix}_loss", None)
        return output

    def prediction_step(
        self, model: Any, inputs: list[dict[str, Any]], *_: Any, **__: Any
    ) -> tuple[torch.Tensor, None, None]:
        """Generates one answer to each prompt and measures its reward."""
        prompts = [row["prompt"] for row in inputs]
        generated: Any = self._generate(prompts)
        ids, answers = generated[1], generated[3]
        paid = self._calculate_rewards(inputs, prompts, answers, ids)
        rewards = (paid * self.reward_weights.to(paid.device)).sum(1)
        self.record("reward", float(rewards.mean()), len(inputs))
        return torch.zeros(()), None, None


class _Groups(Sampler[int]):
    """Repeats each row once per answer, in a new order in each epoch; in file order without a
    seed."""

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
    from datasets import Dataset

    assert examples.references is not None
    prompts = [examples.example(at).tolist() for at in range(len(examples))]
    return Dataset.from_dict({"prompt": prompts, "reference": examples.references})


def _collator(_pad_token_id: int, _limit: int) -> Callable[[list[dict[str, Any]]], Any]:
    return list


def _arguments(parameters: TrainingParameters, settings: dict[str, Any]) -> GRPOConfig:
    answers = parameters.generations
    return GRPOConfig(
        # TRL counts the generated tokens itself.
        **settings
        | {
            "per_device_train_batch_size": settings["per_device_train_batch_size"] * answers,
            "include_num_input_tokens_seen": "no",
        },
        beta=parameters.beta,
        num_generations=answers,
        num_generations_eval=1,
        # Answers are generated just before their batch is trained, by the current model.
        steps_per_generation=1,
        max_completion_length=parameters.max_new_tokens,
        temperature=parameters.temperature,
        reward_weights=[reward.weight for reward in parameters.rewards],
        **_generator(settings),
    )


def _generator(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings that generate with vLLM on the training GPU, if vLLM is installed in
    this environment. It frees its memory while the model trains."""
    if settings["use_cpu"] or not is_vllm_available():
        return {}
    return {"use_vllm": True, "vllm_mode": "colocate", "vllm_enable_sleep_mode": True}


def _trainer(
    model: Any,
    adapter: LoraConfig | None,
    parameters: TrainingParameters,
    _: Device,
    parts: dict[str, Any],
) -> Trainer:
    # Without an adapter to disable, TRL loads the reference from the base's folder.
    compute_reference_identically(model)
    has_references = parts["train_dataset"][0]["reference"] is not None
    rules = build_rules(parameters.rewards, has_references=has_references)
    functions: list[Any] = [_function(rule) for rule in rules]
    arguments = parts["args"]
    if arguments.use_vllm:
        # By default vLLM reserves memory for the model's whole context.
        rows = [parts["train_dataset"], *filter(None, [parts["eval_dataset"]])]
        longest = max(len(prompt) for some in rows for prompt in some["prompt"])
        arguments.vllm_max_model_length = longest + parameters.max_new_tokens
    # TRL builds its batches after generation.
    others = {name: part for name, part in parts.items() if name != "data_collator"}
    trainer: Any = _GrpoTrainer(model, functions, peft_config=adapter, **others)
    if trainer.ref_model is not None:
        # Otherwise autocast caches copies of its weights, as for trained ones.
        trainer.ref_model.requires_grad_(False)
    return trainer


def _function(rule: Rule) -> Callable[..., list[float]]:
    def paid(completions: list[str], reference: list[str | None], **_: Any) -> list[float]:
        pairs = zip(completions, reference, strict=True)
        return [float(rule.pays(answer.strip(), compared)) for answer, compared in pairs]

    paid.__name__ = rule.name
    return paid


GRPO = TrainingObjective(_arguments, _dataset, _collator, _trainer)
