"""Text files: one text, cut into segments that are continued."""

from __future__ import annotations

from array import array
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .segments import pack, sentence_ends, windows
from .split import train_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..protocol import DataSpec
    from .tokens import ModelTokens

Item = TypeVar("Item")

_BATCH = 1000
_TEXT_PIECE = 1_000_000

# The segments of the trained and of the held-out part: where each starts in the text, its tokens.
Parts = tuple["Iterable[tuple[int, list[int]]]", "Iterable[tuple[int, list[int]]]"]


def cut_document(
    text: str, data: DataSpec, tokens: ModelTokens, room: int, *, holds_out: bool
) -> Parts:
    """The segments of at most `room` tokens. The end of the text is held out, not random pieces:
    neighbours share tokens."""
    cut = _token_windows if data.segmentation_method == "tokenizer" else _sentence_chunks
    return cut(text, data, tokens, room, holds_out)


def _token_windows(
    text: str, data: DataSpec, tokens: ModelTokens, room: int, holds_out: bool
) -> Parts:
    """Windows of the same size over all tokens, wherever sentences end."""
    # As lists they would take several times the memory.
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
    """Whole sentences, packed; a sentence that is longer than a chunk is cut into windows."""
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
    """The sentence at which the trained part of the tokens ends."""
    sums = np.cumsum(np.frombuffer(sizes, dtype=np.int32), dtype=np.int64)
    return max(1, min(int(np.searchsorted(sums, sums[-1] * part)) + 1, len(sizes) - 1))


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


def _in_batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, _BATCH)):
        yield batch
