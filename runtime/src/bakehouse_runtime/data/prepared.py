"""The result of reading a data file, and the requirements of the objectives."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import PlainError
from .packing import packed_lengths
from .table import NUL, WITHOUT_NUL

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..protocol import DataSpec, FormatName, Objective
    from .builder import DroppedRows, Examples, Sample
    from .formats import DataFormat
    from .questions import Question
    from .split import Numbers
    from .tokens import ModelTokens


@dataclass
class Prepared:
    """The result of reading a data file."""

    columns: list[str]
    # None for text files.
    format: DataFormat | None
    rows_total: int
    dropped: DroppedRows
    rows_truncated: int
    train: Examples
    held_out: Examples
    samples: list[Sample]
    # The questions of some held-out examples, or of the first ones if none are held out.
    questions: list[Question] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    # The most tokens that an example may have.
    limit: int = 0
    # A hash of each example's question; empty for a text.
    question_keys: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def longest(self) -> int:
        """Returns the token count of the longest example."""
        parts = (self.train, self.held_out)
        return int(max(part.longest_of_each().max(initial=0) for part in parts))

    def trained_lengths(self, *, packing: bool) -> Numbers:
        """Returns the token count of each sequence that is trained on."""
        if packing:
            return packed_lengths(self.train.lengths(), self.limit)
        return self.train.longest_of_each()


@dataclass(frozen=True)
class Progress:
    """How much of a data file has been read."""

    rows: int
    tokens: int
    # Share of the file, from 0 to 1.
    part: float
    # Returns the result as if the part that was read were the whole file; None if no result is
    # possible yet. Raises PlainError if no row is usable.
    so_far: Callable[[], Prepared] | None


class Options(NamedTuple):
    """Whether to store tokens and hold out examples, the objective, and how many generated tokens
    to leave room for."""

    keep_tokens: bool
    holds_out: bool
    objective: Objective
    max_generated_tokens: int = 0


def require_stride(data: DataSpec, limit: int, tokens: ModelTokens) -> int:
    """Returns the text tokens per example. Raises PlainError if the stride fills an example."""
    room = limit - len(tokens.text_prefix)
    if data.stride >= room:
        raise PlainError(
            f"The stride of {data.stride} must be smaller than the chunk size of {limit} tokens."
        )
    return room


def has_references(prepared: Prepared) -> bool:
    """Returns whether the prompts have references."""
    return prepared.format is not None and prepared.format.output_column != ""


def require_room(options: Options, limit: int) -> None:
    """Raises PlainError if the generated answers leave no room for a prompt."""
    if options.max_generated_tokens >= limit:
        raise PlainError(
            f"Answers of up to {options.max_generated_tokens} tokens fill the chunk of {limit}: "
            "choose fewer new tokens, or a larger chunk size."
        )


# Requirements of objectives that compare or generate answers: the format, an explanation, and the
# format's display name.
COMPARED: dict[Objective, tuple[FormatName, str, str]] = {
    "dpo": (
        "preference",
        "DPO learns from a better and a worse answer to each question",
        "Preferences",
    ),
    "kto": ("feedback", "KTO learns from answers that are rated good or bad", "Feedback"),
    "grpo": ("prompts", "GRPO learns from what the model itself answers to prompts", "Prompts"),
}


# Objectives that read both answers of a pair.
PAIRS: frozenset[Objective] = frozenset(
    objective for objective, (needed, *_) in COMPARED.items() if needed == "preference"
)


def require_compared(objective: Objective, data_format: DataFormat | None, file_path: str) -> None:
    """Raises PlainError if an objective that compares answers has none to compare, or if SFT has no
    answers to learn."""
    if objective not in COMPARED:
        if data_format is not None and data_format.format == "prompts":
            raise PlainError(
                f"{Path(file_path).name} has prompts without answers that SFT could learn: choose "
                "the objective GRPO, or another format."
            )
        return
    needed, learns, called = COMPARED[objective]
    if data_format is None or data_format.format != needed:
        raise PlainError(
            f"{learns}. {Path(file_path).name} is not read so: choose the format {called}, or the "
            "objective SFT."
        )


def require_examples(examples: int, dropped: DroppedRows) -> None:
    if examples > 0:
        return
    if dropped.count == 0:
        raise PlainError("The file has no rows.")
    first = dropped.by_line()[0]
    which = "the only row was" if dropped.count == 1 else f"all {dropped.count} were"
    advice = f" {WITHOUT_NUL}" if first.reason == NUL else ""
    raise PlainError(
        f"No row can be used: {which} dropped (line {first.line}: {first.reason}).{advice}"
    )
