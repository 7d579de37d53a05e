"""What a data file becomes, and what it needs for that."""

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
    """What a data file becomes."""

    columns: list[str]
    # None for text files.
    format: DataFormat | None
    rows_total: int
    dropped: DroppedRows
    rows_truncated: int
    train: Examples
    held_out: Examples
    samples: list[Sample]
    # What some held-out examples ask; of the first ones where all are trained on.
    questions: list[Question] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    # Tokens that an example may have.
    limit: int = 0
    # What each example asks, as a number; none of a text.
    question_keys: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def longest(self) -> int:
        """Tokens of the longest example."""
        parts = (self.train, self.held_out)
        return int(max(part.longest_of_each().max(initial=0) for part in parts))

    def trained_lengths(self, *, packing: bool) -> Numbers:
        """Tokens of each sequence that is trained on."""
        if packing:
            return packed_lengths(self.train.lengths(), self.limit)
        return self.train.longest_of_each()


@dataclass(frozen=True)
class Progress:
    """How far a data file has been read."""

    rows: int
    tokens: int
    # Of the file, from 0 to 1.
    part: float
    # What has been read, as if it were the whole file; None while that cannot be said. Raises
    # PlainError where nothing of it can be used.
    so_far: Callable[[], Prepared] | None


class Options(NamedTuple):
    """Whether tokens are kept, and examples held out; what they are for, and for how many tokens
    that the model writes they leave room."""

    keep_tokens: bool
    holds_out: bool
    objective: Objective
    new_tokens: int = 0


def require_stride(data: DataSpec, limit: int, tokens: ModelTokens) -> int:
    """How many tokens of text an example holds. Raises PlainError where the stride fills it."""
    room = limit - len(tokens.text_prefix)
    if data.stride >= room:
        raise PlainError(
            f"The stride of {data.stride} must be smaller than the chunk size of {limit} tokens."
        )
    return room


def has_references(prepared: Prepared) -> bool:
    """Whether each prompt has something that answers are compared with."""
    return prepared.format is not None and prepared.format.output_column != ""


def require_room(options: Options, limit: int) -> None:
    """Raises PlainError where the answers that the model writes leave no room for a prompt."""
    if options.new_tokens >= limit:
        raise PlainError(
            f"Answers of up to {options.new_tokens} tokens fill the chunk of {limit}: choose fewer "
            "new tokens, or a larger chunk size."
        )


# What objectives need that compare answers, or have them written: the format, what its rows have,
# and what it is called.
COMPARED: dict[Objective, tuple[FormatName, str, str]] = {
    "dpo": (
        "preference",
        "DPO learns from a better and a worse answer to each question",
        "Preferences",
    ),
    "kto": ("feedback", "KTO learns from answers that are rated good or bad", "Feedback"),
    "grpo": ("prompts", "GRPO learns from what the model itself answers to prompts", "Prompts"),
}


# Those that read both answers of a pair.
PAIRS: frozenset[Objective] = frozenset(
    objective for objective, (needed, *_) in COMPARED.items() if needed == "preference"
)


def require_compared(objective: Objective, data_format: DataFormat | None, file_path: str) -> None:
    """Raises PlainError where an objective that compares answers has none to compare, and where
    one that learns answers has none to learn."""
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


def require_some(examples: int, dropped: DroppedRows) -> None:
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
