"""`validate`: says before a run what training would make of a file, without torch."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from .base_model import (
    adapted,
    lora_targets,
    read_base_model,
    trainable_parameters,
    training_memory,
)
from .confined import run_confined
from .data.examples import Prepared, prepare_examples, steps_per_epoch
from .data.table import DataError
from .data.tokens import read_json, read_model_tokens
from .errors import PlainError
from .protocol import ValidateReport
from .train.lora.gguf_adapter import gguf_obstacle

if TYPE_CHECKING:
    from .base_model import BaseModel
    from .data.builder import Sample
    from .data.tokens import ModelTokens
    from .protocol import ValidateSpec

_SHOWN_CHARACTERS = 4000
_HISTOGRAM_BINS = 12


def validate(spec: ValidateSpec) -> ValidateReport:
    """Reads data and base model as training would, in a process with limits of its own. What makes
    the run impossible becomes a critical error of the report, never an exception."""
    try:
        return run_confined(PurePosixPath(spec.data.file_path).name, read_as_training_would, spec)
    except PlainError as error:
        return ValidateReport.model_validate(_nothing() | {"critical_errors": [str(error)]})


def read_as_training_would(spec: ValidateSpec) -> ValidateReport:
    """What `validate` says, where memory and time suffice."""
    fields = _nothing()
    errors: list[str] = fields["critical_errors"]
    base = tokens = None
    try:
        folder = Path(spec.base_model_dir)
        base = read_base_model(folder)
        tokens = read_model_tokens(folder, spec.data.date)
        fields |= _model_fields(spec, base, fields["warnings"], read_json(folder / "config.json"))
    except PlainError as error:
        errors.append(str(error))
    if base is not None and tokens is not None:
        try:
            prepared = prepare_examples(
                Path(spec.data_file), spec.data, tokens, base.max_positions, keep_tokens=False
            )
            fields |= _data_fields(spec, prepared, tokens)
            fields["warnings"].extend(prepared.warnings)
            fields |= _memory_fields(spec, base, fields["trainable_parameters"], prepared.longest)
        except DataError as error:
            fields["columns"] = error.columns
            errors.append(str(error))
        except PlainError as error:
            errors.append(str(error))
    return ValidateReport.model_validate(fields)


def _nothing() -> dict[str, Any]:
    numbers = (
        "rows_total rows_kept rows_dropped rows_truncated train_tokens eval_tokens train_examples "
        "eval_examples steps_total base_parameters trainable_parameters memory_bytes "
        "gpu_memory_bytes"
    )
    lists = "columns dropped token_histogram samples critical_errors warnings"
    return {
        **dict.fromkeys(numbers.split(), 0),
        **{name: [] for name in lists.split()},
        "tied_embeddings": False,
        "format": None,
        "gguf_obstacle": None,
    }


def _model_fields(
    spec: ValidateSpec, base: BaseModel, warnings: list[str], config: dict[str, Any]
) -> dict[str, Any]:
    lora = spec.parameters.lora
    targets = lora_targets(base, lora.target_modules)
    warnings.extend(targets.warnings)
    return {
        "base_parameters": base.parameters,
        "trainable_parameters": trainable_parameters(base, targets.modules, lora.r),
        "tied_embeddings": base.tied_embeddings,
        "gguf_obstacle": gguf_obstacle(adapted(base, targets.modules), config),
    }


def _data_fields(spec: ValidateSpec, prepared: Prepared, tokens: ModelTokens) -> dict[str, Any]:
    parameters = spec.parameters
    steps = steps_per_epoch(
        len(prepared.train), parameters.batch_size, parameters.gradient_accumulation_steps
    )
    return {
        "columns": prepared.columns,
        "rows_total": prepared.rows_total,
        "format": vars(prepared.format) if prepared.format else None,
        "rows_kept": prepared.rows_total - prepared.dropped.count,
        "rows_dropped": prepared.dropped.count,
        "dropped": [vars(row) for row in prepared.dropped.shown()],
        "rows_truncated": prepared.rows_truncated,
        "train_tokens": int(prepared.train.starts[-1]),
        "eval_tokens": int(prepared.held_out.starts[-1]),
        "train_examples": len(prepared.train),
        "eval_examples": len(prepared.held_out),
        "steps_total": steps * parameters.epochs,
        "token_histogram": _histogram(prepared),
        "samples": [_shown_sample(sample, tokens) for sample in prepared.samples],
    }


def _memory_fields(
    spec: ValidateSpec, base: BaseModel, trainable: int, longest: int
) -> dict[str, int]:
    on_cpu, on_gpu = (
        training_memory(base, spec.parameters, trainable, longest, gpu=gpu) for gpu in (False, True)
    )
    return {"memory_bytes": on_cpu, "gpu_memory_bytes": on_gpu}


def _histogram(prepared: Prepared) -> list[dict[str, int]]:
    """Examples per bin of token length; a bin holds `from` <= length < `to`."""
    lengths = np.concatenate([prepared.train.lengths(), prepared.held_out.lengths()])
    width = max(1, -(-(int(lengths.max()) + 1) // _HISTOGRAM_BINS))
    counts = np.bincount(lengths // width)
    return [
        {"from": i * width, "to": (i + 1) * width, "count": int(count)}
        for i, count in enumerate(counts)
    ]


def _shown_sample(sample: Sample, tokens: ModelTokens) -> dict[str, Any]:
    """The turns of the row, and the text that the model reads in parts that are learnt or not."""
    parts = groupby(zip(sample.tokens, sample.learnt, strict=True), key=lambda token: token[1])
    return {
        "turns": [
            {"role": turn.role, "content": _shortened(turn.content), "learnt": learnt}
            for turn, learnt in sample.turns
        ],
        "parts": [
            {
                "text": tokens.tokenizer.decode(
                    [id_ for id_, _ in part], skip_special_tokens=False
                ),
                "learnt": learnt,
            }
            for learnt, part in parts
        ],
        "tokens": len(sample.tokens),
    }


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
