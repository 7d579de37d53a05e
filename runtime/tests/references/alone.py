"""Runs plain TRL next to our trainers, on the same rows in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.train.lora import config
from preferences import dpo_spec, feedback_rows, grpo_spec, kto_spec, preference_rows, prompt_rows
from train_spec import LINEAR, questions, train_spec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakehouse_runtime.protocol import Objective, TrainTextSpec
    from bakehouse_server import BakehouseServer

_DIGIT = {"type": "pattern", "pattern": "[0-9]", "weight": 1.0}
_BETA = 0.3


class Pair(NamedTuple):
    """Our trainer and TRL's after the same steps."""

    ours: Any
    trls: Any

    def assert_same(self, *names: str, steps: int) -> None:
        """Asserts that these curves agree."""
        points = [
            [[point[name] for name in names] for point in one.state.log_history[:-1]]
            for one in self
        ]
        assert len(points[0]) == steps
        for one, other in zip(*points, strict=True):
            assert one == pytest.approx(other, rel=1e-5, abs=1e-5)


# For each objective the compared curves and the number of steps.
COMPARED: dict[Objective, tuple[tuple[str, ...], int]] = {
    "sft": (("loss", "grad_norm"), 12),
    "dpo": (("loss", "rewards/margins"), 6),
    "kto": (("loss", "kl", "rewards/margins"), 6),
    "grpo": (("loss", "reward", "kl"), 4),
}
# In the gate adapters compare one objective: full fine-tunes compare all of them, in less time.
COMPARED_ADAPTERS = [
    pytest.param(objective, marks=[] if objective == "sft" else [pytest.mark.soak])
    for objective in COMPARED
]


def both(
    server: BakehouseServer,
    tmp_path: Path,
    model: Path,
    objective: Objective,
    adapter: Any = None,
    quantisation: Any = None,
    change: Callable[[Any], None] = lambda _: None,
    **parameters: Any,
) -> Pair:
    """Trains with our settings and with TRL: with PEFT's `adapter`, or all weights without one, on
    the base as stored or in `quantisation`. `change` is applied to each model first."""
    spec, file, rows = _SPECS[objective](server, tmp_path, model, parameters)
    ours = _ours(spec, model, tmp_path, file)
    change(ours.model)
    ours.train()
    trls = _TRAINERS[objective](spec, model, tmp_path, rows, adapter, quantisation)
    change(trls.model)
    trls.train()
    return Pair(ours, trls)


def _ours(spec: TrainTextSpec, base: Path, tmp_path: Path, file: str) -> Any:
    """Returns our trainer on all rows, in file order."""
    from bakehouse_runtime.train.lora.trainer import build_trainer

    prepared = prepare_examples(
        tmp_path / file,
        spec.data,
        read_model_tokens(base),
        256,
        holds_out=False,
        objective=spec.parameters.objective,
    )
    modules = LINEAR if spec.parameters.lora else []
    steps = COMPARED[spec.parameters.objective][1]
    trainer: Any = build_trainer(spec, base, tmp_path, prepared, modules, "cpu", steps, [])
    trainer.args.train_sampling_strategy = "sequential"
    trainer.shuffle_dataset = False
    return trainer


def loaded(model: Path, quantisation: Any = None) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        model, dtype=torch.float32, quantization_config=quantisation
    )


def asked(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def _said(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def _tokenizer_of(model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)


def _sft_spec(server: Any, tmp_path: Path, model: Path, parameters: dict[str, Any]) -> Any:
    pairs = questions()[:24]
    rows = "".join(f'{question},"{answer}"\n' for question, answer in pairs)
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")
    return train_spec(server, tmp_path, model, epochs=2, **parameters), "rows.csv", pairs


def _dpo_spec(server: Any, tmp_path: Path, model: Path, parameters: dict[str, Any]) -> Any:
    rows = preference_rows()[:24]
    spec = dpo_spec(server, tmp_path, model, rows, epochs=1, beta=_BETA, **parameters)
    return spec, "pairs.jsonl", rows


def _kto_spec(server: Any, tmp_path: Path, model: Path, parameters: dict[str, Any]) -> Any:
    rows = feedback_rows()[:24]
    spec = kto_spec(server, tmp_path, model, rows, epochs=1, beta=_BETA, **parameters)
    return spec, "rated.jsonl", rows


def _grpo_spec(server: Any, tmp_path: Path, model: Path, parameters: dict[str, Any]) -> Any:
    rows = prompt_rows()[:8]
    spec = grpo_spec(server, tmp_path, model, [_DIGIT], rows, epochs=2, beta=_BETA, **parameters)
    return spec, "prompts.jsonl", rows


_SPECS: dict[Objective, Any] = {
    "sft": _sft_spec,
    "dpo": _dpo_spec,
    "kto": _kto_spec,
    "grpo": _grpo_spec,
}


def _settings(spec: TrainTextSpec, tmp_path: Path) -> dict[str, Any]:
    steps = COMPARED[spec.parameters.objective][1]
    return config.settings(spec, "cpu", tmp_path, steps, evaluates=False)


def _sft(
    spec: TrainTextSpec, model: Path, tmp_path: Path, rows: Any, adapter: Any, quantisation: Any
) -> Any:
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    trls = SFTTrainer(
        loaded(model, quantisation),
        args=SFTConfig(**_settings(spec, tmp_path), shuffle_dataset=False),
        train_dataset=Dataset.from_list(
            [{"prompt": asked(one), "completion": _said(other)} for one, other in rows]
        ),
        processing_class=_tokenizer_of(model),
        peft_config=adapter,
    )
    trls.args.train_sampling_strategy = "sequential"
    return trls


def _dpo(
    spec: TrainTextSpec, model: Path, tmp_path: Path, rows: Any, adapter: Any, quantisation: Any
) -> Any:
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    trls = DPOTrainer(
        loaded(model, quantisation),
        None if adapter else loaded(model),
        args=DPOConfig(**_settings(spec, tmp_path), beta=_BETA),
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": asked(row["prompt"]),
                    "chosen": _said(row["chosen"]),
                    "rejected": _said(row["rejected"]),
                }
                for row in rows
            ]
        ),
        processing_class=_tokenizer_of(model),
        peft_config=adapter,
    )
    trls.args.train_sampling_strategy = "sequential"
    return trls


def _kto(
    spec: TrainTextSpec, model: Path, tmp_path: Path, rows: Any, adapter: Any, quantisation: Any
) -> Any:
    from datasets import Dataset
    from trl import KTOConfig, KTOTrainer

    return KTOTrainer(
        loaded(model, quantisation),
        None if adapter else loaded(model),
        args=KTOConfig(**_settings(spec, tmp_path), beta=_BETA),
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": asked(row["prompt"]),
                    "completion": _said(row["completion"]),
                    "label": row["label"],
                }
                for row in rows
            ]
        ),
        processing_class=_tokenizer_of(model),
        peft_config=adapter,
    )


def _grpo(
    spec: TrainTextSpec, model: Path, tmp_path: Path, rows: Any, adapter: Any, quantisation: Any
) -> Any:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    def digits(completions: list[str], **_: Any) -> list[float | None]:
        return [float(any("0" <= one <= "9" for one in text)) for text in completions]

    tokenizer = _tokenizer_of(model)
    prompts = [
        tokenizer.apply_chat_template(
            asked(row["prompt"]), tokenize=False, add_generation_prompt=True
        )
        for row in rows
    ]
    changes = {"per_device_train_batch_size": 32, "include_num_input_tokens_seen": "no"}
    return GRPOTrainer(
        loaded(model, quantisation),
        [digits],
        args=GRPOConfig(
            **(_settings(spec, tmp_path) | changes),
            beta=_BETA,
            num_generations=8,
            max_completion_length=6,
            shuffle_dataset=False,
        ),
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=tokenizer,
        peft_config=adapter,
    )


_TRAINERS: dict[Objective, Any] = {"sft": _sft, "dpo": _dpo, "kto": _kto, "grpo": _grpo}
