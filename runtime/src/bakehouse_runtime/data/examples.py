"""Training examples out of a data file: the one reading that validation and training share."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..errors import PlainError
from .rows import Pair, is_text, read_pairs, read_text
from .segments import Span, pack, sentences, windows
from .split import PairKey, pair_key, split_rows, train_count
from .table import Dropped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from ..protocol import DataSpec
    from .tokens import ModelTokens

Item = TypeVar("Item")

_BATCH = 1000
# Of the texts that are tokenised at once: tokens take some fifty times their memory meanwhile.
_BATCH_CHARACTERS = 2_000_000
_TEXT_PIECE = 1_000_000


@dataclass(frozen=True)
class Examples:
    """Token sequences, laid end to end so that millions of them stay small."""

    tokens: NDArray[np.int32]
    # Example i is tokens[starts[i] : starts[i + 1]].
    starts: NDArray[np.int64]
    # Its first token that the loss counts.
    trained_from: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.trained_from)

    def example(self, index: int) -> NDArray[np.int32]:
        """The tokens of one example."""
        return self.tokens[self.starts[index] : self.starts[index + 1]]

    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each example."""
        return np.diff(self.starts)


@dataclass
class Prepared:
    """What a data file becomes."""

    columns: list[str]
    rows_total: int
    dropped: list[Dropped]
    rows_truncated: int
    train: Examples
    held_out: Examples
    warnings: list[str] = field(default_factory=list)

    @property
    def longest(self) -> int:
        """Tokens of the longest example."""
        parts = (self.train, self.held_out)
        return int(max(part.lengths().max(initial=0) for part in parts))


@dataclass
class _Builder:
    """Collects examples one by one."""

    sequences: list[NDArray[np.int32]] = field(default_factory=list)
    trained_from: list[int] = field(default_factory=list)

    def add(self, tokens: list[int], trained_from: int) -> None:
        self.sequences.append(np.asarray(tokens, dtype=np.int32))
        self.trained_from.append(trained_from)

    def examples(self, order: Iterable[int] | None = None) -> Examples:
        order = range(len(self.sequences)) if order is None else order
        chosen = [self.sequences[i] for i in order]
        return Examples(
            tokens=np.concatenate(chosen) if chosen else np.empty(0, np.int32),
            starts=np.concatenate([[0], np.cumsum([len(one) for one in chosen])]).astype(np.int64),
            trained_from=np.asarray([self.trained_from[i] for i in order], dtype=np.int64),
        )


def prepare_examples(
    path: Path, data: DataSpec, tokens: ModelTokens, max_positions: int | None
) -> Prepared:
    """Reads a data file into training and held-out examples; the same spec gives the same ones.

    Raises PlainError (DataError with the columns) for what makes training impossible.
    """
    limit = min(data.max_chunk_size, max_positions or data.max_chunk_size)
    prepared = (
        _from_text(path, data, tokens, limit)
        if is_text(data.file_path)
        else _from_pairs(path, data, tokens, limit)
    )
    if limit < data.max_chunk_size:
        prepared.warnings.append(
            f"The base model reads {limit} tokens at most; the chunk size of "
            f"{data.max_chunk_size} is cut to that."
        )
    return prepared


def _from_pairs(path: Path, data: DataSpec, tokens: ModelTokens, limit: int) -> Prepared:
    pairs = read_pairs(path, data.file_path, data.input_column, data.output_column)
    builder = _Builder()
    dropped: list[Dropped] = []
    kept: list[PairKey] = []
    truncated = 0
    for batch in _batched_pairs(pairs.rows, dropped):
        for pair, (ids, trained_from) in zip(batch, _dialogues(batch, tokens), strict=True):
            if trained_from >= min(len(ids), limit):
                dropped.append(
                    Dropped(pair.line, f"the question alone fills the chunk of {limit} tokens")
                )
                continue
            truncated += len(ids) > limit
            builder.add(ids[:limit], trained_from)
            kept.append(pair_key(pair.question, pair.answer))
    dropped.sort(key=lambda row: row.line)
    _require_some(len(builder.sequences), dropped)
    train, held_out, repeated = split_rows(kept, data.train_test_split, data.seed)
    warnings = _split_warnings(len(held_out))
    if repeated:
        warnings.append(
            f"{repeated} rows ask what another row asks: those of one question are all trained on "
            "or all held out."
        )
    if tokens.chat_template is None:
        warnings.append(
            "The base model has no chat template: question and answer are joined by a line break."
        )
    return Prepared(
        columns=pairs.columns,
        rows_total=len(kept) + len(dropped),
        dropped=dropped,
        rows_truncated=truncated,
        train=builder.examples(train),
        held_out=builder.examples(held_out),
        warnings=warnings,
    )


def _dialogues(batch: list[Pair], tokens: ModelTokens) -> Iterator[tuple[list[int], int]]:
    """The tokens of each dialogue, and the first one that belongs to the answer."""
    # A chat template writes the begin-of-text token itself.
    prefix = tokens.text_prefix if tokens.chat_template is None else []
    rendered = [tokens.dialogue(pair.question, pair.answer) for pair in batch]
    encodings = tokens.encode_batch([whole for _, whole in rendered])
    for (asked, whole), encoding in zip(rendered, encodings, strict=True):
        # A template may render the question differently once an answer follows.
        answer_at = _shared_length(asked, whole)
        trained_from = bisect_left(encoding.offsets, (answer_at, 0))
        yield [*prefix, *encoding.ids], len(prefix) + trained_from


def _shared_length(one: str, other: str) -> int:
    """How many characters two texts share from their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _from_text(path: Path, data: DataSpec, tokens: ModelTokens, limit: int) -> Prepared:
    text = read_text(path, data.file_path)
    room = limit - len(tokens.text_prefix)
    if data.stride >= room:
        raise PlainError(
            f"The stride of {data.stride} must be smaller than the chunk size of {limit} tokens."
        )
    if data.segmentation_method == "tokenizer":
        parts = _token_windows(text, data, tokens, room)
    else:
        parts = _sentence_chunks(text, data, tokens, room)
    dropped: list[Dropped] = []
    builders = (_Builder(), _Builder())
    total = 0
    # The end of the text is held out, not random pieces: neighbours share tokens.
    for builder, part in zip(builders, parts, strict=True):
        for start, ids in part:
            total += 1
            if len(ids) < data.min_segment_length:
                line = text.count("\n", 0, start) + 1
                reason = f"a segment of {len(ids)} tokens, fewer than {data.min_segment_length}"
                dropped.append(Dropped(line, reason))
            else:
                builder.add([*tokens.text_prefix, *ids], 0)
    _require_some(len(builders[0].sequences), dropped)
    return Prepared(
        columns=[],
        rows_total=total,
        dropped=dropped,
        rows_truncated=0,
        train=builders[0].examples(),
        held_out=builders[1].examples(),
        warnings=_split_warnings(len(builders[1].sequences)),
    )


# The segments of the trained and of the held-out part: where each starts in the text, its tokens.
Parts = tuple["Iterable[tuple[int, list[int]]]", "Iterable[tuple[int, list[int]]]"]


def _token_windows(text: str, data: DataSpec, tokens: ModelTokens, room: int) -> Parts:
    """Windows of the same size over all tokens, wherever sentences end."""
    ids: list[int] = []
    starts: list[int] = []
    at = 0
    for piece in _text_pieces(text):
        encoding = tokens.encode_batch([piece])[0]
        ids.extend(encoding.ids)
        starts.extend(at + start for start, _ in encoding.offsets)
        at += len(piece)
    cut = train_count(len(ids), data.train_test_split) if len(ids) > room else len(ids)

    def part(first: int, end: int) -> Iterator[tuple[int, list[int]]]:
        if first == end:
            return
        for window in windows(end - first, room, data.stride):
            here = slice(first + window.start, first + window.stop)
            yield starts[here.start], ids[here]

    return part(0, cut), part(cut, len(ids))


def _sentence_chunks(text: str, data: DataSpec, tokens: ModelTokens, room: int) -> Parts:
    """Whole sentences, packed; a sentence that is longer than a chunk is cut into windows."""
    assert data.segmentation_method != "tokenizer"
    spans = sentences(text, data.segmentation_method)
    sizes = [
        len(encoding.ids)
        for batch in _batched(spans, _BATCH)
        for encoding in tokens.encode_batch([text[start:end] for start, end in batch])
    ]
    cut = _sentence_cut(sizes, data.train_test_split) if sum(sizes) > room else len(spans)

    def part(spans: list[Span], sizes: list[int]) -> Iterator[tuple[int, list[int]]]:
        chunks = (
            (spans[group.start][0], spans[group.stop - 1][1])
            for group in pack(sizes, room, data.stride)
        )
        for batch in _batched(chunks, _BATCH):
            encodings = tokens.encode_batch([text[start:end].strip() for start, end in batch])
            for (start, end), encoding in zip(batch, encodings, strict=True):
                first = end - len(text[start:end].lstrip())
                for window in windows(len(encoding.ids), room, data.stride):
                    yield first, encoding.ids[window.start : window.stop]

    return part(spans[:cut], sizes[:cut]), part(spans[cut:], sizes[cut:])


def _sentence_cut(sizes: list[int], part: float) -> int:
    """The sentence at which the trained part of the tokens ends."""
    return max(1, min(bisect_left(np.cumsum(sizes), sum(sizes) * part) + 1, len(sizes) - 1))


def _text_pieces(text: str) -> Iterator[str]:
    """Pieces for the tokenizer, cut before white space, where words begin anyway."""
    start = 0
    while start < len(text):
        end = start + _TEXT_PIECE
        if end < len(text):
            cut = text.rfind(" ", start + 1, end)
            end = cut if cut > start else end
        yield text[start:end]
        start = end


def _split_warnings(held_out: int) -> list[str]:
    if held_out > 0:
        return []
    return ["There is too little data to hold any of it out: the run has no evaluation loss."]


def _require_some(examples: int, dropped: list[Dropped]) -> None:
    if examples > 0:
        return
    if not dropped:
        raise PlainError("The file has no rows.")
    first = dropped[0]
    raise PlainError(
        f"No row can be used: all {len(dropped)} were dropped (line {first.line}: {first.reason})."
    )


def _batched_pairs(rows: Iterable[Pair | Dropped], dropped: list[Dropped]) -> Iterator[list[Pair]]:
    """The usable rows in batches of bounded length; the others are added to `dropped`."""
    batch: list[Pair] = []
    characters = 0
    for row in rows:
        if isinstance(row, Dropped):
            dropped.append(row)
            continue
        batch.append(row)
        characters += len(row.question) + len(row.answer)
        if len(batch) == _BATCH or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def steps_per_epoch(examples: int, batch_size: int, accumulation: int) -> int:
    """Optimiser steps of one epoch, as Trainer counts them."""
    return max(1, math.ceil(math.ceil(examples / batch_size) / accumulation))
