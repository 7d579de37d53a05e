"""Cuts a text file into segments to train on."""

from __future__ import annotations

from array import array
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .builder import DroppedRows, ExampleBuilder
from .example_warnings import split_warnings
from .prepared import (
    Options,
    Prepared,
    Progress,
    require_compared,
    require_examples,
    require_stride,
)
from .questions import text_questions
from .rows import read_text, text_warnings
from .segments import pack, sentence_ends, windows
from .split import train_count
from .table import Dropped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from ..protocol import DataSpec
    from .tokens import ModelTokens

Item = TypeVar("Item")

_BATCH = 1000
_TEXT_PIECE = 1_000_000
# The size of the sample with which a longer text is estimated first.
_TEXT_SAMPLE_CHARACTERS = 4_000_000

# The segments of the training and the held-out part: for each, its start in the text and its
# tokens.
Parts = tuple["Iterable[tuple[int, list[int]]]", "Iterable[tuple[int, list[int]]]"]


def text_examples(
    path: Path,
    data: DataSpec,
    tokens: ModelTokens,
    limit: int,
    options: Options,
    on_progress: Callable[[Progress], None],
) -> Prepared:
    """Returns the examples of a text file. Raises PlainError for anything that makes training
    impossible."""
    require_compared(options.objective, None, data.file_path)
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
    parts = _segments(text, data, tokens, room, holds_out=options.holds_out)
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
    require_examples(len(builders[0]), dropped)
    return Prepared(
        limit=limit,
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


def _segments(
    text: str, data: DataSpec, tokens: ModelTokens, room: int, *, holds_out: bool
) -> Parts:
    """Returns segments of at most `room` tokens. The end of the text is held out instead of random
    segments, because neighbouring segments share tokens."""
    cut = _token_windows if data.segmentation_method == "tokenizer" else _sentence_chunks
    return cut(text, data, tokens, room, holds_out)


def _token_windows(
    text: str, data: DataSpec, tokens: ModelTokens, room: int, holds_out: bool
) -> Parts:
    """Cuts windows of equal size over all tokens, ignoring sentence boundaries."""
    # Lists would take several times the memory.
    ids = array("i")
    starts = array("q")
    at = 0
    for piece in _text_pieces(text):
        encoding = tokens.encode_batch([piece])[0]
        ids.extend(encoding.ids)
        starts.extend(at + start for start, _ in encoding.offsets)
        at += len(piece)
    is_cut = holds_out and len(ids) > room
    cut = train_count(len(ids), data.train_test_split) if is_cut else len(ids)

    def part(first: int, end: int) -> Iterator[tuple[int, list[int]]]:
        if first == end:
            return
        for window in windows(end - first, room, data.stride):
            here = slice(first + window.start, first + window.stop)
            yield starts[here.start], ids[here].tolist()

    return part(0, cut), part(cut, len(ids))


def _sentence_chunks(
    text: str, data: DataSpec, tokens: ModelTokens, room: int, holds_out: bool
) -> Parts:
    """Packs whole sentences; a sentence longer than a chunk is cut into windows."""
    assert data.segmentation_method != "tokenizer"
    ends = sentence_ends(text, data.segmentation_method)

    def start_of(sentence: int) -> int:
        return ends[sentence - 1] if sentence > 0 else 0

    sizes = array("i")
    for batch in _in_batches(range(len(ends))):
        encodings = tokens.encode_batch([text[start_of(at) : ends[at]] for at in batch])
        sizes.extend(len(encoding.ids) for encoding in encodings)
    is_cut = holds_out and sum(sizes) > room
    cut = _sentence_cut(sizes, data.train_test_split) if is_cut else len(ends)

    def part(first: int, last: int) -> Iterator[tuple[int, list[int]]]:
        chunks = (
            (start_of(first + group.start), ends[first + group.stop - 1])
            for group in pack(sizes[first:last], room, data.stride)
        )
        for batch in _in_batches(chunks):
            encodings = tokens.encode_batch([text[start:end].strip() for start, end in batch])
            for (start, end), encoding in zip(batch, encodings, strict=True):
                written = end - len(text[start:end].lstrip())
                for window in windows(len(encoding.ids), room, data.stride):
                    yield written, encoding.ids[window.start : window.stop]

    return part(0, cut), part(cut, len(ends))


def _sentence_cut(sizes: array[int], part: float) -> int:
    """Returns the sentence at which the training part of the tokens ends."""
    sums = np.cumsum(np.frombuffer(sizes, dtype=np.int32), dtype=np.int64)
    return max(1, min(int(np.searchsorted(sums, sums[-1] * part)) + 1, len(sizes) - 1))


def _text_pieces(text: str) -> Iterator[str]:
    """Yields pieces for the tokenizer, cut before white space, where words begin anyway."""
    start = 0
    while start < len(text):
        end = start + _TEXT_PIECE
        if end < len(text):
            cut = text.rfind(" ", start + 1, end)
            end = cut if cut > start else end
        yield text[start:end]
        start = end


def _in_batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH)):
        yield batch
