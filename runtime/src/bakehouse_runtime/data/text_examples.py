"""Training examples out of a text file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .builder import DroppedRows, ExampleBuilder
from .documents import cut_document
from .example_warnings import split_warnings
from .prepared import Options, Prepared, Progress, require_pairs, require_some, require_stride
from .questions import text_questions
from .rows import read_text, text_warnings
from .table import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..protocol import DataSpec
    from .tokens import ModelTokens

_BATCH = 1000
# A longer text is first looked at as far as this.
_TEXT_SAMPLE_CHARACTERS = 4_000_000


def text_examples(
    path: Path,
    data: DataSpec,
    tokens: ModelTokens,
    limit: int,
    options: Options,
    on_progress: Callable[[Progress], None],
) -> Prepared:
    require_pairs(options.objective, None, data.file_path)
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
    options: Options,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Prepared:
    room = require_stride(data, limit, tokens)
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
    require_some(len(builders[0]), dropped)
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
