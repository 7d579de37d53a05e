"""`validate`: reports before a run how training would read a file, without torch. For a long file
it prints its progress, and one estimate from the first rows."""

from __future__ import annotations

import os
import time
from functools import partial
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from .base_model import (
    TargetError,
    adapted,
    attention_share,
    exports_standalone_model,
    max_generated_tokens,
    read_base_model,
    require_packable,
    trainable_parameters,
    trained_modules,
)
from .confined import run_confined
from .data.builder import expected_padded_tokens, padded_tokens
from .data.examples import steps_per_epoch
from .data.prepared import has_references
from .data.ratings import ratings_of
from .data.table import DataError
from .data.tokens import read_model_tokens
from .data.validation_file import ValidationFileError, prepare_files
from .errors import PlainError
from .files import read_optional_object
from .gguf_adapter import gguf_obstacle
from .low_priority import lower_priority, lower_priority_after
from .protocol import ValidateProgress, ValidateReport
from .rewards.rules import find_reward_faults
from .training_memory import training_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base_model import BaseModel
    from .data.builder import Sample
    from .data.prepared import Prepared, Progress
    from .data.tokens import ModelTokens
    from .protocol import ValidateSpec

_SAMPLE_CHARACTERS = 4000
_HISTOGRAM_BINS = 12
# The first estimate is made at the first of these limits.
_SAMPLE_ROWS = 10_000
_SAMPLE_TOKENS = 1_000_000
_PROGRESS_S = 0.5
# A user waits for the first estimate, which takes 2 CPU seconds for 10,000 rows of 20 words. Longer
# reading continues at low priority.
_FIRST_S = 2.0
# Counts that grow with the file.
_COUNTS = (
    "rows_total",
    "rows_kept",
    "rows_dropped",
    "rows_truncated",
    "train_tokens",
    "eval_tokens",
    "train_padded_tokens",
    "eval_padded_tokens",
    "train_examples",
    "eval_examples",
)


def validate(spec: ValidateSpec) -> ValidateReport:
    """Reads data and base model as training would, in a process with limits of its own. Whatever
    makes the run impossible becomes a critical error of the report, never an exception."""
    try:
        return run_confined(PurePosixPath(spec.data.file_path).name, read_at_low_priority, spec)
    except PlainError as error:
        return ValidateReport.model_validate(_nothing() | {"critical_errors": [str(error)]})


def read_at_low_priority(spec: ValidateSpec) -> ValidateReport:
    """Reads as `read_as_training_would`; lowers the priority after the first estimate."""
    # The kernel lowers the priority of a whole session: do not lower the session of the server or
    # the calling shell.
    os.setsid()
    lower_priority_after(_FIRST_S)
    return read_as_training_would(spec, on_estimated=lower_priority)


def read_as_training_would(
    spec: ValidateSpec, *, on_estimated: Callable[[], None] = lambda: None
) -> ValidateReport:
    """Reads data and base model. For a long file it prints an estimate first, then calls
    `on_estimated`."""
    fields = _nothing()
    errors: list[str] = fields["critical_errors"]
    base = tokens = None
    try:
        folder = Path(spec.base_model_dir)
        base = read_base_model(folder)
        tokens = read_model_tokens(folder, spec.data.date)
        fields |= _model_fields(
            spec, base, fields["warnings"], read_optional_object(folder / "config.json")
        )
    except TargetError as error:
        fields["target_errors"].append(str(error))
    except PlainError as error:
        errors.append(str(error))
    if base is not None and tokens is not None:
        try:
            estimate = partial(_estimated, spec, base, tokens, dict(fields))
            prepared = prepare_files(
                Path(spec.data_file),
                Path(spec.validation_file) if spec.validation_file else None,
                spec.data,
                tokens,
                base.max_positions,
                keep_tokens=False,
                objective=spec.parameters.objective,
                max_generated_tokens=max_generated_tokens(spec.parameters),
                on_progress=_ProgressPrinter(estimate, on_estimated),
            )
            fields = _with_data(fields, spec, base, tokens, prepared)
            fields["reward_errors"] = _reward_errors(spec, prepared)
        except DataError as error:
            fields["columns"] = error.columns
            errors.append(str(error))
        except ValidationFileError as error:
            fields["validation_errors"].append(str(error))
        except PlainError as error:
            errors.append(str(error))
    return ValidateReport.model_validate(fields)


class _ProgressPrinter:
    """Prints the progress of reading, and one estimate for the whole file."""

    def __init__(
        self,
        estimate: Callable[[Prepared, float], ValidateReport],
        on_estimated: Callable[[], None],
    ) -> None:
        self._estimate = estimate
        self._on_estimated = on_estimated
        self._is_estimated = False
        self._printed_at = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        sample = None if self._is_estimated else self._sample(progress)
        now = time.monotonic()
        if sample is None and now - self._printed_at < _PROGRESS_S:
            return
        self._printed_at = now
        line = ValidateProgress(rows_read=progress.rows, part=progress.part, sample=sample)
        print(line.model_dump_json(), flush=True)
        if sample is not None:
            self._on_estimated()

    def _sample(self, progress: Progress) -> ValidateReport | None:
        is_enough = progress.rows >= _SAMPLE_ROWS or progress.tokens >= _SAMPLE_TOKENS
        if progress.so_far is None or not is_enough:
            return None
        try:
            report = self._estimate(progress.so_far(), progress.part)
        except PlainError:
            return None  # None of the first rows is usable; later ones may be.
        self._is_estimated = True
        return report


def _estimated(
    spec: ValidateSpec,
    base: BaseModel,
    tokens: ModelTokens,
    fields: dict[str, Any],
    prepared: Prepared,
    part: float,
) -> ValidateReport:
    """Extrapolates the `part` that has been read to the whole file."""
    fields = _with_data(fields, spec, base, tokens, prepared)
    # A validation file has been read to its end.
    grows = [name for name in _COUNTS if not (spec.validation_file and name.startswith("eval_"))]
    for name in grows:
        fields[name] = round(fields[name] / part)
    fields["token_histogram"] = [
        bin_ | {"count": round(bin_["count"] / part)} for bin_ in fields["token_histogram"]
    ]
    if fields["packs"] is not None:
        fields["packs"] = round(fields["packs"] / part)
    fields["steps_total"] = _steps_total(spec, fields["packs"] or fields["train_examples"])
    return ValidateReport.model_validate(fields)


def _with_data(
    fields: dict[str, Any],
    spec: ValidateSpec,
    base: BaseModel,
    tokens: ModelTokens,
    prepared: Prepared,
) -> dict[str, Any]:
    packed = _packed_fields(spec, base, prepared) if spec.parameters.packing else {}
    longest = max(prepared.longest, packed.pop("longest", 0))
    return (
        fields
        | _data_fields(spec, prepared, tokens)
        | packed
        | _memory_fields(spec, base, fields["trainable_parameters"], longest)
        | {"warnings": [*fields["warnings"], *prepared.warnings]}
    )


def _reward_errors(spec: ValidateSpec, prepared: Prepared) -> list[str]:
    """Returns why answers could not be rewarded as requested."""
    if spec.parameters.objective != "grpo":
        return []
    compares = has_references(prepared)
    return find_reward_faults(spec.parameters.rewards, has_references=compares)


def _packed_fields(spec: ValidateSpec, base: BaseModel, prepared: Prepared) -> dict[str, int]:
    """Returns the fields that packing changes, and the token count of the longest packed
    sequence."""
    lengths = prepared.trained_lengths(packing=True)
    longest = int(lengths.max())
    tokens = expected_padded_tokens(lengths, spec.parameters.batch_size)
    return {
        "packs": len(lengths),
        "train_padded_tokens": round(tokens * (1 + attention_share(base, longest))),
        "steps_total": _steps_total(spec, len(lengths)),
        "longest": longest,
    }


def _nothing() -> dict[str, Any]:
    numbers = (
        "rows_total rows_kept rows_dropped rows_truncated train_tokens eval_tokens "
        "train_padded_tokens eval_padded_tokens train_examples eval_examples steps_total "
        "base_parameters trainable_parameters memory_bytes gpu_memory_bytes"
    )
    lists = (
        "columns dropped token_histogram samples critical_errors validation_errors reward_errors "
        "target_errors warnings"
    )
    return {
        **dict.fromkeys(numbers.split(), 0),
        **{name: [] for name in lists.split()},
        "tied_embeddings": False,
        "format": None,
        "packs": None,
        "gguf_obstacle": None,
    }


def _model_fields(
    spec: ValidateSpec, base: BaseModel, warnings: list[str], config: dict[str, Any]
) -> dict[str, Any]:
    lora = spec.parameters.lora
    targets = trained_modules(base, spec.parameters)
    if spec.parameters.packing:
        require_packable(config, spec.parameters.objective)
    warnings.extend(targets.warnings)
    return {
        "base_parameters": base.parameters,
        "trainable_parameters": trainable_parameters(base, targets.modules, lora),
        "tied_embeddings": base.tied_embeddings,
        "gguf_obstacle": gguf_obstacle(
            _modules(base)
            if exports_standalone_model(spec.parameters)
            else adapted(base, targets.modules),
            config,
        ),
    }


def _modules(base: BaseModel) -> list[str]:
    """Returns all modules with weights. Older uploads also store values computed from the
    configuration."""
    names = [name.removesuffix(".weight").removesuffix(".bias") for name in base.shapes]
    return [name for name in names if not name.endswith("rotary_emb.inv_freq")]


def _data_fields(spec: ValidateSpec, prepared: Prepared, tokens: ModelTokens) -> dict[str, Any]:
    return {
        "columns": prepared.columns,
        "rows_total": prepared.rows_total,
        "format": vars(prepared.format) if prepared.format else None,
        "rows_kept": prepared.rows_total - prepared.dropped.count,
        "rows_dropped": prepared.dropped.count,
        "dropped": [vars(row) for row in prepared.dropped.by_line()],
        "rows_truncated": prepared.rows_truncated,
        "train_tokens": int(prepared.train.sequence_lengths().sum()),
        "eval_tokens": int(prepared.held_out.sequence_lengths().sum()),
        "train_padded_tokens": prepared.train.sequences
        * expected_padded_tokens(prepared.train.longest_of_each(), spec.parameters.batch_size),
        "eval_padded_tokens": prepared.held_out.sequences
        * padded_tokens(prepared.held_out.longest_of_each(), spec.parameters.eval_batch_size),
        "train_examples": len(prepared.train),
        "eval_examples": len(prepared.held_out),
        "steps_total": _steps_total(spec, len(prepared.train)),
        "ratings": (ratings := ratings_of(prepared.train)) and ratings._asdict(),
        "token_histogram": _histogram(prepared),
        "samples": [_sample_fields(sample, tokens) for sample in prepared.samples],
    }


def _steps_total(spec: ValidateSpec, train_examples: int) -> int:
    parameters = spec.parameters
    steps = steps_per_epoch(
        train_examples, parameters.batch_size, parameters.gradient_accumulation_steps
    )
    return steps * parameters.epochs


def _memory_fields(
    spec: ValidateSpec, base: BaseModel, trainable: int, longest: int
) -> dict[str, int]:
    on_cpu, on_gpu = (
        training_memory(base, spec.parameters, trainable, longest, gpu=gpu) for gpu in (False, True)
    )
    return {"memory_bytes": on_cpu, "gpu_memory_bytes": on_gpu}


def _histogram(prepared: Prepared) -> list[dict[str, int]]:
    """Returns the sequences per bin of token length; a bin holds `from` <= length < `to`."""
    parts = (prepared.train, prepared.held_out)
    lengths = np.concatenate([part.sequence_lengths() for part in parts])
    width = max(1, -(-(int(lengths.max()) + 1) // _HISTOGRAM_BINS))
    counts = np.bincount(lengths // width)
    return [
        {"from": i * width, "to": (i + 1) * width, "count": int(count)}
        for i, count in enumerate(counts)
    ]


def _sample_fields(sample: Sample, tokens: ModelTokens) -> dict[str, Any]:
    """Returns the turns of the row, and its text in parts that count in the loss or do not."""
    parts = groupby(zip(sample.tokens, sample.learnt, strict=True), key=lambda token: token[1])
    return {
        "turns": [
            {"role": turn.role, "content": _shortened(turn.said), "learnt": learnt}
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
        "rejected": sample.rejected and _sample_fields(sample.rejected, tokens),
        "label": sample.label,
        "reference": sample.reference and _shortened(sample.reference),
    }


def _shortened(text: str) -> str:
    return text if len(text) <= _SAMPLE_CHARACTERS else f"{text[:_SAMPLE_CHARACTERS]}…"
