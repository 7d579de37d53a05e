"""The card of a fine-tune: its data, parameters and results."""

from __future__ import annotations

import importlib.metadata
import math
from typing import TYPE_CHECKING, Any

from ...base_model import exports_standalone_model
from ..card import front_matter, one_line, trained_origin

if TYPE_CHECKING:
    from ...data.formats import DataFormat
    from ...data.prepared import Prepared
    from ...protocol import Objective, TrainingParameters, TrainTextSpec
    from .outcome import Outcome

_LIBRARIES = ("torch", "transformers", "trl", "peft", "datasets", "tokenizers", "safetensors")
# The GGUF of a whole model, if its base has one.
GGUF_NAME = "model-F16.gguf"
# The folder of an adapter that is merged into the model.
ADAPTER_FOLDER = "adapter"
_TABLE_ROWS = 12
# The task name of hubs.
_TASK = "text-generation"
# The measurements were made with this base.
_IN_4_BITS = {"Base model while training": "4 bits (NF4, double quantization)"}
# A perplexity above this is meaningless.
_LOSS_MAX = 100


def model_card(spec: TrainTextSpec, prepared: Prepared, outcome: Outcome, *, has_gguf: bool) -> str:
    """Returns the card in Markdown."""
    data, is_whole = spec.data, exports_standalone_model(spec.parameters)
    kind = _kind(spec.parameters)
    title = one_line(spec.title)
    reading = (
        _describe_format(prepared.format)
        if prepared.format
        else f"text, segmented by {data.segmentation_method}"
    )
    metadata = {
        **trained_origin(spec),
        "library_name": "transformers" if is_whole else "peft",
        "pipeline_tag": _TASK,
        "tags": [kind.lower(), spec.parameters.objective, "bakehouse"],
        **_figures(spec, title, outcome),
    }
    rows = _parameters(spec, prepared, outcome)
    lines = [
        *front_matter(metadata),
        f"# {title}",
        "",
        f"{_what(spec.parameters)} "
        f"{one_line(spec.base_model_title)}, "
        f"trained on {one_line(spec.dataset_title)} with Bakehouse.",
        *_commits(spec),
        "",
        "## Data",
        "",
        f"`{data.file_path}`: {reading}. Rows: {prepared.rows_total}, "
        f"{prepared.dropped.count} dropped, {prepared.rows_truncated} truncated. "
        f"Examples: {len(prepared.train)} trained on, {len(prepared.held_out)} "
        + ("of a validation file." if data.validation_path else "held out."),
        "",
        "## Result",
        "",
        *_measured(
            outcome,
            "validation file" if data.validation_path else "held-out part",
            _this(spec),
        ),
        "",
        *_rewards(outcome, spec.parameters.objective, _this(spec)),
        *_curve(outcome.history),
        "## Parameters",
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows.items()),
        "",
        *(f"- {warning}" for warning in outcome.warnings),
        *([""] if outcome.warnings else []),
        "## Use",
        "",
        _use(spec, has_gguf=has_gguf),
        "",
        "## Versions",
        "",
        ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES),
        "",
    ]
    return "\n".join(lines)


def _kind(parameters: TrainingParameters) -> str:
    if parameters.lora is None:
        return "full"
    return "QLoRA" if parameters.load_in_4bit else "DoRA" if parameters.lora.use_dora else "LoRA"


def _this(spec: TrainTextSpec) -> str:
    """Returns the subject of the card."""
    return "this model" if exports_standalone_model(spec.parameters) else "this adapter"


def _what(parameters: TrainingParameters) -> str:
    """Returns the description of the model, up to the name of its base."""
    origin = "fine-tune of" if exports_standalone_model(parameters) else "adapter for"
    return f"A {_kind(parameters)} {origin}"


def _use(spec: TrainTextSpec, *, has_gguf: bool) -> str:
    if exports_standalone_model(spec.parameters):
        loads = "The folder loads with `AutoModelForCausalLM.from_pretrained` and vLLM"
        loads += f"; `{GGUF_NAME}` loads with llama.cpp." if has_gguf else "."
        if spec.parameters.lora is None:
            return loads
        return (
            f"{loads} The adapter is merged into it; by itself it is in `{ADAPTER_FOLDER}/` and "
            f'loads with PEFT on the base model (`subfolder="{ADAPTER_FOLDER}"`).'
        )
    loads = "`adapter_model.safetensors` loads with PEFT on the base model"
    return loads + ("; `adapter.gguf` loads with llama.cpp (`--lora`)." if has_gguf else ".")


def _measured(outcome: Outcome, part: str, this: str) -> list[str]:
    is_paid = outcome.eval_reward is not None
    base = outcome.eval_reward_base if is_paid else outcome.eval_loss_base
    return [
        f"| | {'mean reward' if is_paid else 'loss'} on the {part} |",
        "|---|---|",
        f"| base model | {_loss(base)} |",
        f"| with {this} | {_loss(outcome.eval_reward if is_paid else outcome.eval_loss)} |",
    ]


def _commits(spec: TrainTextSpec) -> list[str]:
    """Returns the exact sources, as far as they have repository ids."""
    sources = spec.sources
    if sources is None:
        return []
    named = {
        "Base model": (sources.base_model, sources.base_model_commit),
        "Dataset": (sources.dataset, sources.dataset_commit),
    }
    lines = [
        f"- {what}: `{name}`" + (f" at commit `{commit}`" if commit else "")
        for what, (name, commit) in named.items()
        if name
    ]
    return ["", *lines] if lines else []


def _figures(spec: TrainTextSpec, title: str, outcome: Outcome) -> dict[str, object]:
    """Returns the measurements on the held-out rows in the format of hubs (`model-index`), or
    nothing if no rows were held out. A dataset needs a type there: its repository id, or its
    title."""
    # Perplexity is only defined for a loss over tokens, not over pairs.
    of_tokens = outcome.eval_loss if spec.parameters.objective == "sft" else None
    metrics = [
        {"type": kind, "value": value, "name": name}
        for kind, value, name in (
            ("loss", outcome.eval_loss, "Loss on the held-out rows"),
            ("perplexity", _perplexity(of_tokens), "Perplexity on the held-out rows"),
            ("accuracy", outcome.eval_reward_accuracy, "Reward accuracy on the held-out rows"),
            ("loss", outcome.eval_loss_base, "Loss of the base model on them"),
            ("reward", outcome.eval_reward, "Mean reward on the held-out rows"),
            ("reward", outcome.eval_reward_base, "Mean reward of the base model on them"),
        )
        if value is not None and math.isfinite(value)
    ]
    if outcome.best_step is None or not metrics:
        return {}
    dataset = _measured_by(spec)
    task = {"type": _TASK, "name": "Text Generation"}
    return {
        "model-index": [
            {"name": title, "results": [{"task": task, "dataset": dataset, "metrics": metrics}]}
        ]
    }


def _measured_by(spec: TrainTextSpec) -> dict[str, object]:
    """Returns the dataset of the measurements. A validation file is not named, because it may be
    private."""
    if spec.data.validation_path:
        return {"name": "Validation file", "type": "validation-file"}
    dataset_title = one_line(spec.dataset_title)
    sources = spec.sources
    return {
        "name": dataset_title,
        "type": (sources.dataset if sources else None) or dataset_title,
        **({"revision": sources.dataset_commit} if sources and sources.dataset_commit else {}),
        "split": "held out",
        "args": {"file": spec.data.file_path, "seed": spec.data.seed},
    }


def _perplexity(loss: float | None) -> float | None:
    """Returns None if the loss is too high for a perplexity."""
    return None if loss is None or loss > _LOSS_MAX else math.exp(loss)


def _parameters(spec: TrainTextSpec, prepared: Prepared, outcome: Outcome) -> dict[str, object]:
    data, parameters = spec.data, spec.parameters
    return {
        "Objective": _objective(parameters),
        "Epochs": parameters.epochs,
        "Learning rate": f"{parameters.learning_rate:g}, {parameters.lr_scheduler}",
        **({"Optimizer": "8-bit AdamW"} if parameters.optimizer == "adamw_8bit" else {}),
        "Warm-up": f"{parameters.warmup_ratio:.3g} of the steps",
        "Weight decay": f"{parameters.weight_decay:g}",
        "Max gradient norm": f"{parameters.max_grad_norm:g}" if parameters.max_grad_norm else "any",
        **_noise(parameters),
        "Batch size": f"{parameters.batch_size} x {parameters.gradient_accumulation_steps} "
        "(gradient accumulation)",
        **_packing(parameters),
        **_adaptation(parameters, outcome.modules),
        "Longest example": f"{prepared.longest} tokens",
        "Examples are cut at": f"{data.max_chunk_size} tokens",
        "Seed": data.seed,
        "Device": outcome.device,
        **_evaluations(parameters),
        "Steps": _steps(outcome),
        f"{_this(spec).capitalize()} is of step": outcome.best_step or outcome.steps,
        "Tokens": outcome.tokens,
        "Duration of the training steps alone": _duration(outcome.seconds),
    }


def _objective(parameters: TrainingParameters) -> str:
    if parameters.objective == "sft":
        return "SFT"
    if parameters.objective == "kto":
        good, bad = parameters.desirable_weight, parameters.undesirable_weight
        return f"KTO, beta {parameters.beta:g}, good answers x {good:g}, bad ones x {bad:g}"
    if parameters.objective == "grpo":
        rewards = ", ".join(f"{reward.weight:g} x {reward.type}" for reward in parameters.rewards)
        return (
            f"GRPO, beta {parameters.beta:g}, {parameters.generations} answers of up to "
            f"{parameters.max_new_tokens} tokens at temperature {parameters.temperature:g}, "
            f"rewards {rewards}"
        )
    added = f" + {parameters.sft_weight:g} x SFT" if parameters.sft_weight else ""
    return f"DPO, beta {parameters.beta:g}{added}"


def _adaptation(parameters: TrainingParameters, modules: list[str]) -> dict[str, object]:
    lora = parameters.lora
    if lora is None:
        return {"Trained": "all weights of the base model, in float32"}
    return {
        _kind(parameters): f"rank {lora.r}, alpha {lora.alpha:g}, dropout {lora.dropout:g}"
        + (", rank-stabilized" if lora.use_rslora else ""),
        **(_IN_4_BITS if parameters.load_in_4bit else {}),
        "Target modules": ", ".join(modules),
    }


def _evaluations(parameters: TrainingParameters) -> dict[str, object]:
    """Returns the evaluation schedule, if it has more than one evaluation per epoch."""
    every = parameters.eval_steps
    return {"Evaluations": f"after each epoch and each {every} steps"} if every else {}


def _steps(outcome: Outcome) -> str:
    if outcome.stopped_early is None:
        return str(outcome.steps)
    why = f"stopped early after {outcome.stopped_early} evaluations without gain"
    return f"{outcome.steps} of {outcome.steps_total}, {why}"


def _packing(parameters: TrainingParameters) -> dict[str, object]:
    return {"Packing": "short rows share a sequence"} if parameters.packing else {}


def _noise(parameters: TrainingParameters) -> dict[str, object]:
    alpha = parameters.neftune_noise_alpha
    return {"NEFTune noise": f"alpha {alpha:g}"} if alpha else {}


def _rewards(outcome: Outcome, objective: Objective, this: str) -> list[str]:
    accuracy = outcome.eval_reward_accuracy
    if accuracy is None:
        return []
    which = (
        f"pairs of a good and a bad answer of which {this} makes the good one likelier "
        "against the base than the bad one"
        if objective == "kto"
        else f"these pairs whose better answer {this} makes likelier against the worse one "
        "than the base does"
    )
    return [f"Reward accuracy: {accuracy:.4f}, the part of {which}.", ""]


def _describe_format(data_format: DataFormat) -> str:
    """Describes how the rows were read, e.g. 'conversations in `messages`'."""
    column, system = data_format.input_column, data_format.system_column
    asked = f"question `{column}`, " if column else ""
    sentence = {
        "messages": f"conversations in `{column}`",
        "sharegpt": f"conversations in `{column}`",
        "alpaca": "instruction, input and output",
        "prompt_completion": f"question `{column}`, answer `{data_format.output_column}`",
        "text": f"text in `{column}`",
        "preference": f"{asked}better answer `{data_format.output_column}`, worse answer "
        f"`{data_format.rejected_column}`",
        "feedback": f"{asked}answer `{data_format.output_column}`, good or bad by "
        f"`{data_format.label_column}`",
        "prompts": f"prompts `{column}`"
        + (f", compared with `{data_format.output_column}`" if data_format.output_column else ""),
    }[data_format.format]
    return f"{sentence}, system prompt `{system}`" if system else sentence


def _curve(history: list[dict[str, Any]]) -> list[str]:
    """Returns evenly spaced points of the training loss, including the first and the last, with the
    reward if there is one."""
    points = [point for point in history if "loss" in point]
    if not points:
        return []
    count = min(_TABLE_ROWS, len(points))
    chosen = [points[round(i * (len(points) - 1) / max(1, count - 1))] for i in range(count)]
    is_paid = "reward" in chosen[0]
    return [
        f"| step | training loss | {'reward | ' if is_paid else ''}learning rate |",
        "|---|---|---|" + ("---|" if is_paid else ""),
        *(
            f"| {point['step']} | {_loss(point['loss'])} | "
            + (f"{_loss(point.get('reward'))} | " if is_paid else "")
            + f"{point['learning_rate']:.2e} |"
            for point in chosen
        ),
        "",
    ]


def _loss(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4f}"


def _duration(seconds: float) -> str:
    """Formats a duration as the page of the run does (`formatDuration`), e.g. `14 min 34 s`, and
    `14 min`."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    parts = {"h": hours, "min": minutes, "s": 0 if hours else rest}
    return " ".join(f"{value} {unit}" for unit, value in parts.items() if value) or "0 s"
