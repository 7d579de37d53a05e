"""Reads training examples from a data file, for validation and training alike."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .builder import (
    DroppedRows,
    ExampleBuilder,
    Examples,
    Sample,
    SampleTurn,
    cut_conversation,
)
from .conversations import Passage, Preference, Prompt, Rated, Rendered
from .documents import text_examples
from .example_warnings import in_rows, objective_warnings, repeat_warnings, split_warnings
from .prepared import (
    PAIRS,
    Options,
    Prepared,
    Progress,
    require_compared,
    require_examples,
    require_room,
    require_stride,
)
from .questions import Questions
from .rows import is_text, read_rows
from .segments import windows
from .split import Split, split_examples, split_key
from .table import Dropped
from .templates.jinja_template import UntrainableTemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tokenizers import Encoding

    from ..protocol import DataSpec, Objective
    from .conversations import Conversation
    from .formats import DataFormat
    from .rows import Rows
    from .split import Numbers
    from .tokens import ModelTokens
    from .turns import Turn

_BATCH = 1000
# Limits the texts tokenised together: tokens temporarily take about fifty times their memory.
_BATCH_CHARACTERS = 2_000_000


def prepare_examples(
    path: Path,
    data: DataSpec,
    tokens: ModelTokens,
    max_positions: int | None,
    *,
    keep_tokens: bool = True,
    holds_out: bool = True,
    objective: Objective = "sft",
    max_generated_tokens: int = 0,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Prepared:
    """Reads a data file into training and held-out examples; deterministic for the same spec.

    Without `keep_tokens` they are only counted: a file with rows then takes a few dozen bytes per
    row, and a text file its own size and a dozen bytes per token. Without `holds_out` all are
    trained on. `max_generated_tokens` is the most tokens that the model generates per prompt.

    Raises PlainError (DataError with the columns) for anything that makes training impossible.
    """
    limit = min(data.max_chunk_size, max_positions or data.max_chunk_size)
    options = Options(keep_tokens, holds_out, objective, max_generated_tokens)
    require_room(options, limit)
    prepared = (
        text_examples(path, data, tokens, limit, options, on_progress)
        if is_text(data.file_path)
        else _RowExamples(data, tokens, limit, options).read(path, on_progress)
    )
    if limit < data.max_chunk_size:
        prepared.warnings.append(
            f"The base model reads {limit} tokens at most; the chunk size of "
            f"{data.max_chunk_size} is cut to that."
        )
    return prepared


class _RowExamples:
    """The examples of a file with rows, while it is read."""

    def __init__(self, data: DataSpec, tokens: ModelTokens, limit: int, options: Options) -> None:
        self._data = data
        self._tokens = tokens
        self._limit = limit
        self._holds_out = options.holds_out
        self._objective: Objective = options.objective
        self._new_tokens = options.max_generated_tokens
        # The worse answers of pairs have a builder of their own.
        count = 2 if options.objective in PAIRS else 1
        self._builders = [ExampleBuilder(options.keep_tokens) for _ in range(count)]
        self._builder = self._builders[0]
        # For each rated example, whether its answer is good.
        self._good = array("b")
        # For each prompt, the reference for its answers.
        self._references: list[str | None] = []
        self._dropped = DroppedRows()
        # For each example, the keys by which it is assigned to the training or the held-out part.
        self._questions = array("q")
        self._wholes = array("q")
        self._asked = Questions()
        self._rows_kept = 0
        self._truncated = 0
        self._rewritten = 0
        self._unended = 0

    def read(self, path: Path, on_progress: Callable[[Progress], None]) -> Prepared:
        rows = read_rows(path, self._data)
        require_compared(self._objective, rows.format, self._data.file_path)
        if rows.format.format == "text":
            require_stride(self._data, self._limit, self._tokens)
        for batch in self._batches(rows.rows):
            self._add_batch(batch)
            on_progress(
                Progress(
                    self._rows_kept + self._dropped.count,
                    sum(builder.starts[-1] for builder in self._builders),
                    rows.position.part,
                    lambda: self._prepared(rows),
                )
            )
        return self._prepared(rows)

    def _prepared(self, rows: Rows) -> Prepared:
        require_examples(len(self._builder), self._dropped)
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
            limit=self._limit,
            columns=rows.columns,
            format=rows.format,
            rows_total=self._rows_kept + self._dropped.count,
            dropped=self._dropped,
            rows_truncated=self._truncated,
            train=self._examples(train),
            held_out=self._examples(held_out),
            samples=self._samples(),
            questions=self._asked.of_held_out(shown.tolist()),
            question_keys=questions,
            warnings=[
                *split_warnings(
                    len(held_out), "The file has only one distinct row", self._holds_out
                ),
                *rows.warnings(data.file_path),
                *repeat_warnings(repeated, rows.format),
                *objective_warnings(self._objective, rows.format),
                *self._template_warnings(rows.format),
            ],
        )

    def _examples(self, order: Numbers) -> Examples:
        examples, *rejected = (builder.examples(order) for builder in self._builders)
        if self._objective == "kto":
            good = np.frombuffer(self._good, dtype=np.bool_)[order]
            return replace(examples, good=good)
        if self._objective == "grpo":
            return replace(examples, references=[self._references[at] for at in order.tolist()])
        return replace(examples, rejected=rejected[0]) if rejected else examples

    def _samples(self) -> list[Sample]:
        if self._objective == "kto":
            ratings = zip(self._builder.samples, self._good, strict=False)
            return [replace(sample, label=bool(good)) for sample, good in ratings]
        if self._objective == "grpo":
            compared = zip(self._builder.samples, self._references, strict=False)
            return [replace(sample, reference=reference) for sample, reference in compared]
        return [
            replace(sample, rejected=rejected[0]) if rejected else sample
            for sample, *rejected in zip(
                *(builder.samples for builder in self._builders), strict=True
            )
        ]

    def _batches(
        self, rows: Iterable[Conversation | Passage | Dropped]
    ) -> Iterator[list[tuple[Conversation | Passage, list[Rendered]]]]:
        """Yields the usable rows in batches of bounded size, with their rendered texts."""
        batch: list[tuple[Conversation | Passage, list[Rendered]]] = []
        characters = 0
        for row in rows:
            if isinstance(row, Dropped):
                self._dropped.add(row)
                continue
            if self._objective == "sft" and isinstance(row, Rated) and not row.good:
                reason = "the answer is bad, and SFT learns the good ones alone"
                self._dropped.add(Dropped(row.line, reason))
                continue
            try:
                rendered = self._rendered(row)
            except UntrainableTemplateError as error:
                self._dropped.add(Dropped(row.line, str(error)))
                continue
            batch.append((row, rendered))
            characters += sum(len(one.text) for one in rendered)
            if len(batch) == _BATCH or characters >= _BATCH_CHARACTERS:
                yield batch
                batch, characters = [], 0
        if batch:
            yield batch

    def _rendered(self, row: Conversation | Passage) -> list[Rendered]:
        """Returns the texts of a row: one, or two for a pair of answers."""
        if isinstance(row, Passage):
            return [Rendered(row.text, [(0, len(row.text))], [])]
        if isinstance(row, Prompt):
            return [Rendered(self._tokens.question(row.turns, row.tools), [], [])]
        return [self._tokens.conversation(turns, row.tools) for turns in self._answers(row)]

    def _answers(self, row: Conversation) -> list[list[Turn]]:
        if len(self._builders) > 1 and isinstance(row, Preference):
            return [row.turns, row.rejected]
        return [row.turns]

    def _add_batch(self, batch: list[tuple[Conversation | Passage, list[Rendered]]]) -> None:
        encodings = iter(
            self._tokens.encode_batch([one.text for _, rendered in batch for one in rendered])
        )
        for row, rendered in batch:
            count = len(self._builder)
            encoded = list(islice(encodings, len(rendered)))
            if isinstance(row, Passage):
                self._add_passage(row, encoded[0].ids)
            elif isinstance(row, Prompt):
                self._add_prompt(row, encoded[0].ids)
            else:
                self._add_conversation(row, rendered, encoded)
            key = split_key(row)
            for _ in range(count, len(self._builder)):
                self._questions.append(key.question)
                self._wholes.append(key.whole)
            self._rows_kept += len(self._builder) > count

    def _add_conversation(
        self, row: Conversation, rendered: list[Rendered], encodings: list[Encoding]
    ) -> None:
        parts = zip(self._answers(row), rendered, encodings, strict=True)
        cuts = [cut_conversation(*part, self._limit) for part in parts]
        found = [cut for cut in cuts if cut is not None]
        if len(found) < len(cuts):
            reason = f"the question takes up all {self._limit} tokens of the chunk"
            self._dropped.add(Dropped(row.line, reason))
            return
        first, *others = found
        if any(other.tokens == first.tokens for other in others):
            reason = f"both answers are the same in the {self._limit} tokens of the chunk"
            self._dropped.add(Dropped(row.line, reason))
            return
        self._truncated += any(cut.is_truncated for cut in found)
        self._rewritten += any(one.is_rewritten for one in rendered)
        self._unended += not all(one.is_ended for one in rendered)
        for builder, cut in zip(self._builders, found, strict=True):
            builder.add(cut.tokens, cut.learnt, cut.turns)
        is_good = not isinstance(row, Rated) or row.good
        self._good.append(is_good)
        self._asked.add(first.asked, is_good=is_good)

    def _add_prompt(self, row: Prompt, ids: list[int]) -> None:
        room = self._limit - self._new_tokens
        if len(ids) > room:
            reason = (
                f"a prompt of {len(ids)} tokens, and the chunk of {self._limit} leaves room for "
                f"{room} next to an answer of up to {self._new_tokens}"
            )
            self._dropped.add(Dropped(row.line, reason))
            return
        turns = [SampleTurn(turn, learnt=False) for turn in row.turns]
        self._builder.add(ids, b"\0" * len(ids), turns)
        self._references.append(row.reference)
        self._asked.add(row.turns)

    def _add_passage(self, row: Passage, ids: list[int]) -> None:
        data, prefix, suffix = self._data, self._tokens.text_prefix, self._tokens.text_suffix
        # A row may already contain the tokens that begin and end a text.
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
                "The base model has no chat template: training and serving use a plain template "
                "with one turn per line."
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


def steps_per_epoch(examples: int, batch_size: int, accumulation: int) -> int:
    """Returns the optimiser steps of one epoch, as Trainer counts them."""
    return max(1, math.ceil(math.ceil(examples / batch_size) / accumulation))
