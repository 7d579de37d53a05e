"""Training examples out of a data file: the one reading that validation and training share."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import PlainError
from .builder import DroppedRows, ExampleBuilder, Examples, Sample, SampleTurn
from .chat_template import TemplateRefusalError
from .conversations import Passage, Rendered
from .documents import cut_document
from .questions import Question, Questions, text_questions
from .rows import is_text, read_rows, read_text, text_warnings
from .segments import windows
from .split import Split, split_examples, split_key
from .split_warnings import in_rows, repeat_warnings, split_warnings
from .table import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tokenizers import Encoding

    from ..protocol import DataSpec
    from .conversations import Conversation
    from .formats import DataFormat
    from .rows import Rows
    from .split import Numbers
    from .tokens import ModelTokens

_BATCH = 1000
# Of the texts that are tokenised at once: tokens take some fifty times their memory meanwhile.
_BATCH_CHARACTERS = 2_000_000
# A longer text is first looked at as far as this.
_TEXT_SAMPLE_CHARACTERS = 4_000_000


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
    # What each example asks, as a number; none of a text.
    question_keys: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def longest(self) -> int:
        """Tokens of the longest example."""
        parts = (self.train, self.held_out)
        return int(max(part.lengths().max(initial=0) for part in parts))


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


def prepare_examples(
    path: Path,
    data: DataSpec,
    tokens: ModelTokens,
    max_positions: int | None,
    *,
    keep_tokens: bool = True,
    holds_out: bool = True,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Prepared:
    """Reads a data file into training and held-out examples; the same spec gives the same ones.
    Without `keep_tokens` they are only counted: a file with rows takes some dozen bytes for each of
    them, and a text file what it holds and a dozen bytes for each token. Without `holds_out` all
    are trained on.

    Raises PlainError (DataError with the columns) for what makes training impossible.
    """
    limit = min(data.max_chunk_size, max_positions or data.max_chunk_size)
    options = _Options(keep_tokens, holds_out)
    prepared = (
        _from_text(path, data, tokens, limit, options, on_progress)
        if is_text(data.file_path)
        else _RowExamples(data, tokens, limit, options).read(path, on_progress)
    )
    if limit < data.max_chunk_size:
        prepared.warnings.append(
            f"The base model reads {limit} tokens at most; the chunk size of "
            f"{data.max_chunk_size} is cut to that."
        )
    return prepared


class _Options(NamedTuple):
    """Whether tokens are kept, and examples held out."""

    keep_tokens: bool
    holds_out: bool


class _RowExamples:
    """The examples of a file with rows, while it is read."""

    def __init__(self, data: DataSpec, tokens: ModelTokens, limit: int, options: _Options) -> None:
        self._data = data
        self._tokens = tokens
        self._limit = limit
        self._holds_out = options.holds_out
        self._builder = ExampleBuilder(options.keep_tokens)
        self._dropped = DroppedRows()
        # Of each example, by which it is trained on or held out.
        self._questions = array("q")
        self._wholes = array("q")
        self._asked = Questions()
        self._rows_kept = 0
        self._truncated = 0
        self._rewritten = 0
        self._unended = 0

    def read(self, path: Path, on_progress: Callable[[Progress], None]) -> Prepared:
        rows = read_rows(path, self._data)
        if rows.format.format == "text":
            _require_stride(self._data, self._limit, self._tokens)
        for batch in self._batches(rows.rows):
            self._add_batch(batch)
            on_progress(
                Progress(
                    self._rows_kept + self._dropped.count,
                    self._builder.starts[-1],
                    rows.position.part,
                    lambda: self._prepared(rows),
                )
            )
        return self._prepared(rows)

    def _prepared(self, rows: Rows) -> Prepared:
        _require_some(len(self._builder), self._dropped)
        questions, wholes = (
            np.frombuffer(keys, dtype=np.int64) for keys in (self._questions, self._wholes)
        )
        data = self._data
        train, held_out = (
            split_examples(questions, wholes, data.train_test_split, data.seed)
            if self._holds_out
            else Split(np.arange(len(questions)), np.arange(0))
        )
        shown = held_out if self._holds_out else train
        repeated = self._rows_kept - len(np.unique(questions)) if self._holds_out else 0
        return Prepared(
            columns=rows.columns,
            format=rows.format,
            rows_total=self._rows_kept + self._dropped.count,
            dropped=self._dropped,
            rows_truncated=self._truncated,
            train=self._builder.examples(train),
            held_out=self._builder.examples(held_out),
            samples=self._builder.samples,
            questions=self._asked.of_held_out(shown.tolist()),
            question_keys=questions,
            warnings=[
                *split_warnings(
                    len(held_out), "The file has only one distinct row", self._holds_out
                ),
                *rows.warnings(data.file_path),
                *repeat_warnings(repeated, rows.format),
                *self._template_warnings(rows.format),
            ],
        )

    def _batches(
        self, rows: Iterable[Conversation | Passage | Dropped]
    ) -> Iterator[list[tuple[Conversation | Passage, Rendered]]]:
        """The usable rows in batches of bounded length, with the texts that the model reads."""
        batch: list[tuple[Conversation | Passage, Rendered]] = []
        characters = 0
        for row in rows:
            if isinstance(row, Dropped):
                self._dropped.add(row)
                continue
            try:
                rendered = (
                    Rendered(row.text, [(0, len(row.text))], [])
                    if isinstance(row, Passage)
                    else self._tokens.conversation(row.turns)
                )
            except TemplateRefusalError as error:
                self._dropped.add(Dropped(row.line, str(error)))
                continue
            batch.append((row, rendered))
            characters += len(rendered.text)
            if len(batch) == _BATCH or characters >= _BATCH_CHARACTERS:
                yield batch
                batch, characters = [], 0
        if batch:
            yield batch

    def _add_batch(self, batch: list[tuple[Conversation | Passage, Rendered]]) -> None:
        encodings = self._tokens.encode_batch([rendered.text for _, rendered in batch])
        for (row, rendered), encoding in zip(batch, encodings, strict=True):
            count = len(self._builder)
            if isinstance(row, Passage):
                self._add_passage(row, encoding.ids)
            else:
                self._add_conversation(row, rendered, encoding)
            key = split_key(row)
            for _ in range(count, len(self._builder)):
                self._questions.append(key.question)
                self._wholes.append(key.whole)
            self._rows_kept += len(self._builder) > count

    def _add_conversation(self, row: Conversation, rendered: Rendered, encoding: Encoding) -> None:
        ids = encoding.ids
        learnt = bytearray(len(ids))
        offsets: list[tuple[int, int]] = encoding.offsets
        learnt_turns: set[int] = set()
        for (start, end), turn in zip(rendered.learnt, rendered.learnt_turns, strict=True):
            # A token that reaches beyond what is learnt is not the answer's.
            first = bisect_left(offsets, (start, 0))
            last = bisect_right(offsets, end, key=_end_of)
            learnt[first:last] = b"\1" * (last - first)
            if first < last and first < self._limit:
                learnt_turns.add(turn)
        if 1 not in learnt[: self._limit]:
            reason = f"the question takes up all {self._limit} tokens of the chunk"
            self._dropped.add(Dropped(row.line, reason))
            return
        kept = row.turns
        if len(ids) > self._limit:
            self._truncated += 1
            kept = kept[: max(learnt_turns) + 1]
        self._rewritten += rendered.is_rewritten
        self._unended += not rendered.is_ended
        turns = [SampleTurn(turn, at in learnt_turns) for at, turn in enumerate(kept)]
        self._builder.add(ids[: self._limit], bytes(learnt[: self._limit]), turns)
        self._asked.add(row.turns[: max(learnt_turns)])

    def _add_passage(self, row: Passage, ids: list[int]) -> None:
        data, prefix, suffix = self._data, self._tokens.text_prefix, self._tokens.text_suffix
        # A row may bring the tokens along that begin and end a text.
        if prefix and ids[: len(prefix)] == prefix:
            ids = ids[len(prefix) :]
        if len(ids) < data.min_segment_length:
            tokens = "1 token" if len(ids) == 1 else f"{len(ids)} tokens"
            reason = f"a text of {tokens}, shorter than the minimum of {data.min_segment_length}"
            self._dropped.add(Dropped(row.line, reason))
            return
        whole = ids if suffix and ids[-len(suffix) :] == suffix else [*ids, *suffix]
        for window in windows(len(whole), self._limit - len(prefix), data.stride):
            part = [*prefix, *whole[window.start : window.stop]]
            self._builder.add(part, b"\1" * len(part), [])
            self._asked.add(None)

    def _template_warnings(self, data_format: DataFormat) -> list[str]:
        warnings: list[str] = []
        if self._tokens.chat_template is None and data_format.format != "text":
            warnings.append(
                "The base model has no chat template: it is trained and served with one turn a "
                "line."
            )
        if self._rewritten:
            warnings.append(
                "This model's chat template rewrites earlier answers, so only the last answer is "
                f"learnt from {in_rows(self._rewritten)}."
            )
        if self._unended:
            warnings.append(
                f"Nothing marks the end of an answer in {in_rows(self._unended)}: the model may "
                "not learn when to stop."
            )
        return warnings


def _end_of(offset: tuple[int, int]) -> int:
    return offset[1]


def _from_text(
    path: Path,
    data: DataSpec,
    tokens: ModelTokens,
    limit: int,
    options: _Options,
    on_progress: Callable[[Progress], None],
) -> Prepared:
    text = read_text(path, data.file_path)
    if len(text) > _TEXT_SAMPLE_CHARACTERS:
        beginning = text[:_TEXT_SAMPLE_CHARACTERS]
        sample = _cut_text(beginning, data, tokens, limit, options._replace(keep_tokens=False))
        part = len(beginning) / len(text)
        on_progress(Progress(sample.rows_total, int(sample.train.starts[-1]), part, lambda: sample))
    return _cut_text(text, data, tokens, limit, options, on_progress)


def _cut_text(
    text: str,
    data: DataSpec,
    tokens: ModelTokens,
    limit: int,
    options: _Options,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Prepared:
    room = _require_stride(data, limit, tokens)
    dropped = DroppedRows()
    builders = (ExampleBuilder(options.keep_tokens), ExampleBuilder(options.keep_tokens))
    total = 0
    parts = cut_document(text, data, tokens, room, holds_out=options.holds_out)
    for builder, part in zip(builders, parts, strict=True):
        for start, ids in part:
            total += 1
            if len(ids) < data.min_segment_length:
                line = text.count("\n", 0, start) + 1
                least = f"the minimum of {data.min_segment_length}"
                reason = f"a segment of {len(ids)} tokens, shorter than {least}"
                dropped.add(Dropped(line, reason))
            else:
                whole = [*tokens.text_prefix, *ids]
                builder.add(whole, b"\1" * len(whole), [])
            if total % _BATCH == 0:
                read = builders[0].starts[-1] + builders[1].starts[-1]
                on_progress(Progress(total, read, start / len(text), None))
    _require_some(len(builders[0]), dropped)
    return Prepared(
        columns=[],
        format=None,
        rows_total=total,
        dropped=dropped,
        rows_truncated=0,
        train=builders[0].examples(),
        held_out=builders[1].examples(),
        samples=builders[0].samples,
        questions=text_questions(len(builders[1 if options.holds_out else 0])),
        warnings=[
            *text_warnings(text, data.file_path),
            *split_warnings(len(builders[1]), "The text is too short", options.holds_out),
        ],
    )


def _require_stride(data: DataSpec, limit: int, tokens: ModelTokens) -> int:
    """How many tokens of text an example holds. Raises PlainError where the stride fills it."""
    room = limit - len(tokens.text_prefix)
    if data.stride >= room:
        raise PlainError(
            f"The stride of {data.stride} must be smaller than the chunk size of {limit} tokens."
        )
    return room


def _require_some(examples: int, dropped: DroppedRows) -> None:
    if examples > 0:
        return
    if dropped.count == 0:
        raise PlainError("The file has no rows.")
    first = dropped.by_line()[0]
    which = "the only row was" if dropped.count == 1 else f"all {dropped.count} were"
    raise PlainError(f"No row can be used: {which} dropped (line {first.line}: {first.reason}).")


def steps_per_epoch(examples: int, batch_size: int, accumulation: int) -> int:
    """Optimiser steps of one epoch, as Trainer counts them."""
    return max(1, math.ceil(math.ceil(examples / batch_size) / accumulation))
