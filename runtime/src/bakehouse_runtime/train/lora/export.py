"""What a run leaves: the adapter for PEFT and for llama.cpp, the tokenizer, and a model card."""

from __future__ import annotations

import importlib.metadata
import math
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...data.tokens import read_model_tokens
from ...errors import PlainError
from ...files import read_object, read_optional_object, write_json
from ...gguf_adapter import write_gguf_adapter
from ...serve.convert_adapter import adapter_alpha
from ..card import base_model_id, front_matter, one_line, trained_origin

if TYPE_CHECKING:
    from pathlib import Path

    from peft import PeftModel

    from ...data.formats import DataFormat
    from ...data.prepared import Prepared
    from ...protocol import TrainingParameters, TrainTextSpec

_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
)
_LIBRARIES = ("torch", "transformers", "trl", "peft", "datasets", "tokenizers", "safetensors")
_TABLE_ROWS = 12
# Beyond this a perplexity says nothing.
_LOSS_MAX = 100


@dataclass(frozen=True)
class Outcome:
    """How training went."""

    # The mean over all steps, and over the last tenth of them.
    train_loss: float | None
    train_loss_end: float | None
    eval_loss_base: float | None
    # Of the adapter that is kept, and the step that it is of; None where nothing was held out.
    eval_loss: float | None
    # Of it, in which part of the held-out pairs it finds the better answer the better one; None
    # where there are no pairs.
    eval_reward_accuracy: float | None
    best_step: int | None
    tokens: int
    steps: int
    # Of all epochs, and the evaluations without gain after which it ended before; None where it did
    # not.
    steps_total: int
    stopped_early: int | None
    seconds: float
    device: str
    modules: list[str]
    warnings: list[str]
    # Trainer's own log: one object per point of the curves.
    history: list[dict[str, Any]]


def export(
    model: PeftModel,
    spec: TrainTextSpec,
    base: Path,
    out: Path,
    prepared: Prepared,
    outcome: Outcome,
) -> list[str]:
    """Writes the files of the finished model into `out`; returns further warnings.

    Files: adapter_config.json, adapter_model.safetensors, adapter.gguf where llama.cpp knows the
    base's family, the base's tokenizer, README.md.
    """
    from safetensors.numpy import load_file

    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    # The base's own embeddings stay out, also where lm_head has an adapter.
    model.save_pretrained(str(out), save_embedding_layers=False)
    # PEFT notes the folder of this machine.
    config_file = out / "adapter_config.json"
    base_id = base_model_id(spec)
    config = read_object(config_file) | {"base_model_name_or_path": base_id}
    write_json(config_file, config)
    warnings = []
    try:
        write_gguf_adapter(
            out / "adapter.gguf",
            load_file(out / "adapter_model.safetensors"),
            adapter_alpha(config),
            read_optional_object(base / "config.json"),
        )
    except PlainError as error:
        (out / "adapter.gguf").unlink(missing_ok=True)
        warnings.append(f"The adapter cannot be served by llama.cpp: {error}")
    copy_tokenizer(base, out)
    told = replace(outcome, warnings=[*outcome.warnings, *warnings])
    card = model_card(spec, prepared, told, has_gguf=not warnings)
    (out / "README.md").write_text(card, encoding="utf-8")
    return warnings


def copy_tokenizer(base: Path, out: Path) -> None:
    """The base's tokenizer, with the chat template that was trained with if it has none."""
    for name in _TOKENIZER_FILES:
        if (base / name).is_file():
            shutil.copyfile(base / name, out / name)
    tokens = read_model_tokens(base)
    if tokens.chat_template is None:
        (out / "chat_template.jinja").write_text(tokens.template_source, encoding="utf-8")


def model_card(spec: TrainTextSpec, prepared: Prepared, outcome: Outcome, *, has_gguf: bool) -> str:
    """The card in Markdown: what was trained on what, how, and what came of it."""
    data = spec.data
    title = one_line(spec.title)
    reading = (
        _describe_format(prepared.format)
        if prepared.format
        else f"text, segmented by {data.segmentation_method}"
    )
    metadata = {
        **trained_origin(spec),
        "library_name": "peft",
        "pipeline_tag": "text-generation",
        "tags": ["lora", spec.parameters.objective, "bakehouse"],
        **_figures(spec, title, outcome),
    }
    rows = _parameters(spec, prepared, outcome)
    lines = [
        *front_matter(metadata),
        f"# {title}",
        "",
        f"A LoRA adapter for {one_line(spec.base_model_title)}, "
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
        f"| | loss on the {'validation file' if data.validation_path else 'held-out part'} |",
        "|---|---|",
        f"| base model | {_loss(outcome.eval_loss_base)} |",
        f"| with this adapter | {_loss(outcome.eval_loss)} |",
        "",
        *_rewards(outcome),
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
        "`adapter_model.safetensors` loads with PEFT on the base model"
        + ("; `adapter.gguf` loads with llama.cpp (`--lora`)." if has_gguf else "."),
        "",
        "## Versions",
        "",
        ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES),
        "",
    ]
    return "\n".join(lines)


def _commits(spec: TrainTextSpec) -> list[str]:
    """Of what exactly it was made, where that has a name."""
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
    """What was measured on the held-out rows, as hubs read it (`model-index`); nothing where none
    were held out. A dataset needs a type there: its name on a hub, or its title."""
    # The loss of pairs is none of tokens, which alone has a perplexity.
    of_tokens = outcome.eval_loss if spec.parameters.objective == "sft" else None
    metrics = [
        {"type": kind, "value": value, "name": name}
        for kind, value, name in (
            ("loss", outcome.eval_loss, "Loss on the held-out rows"),
            ("perplexity", _perplexity(of_tokens), "Perplexity on the held-out rows"),
            ("accuracy", outcome.eval_reward_accuracy, "Reward accuracy on the held-out rows"),
            ("loss", outcome.eval_loss_base, "Loss of the base model on them"),
        )
        if value is not None and math.isfinite(value)
    ]
    if outcome.eval_loss is None or not metrics:
        return {}
    dataset = _measured_by(spec)
    task = {"type": "text-generation", "name": "Text Generation"}
    return {
        "model-index": [
            {"name": title, "results": [{"task": task, "dataset": dataset, "metrics": metrics}]}
        ]
    }


def _measured_by(spec: TrainTextSpec) -> dict[str, object]:
    """The dataset of the figures. A validation file is not named: others may not read it."""
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
    """No number where the loss is so high that it has none."""
    return None if loss is None or loss > _LOSS_MAX else math.exp(loss)


def _parameters(spec: TrainTextSpec, prepared: Prepared, outcome: Outcome) -> dict[str, object]:
    """What was trained with, by the names that the card has for it."""
    data, parameters, lora = spec.data, spec.parameters, spec.parameters.lora
    return {
        "Objective": _objective(parameters),
        "Epochs": parameters.epochs,
        "Learning rate": f"{parameters.learning_rate:g}, {parameters.lr_scheduler}",
        "Warm-up": f"{parameters.warmup_ratio:.3g} of the steps",
        "Weight decay": f"{parameters.weight_decay:g}",
        "Max gradient norm": f"{parameters.max_grad_norm:g}" if parameters.max_grad_norm else "any",
        **_noise(parameters),
        "Batch size": f"{parameters.batch_size} x {parameters.gradient_accumulation_steps} "
        "(gradient accumulation)",
        "LoRA": f"rank {lora.r}, alpha {lora.alpha:g}, dropout {lora.dropout:g}"
        + (", rank-stabilized" if lora.use_rslora else ""),
        "Target modules": ", ".join(outcome.modules),
        "Longest example": f"{prepared.longest} tokens",
        "Examples are cut at": f"{data.max_chunk_size} tokens",
        "Seed": data.seed,
        "Device": outcome.device,
        **_evaluations(parameters),
        "Steps": _steps(outcome),
        "This adapter is of step": outcome.best_step or outcome.steps,
        "Tokens": outcome.tokens,
        "Duration of the training steps alone": _duration(outcome.seconds),
    }


def _objective(parameters: TrainingParameters) -> str:
    """What was minimised, e.g. 'DPO, beta 0.1'."""
    if parameters.objective == "sft":
        return "SFT"
    added = f" + {parameters.sft_weight:g} x SFT" if parameters.sft_weight else ""
    return f"DPO, beta {parameters.beta:g}{added}"


def _evaluations(parameters: TrainingParameters) -> dict[str, object]:
    """When it was evaluated, where not after each epoch alone."""
    every = parameters.eval_steps
    return {"Evaluations": f"after each epoch and each {every} steps"} if every else {}


def _steps(outcome: Outcome) -> str:
    """How many there were, and why no more."""
    if outcome.stopped_early is None:
        return str(outcome.steps)
    why = f"stopped early after {outcome.stopped_early} evaluations without gain"
    return f"{outcome.steps} of {outcome.steps_total}, {why}"


def _noise(parameters: TrainingParameters) -> dict[str, object]:
    """NEFTune's noise, where there was any."""
    alpha = parameters.neftune_noise_alpha
    return {"NEFTune noise": f"alpha {alpha:g}"} if alpha else {}


def _rewards(outcome: Outcome) -> list[str]:
    """How many held-out pairs the adapter tells apart, where there are pairs."""
    accuracy = outcome.eval_reward_accuracy
    if accuracy is None:
        return []
    return [
        f"Reward accuracy: {accuracy:.4f}, the part of these pairs whose better answer this "
        "adapter makes likelier against the worse one than the base does.",
        "",
    ]


def _describe_format(data_format: DataFormat) -> str:
    """How the rows were read, e.g. 'conversations in `messages`'."""
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
    }[data_format.format]
    return f"{sentence}, system prompt `{system}`" if system else sentence


def _curve(history: list[dict[str, Any]]) -> list[str]:
    """A few evenly spaced points of the training loss, the first and the last among them."""
    points = [point for point in history if "loss" in point]
    if not points:
        return []
    count = min(_TABLE_ROWS, len(points))
    chosen = [points[round(i * (len(points) - 1) / max(1, count - 1))] for i in range(count)]
    return [
        "| step | training loss | learning rate |",
        "|---|---|---|",
        *(
            f"| {point['step']} | {_loss(point['loss'])} | {point['learning_rate']:.2e} |"
            for point in chosen
        ),
        "",
    ]


def _loss(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4f}"


def _duration(seconds: float) -> str:
    """As the page of the run writes it (`formatDuration`), e.g. `14 min 34 s`, and `14 min`."""
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    parts = {"h": hours, "min": minutes, "s": 0 if hours else rest}
    return " ".join(f"{value} {unit}" for unit, value in parts.items() if value) or "0 s"
