"""Cuts a text into segments of whole sentences, packed up to a chunk's size.

All functions work on spans of the original text, so nothing is lost or changed. None of the methods
downloads anything.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]
SentenceMethod = Literal["regex", "spacy", "nltk"]

# After . ! or ?, before a likely start of a sentence; or at an empty line.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])|\n\s*\n")
# spaCy rejects texts above 1,000,000 characters; shorter pieces also limit its memory.
_SPACY_CHARACTERS = 100_000


def sentence_ends(text: str, method: SentenceMethod) -> array[int]:
    """Returns the end of each sentence. The first sentence starts at 0, and each includes its
    leading white space. Uses an array, since a long text has millions of sentences."""
    found = {"regex": _regex_ends, "spacy": _spacy_ends, "nltk": _nltk_ends}[method](text)
    ends = array("q")
    start = 0
    for end in found:
        if text[start:end].strip():
            ends.append(end)
            start = end
    if text[start:].strip():
        ends.append(len(text))
    elif ends:
        ends[-1] = len(text)
    return ends


def pack(sizes: Sequence[int], limit: int, overlap: int) -> Iterator[range]:
    """Packs neighbouring sentences of the given sizes into groups of at most `limit` tokens.

    A group repeats the last sentences of the previous group as far as they fit into `overlap`
    tokens. A sentence above the limit is a group of its own.
    """
    first = 0
    while first < len(sizes):
        end, total = first + 1, sizes[first]
        while end < len(sizes) and total + sizes[end] <= limit:
            total += sizes[end]
            end += 1
        yield range(first, end)
        if end == len(sizes):
            return
        first = _overlap_start(sizes, first, end, limit - sizes[end], overlap)


def windows(count: int, size: int, overlap: int) -> Iterator[range]:
    """Yields windows of `size` tokens over `count` tokens; neighbours share `overlap` tokens."""
    start = 0
    while True:
        yield range(start, min(start + size, count))
        if start + size >= count:
            return
        start += size - overlap


def _overlap_start(sizes: Sequence[int], first: int, end: int, room: int, overlap: int) -> int:
    """Returns the first sentence that the next group repeats; always after `first`, to guarantee
    progress."""
    shared = 0
    start = end
    while start - 1 > first and shared + sizes[start - 1] <= min(overlap, room):
        start -= 1
        shared += sizes[start]
    return start


def _regex_ends(text: str) -> Iterator[int]:
    return (match.start() for match in _SENTENCE_END.finditer(text))


def _spacy_ends(text: str) -> Iterator[int]:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for start, end in _pieces(text, _SPACY_CHARACTERS):
        for sentence in nlp(text[start:end]).sents:
            yield start + sentence.end_char


def _nltk_ends(text: str) -> Iterator[int]:
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer

    # Punkt learns abbreviations from the text itself; its ready-made parameters would be a
    # download.
    trainer = PunktTrainer()
    trainer.train(text, finalize=True, verbose=False)
    return (end for _, end in PunktSentenceTokenizer(trainer.get_params()).span_tokenize(text))


def _pieces(text: str, size: int) -> Iterator[Span]:
    """Yields pieces of at most `size` characters, cut after a line or a word if possible."""
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start, end), text.rfind(" ", start, end))
            end = cut + 1 if cut > start else end
        yield start, end
        start = end
