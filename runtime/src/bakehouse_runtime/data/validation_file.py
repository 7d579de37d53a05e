"""Supports a separate validation file. The run then trains on the whole training file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..errors import PlainError
from .examples import prepare_examples
from .prepared import COMPARED
from .ratings import held_out_warnings, require_both_kinds
from .rows import is_text, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..protocol import DataSpec, Objective
    from .prepared import Prepared, Progress
    from .tokens import ModelTokens


class ValidationFileError(PlainError):
    """The validation file is unusable, not the training file."""


def prepare_files(
    path: Path,
    validation: Path | None,
    data: DataSpec,
    tokens: ModelTokens,
    max_positions: int | None,
    *,
    keep_tokens: bool = True,
    objective: Objective = "sft",
    max_generated_tokens: int = 0,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Prepared:
    """Runs `prepare_examples` on the training file, and uses the examples of the validation file,
    if any, as held-out examples. The validation file is read in the same format, from the same
    columns.

    Raises PlainError, or ValidationFileError if the fault is in the validation file.
    """
    if objective in COMPARED and data.format is None and not is_text(data.file_path):
        data = data.model_copy(update={"format": COMPARED[objective][0]})
    prepare = partial(
        prepare_examples,
        keep_tokens=keep_tokens,
        objective=objective,
        max_generated_tokens=max_generated_tokens,
    )
    prepared = _prepared(path, validation, data, tokens, max_positions, prepare, on_progress)
    require_both_kinds(prepared, data.file_path)
    return replace(prepared, warnings=[*prepared.warnings, *held_out_warnings(prepared)])


def _prepared(
    path: Path,
    validation: Path | None,
    data: DataSpec,
    tokens: ModelTokens,
    max_positions: int | None,
    prepare: Callable[..., Prepared],
    on_progress: Callable[[Progress], None],
) -> Prepared:
    if validation is None:
        return prepare(path, data, tokens, max_positions, on_progress=on_progress)
    read_alike = _read_alike(path, data)
    try:
        held_out = prepare(
            validation,
            read_alike,
            tokens,
            max_positions,
            holds_out=False,
            # Report progress although none of the training file has been read.
            on_progress=lambda progress: on_progress(replace(progress, part=0.0, so_far=None)),
        )
    except PlainError as error:
        raise ValidationFileError(str(error)) from error
    prepared = prepare(
        path,
        data,
        tokens,
        max_positions,
        holds_out=False,
        on_progress=lambda progress: on_progress(_with_held_out(progress, held_out)),
    )
    return _joined(prepared, held_out)


def _read_alike(path: Path, data: DataSpec) -> DataSpec:
    """Returns the spec with which the validation file is read."""
    file_path = data.validation_path
    assert file_path is not None
    if is_text(data.file_path) != is_text(file_path):
        kind = "be a text" if is_text(data.file_path) else "have rows"
        raise ValidationFileError(f"{file_path} must {kind}, as {data.file_path} does.")
    if is_text(file_path):
        return data.model_copy(update={"file_path": file_path})
    found = read_rows(path, data).format
    system = data.system_column if found.system_column is None else found.system_column
    return data.model_copy(
        update={
            "file_path": file_path,
            "format": found.format,
            "input_column": found.input_column or None,
            "output_column": found.output_column or None,
            "rejected_column": found.rejected_column,
            "label_column": found.label_column,
            "system_column": system,
        }
    )


def _with_held_out(progress: Progress, held_out: Prepared) -> Progress:
    so_far = progress.so_far
    return replace(progress, so_far=so_far and (lambda: _joined(so_far(), held_out)))


def _joined(trained: Prepared, held_out: Prepared) -> Prepared:
    return replace(
        trained,
        held_out=held_out.train,
        questions=held_out.questions,
        warnings=[*trained.warnings, *_warnings(trained, held_out)],
    )


def _warnings(trained: Prepared, held_out: Prepared) -> list[str]:
    warnings = [
        f"Validation file: {warning}"
        for warning in held_out.warnings
        if warning not in trained.warnings
    ]
    if held_out.dropped.count > 0:
        first = held_out.dropped.by_line()[0]
        warnings.append(
            f"Validation file: {held_out.dropped.count} of {held_out.rows_total} rows cannot be "
            f"used (line {first.line}: {first.reason})."
        )
    known = int(np.isin(held_out.question_keys, trained.question_keys).sum())
    if known > 0:
        warnings.append(
            f"Validation file: {known} of {len(held_out.train)} examples ask what the training "
            "file teaches, so its loss is lower than on new questions."
        )
    return warnings
