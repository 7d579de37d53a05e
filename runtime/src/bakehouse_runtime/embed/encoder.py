"""A model in the layout of sentence-transformers: tokenizer, encoder, pooling, norm."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import PlainError
from ..files import read_object, read_optional_object
from .bert import Bert
from .modules import read_modules
from .weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Tokens per batch; larger intermediate results would not fit the cache.
_BATCH_TOKENS = 512


class InputError(Exception):
    """An input cannot be read: its index, the reason, and its length if it is too long."""

    def __init__(self, index: int, message: str, tokens: int | None = None) -> None:
        super().__init__(message)
        self.index = index
        self.tokens = tokens


class Encoder:
    def __init__(self, folder: Path, threads: int = 1, context_tokens: int | None = None) -> None:
        """Loads a model for `threads` threads and texts of at most `context_tokens` tokens. Raises
        PlainError if it has unsupported parts."""
        from tokenizers import Tokenizer

        modules = read_modules(folder)
        self._pool: Callable[[Floats], Floats] = modules.pool
        self._is_normalised = modules.is_normalised
        self._bert = Bert(read_object(folder / "config.json"), _weights(folder))
        said = read_optional_object(folder / "sentence_bert_config.json")
        self._lowers = said.get("do_lower_case") is True
        window = said.get("max_seq_length")
        limits = (window if _is_count(window) else None, context_tokens)
        self.window = min(limit for limit in (self._bert.positions, *limits) if limit is not None)
        self._tokenizer = _tokenizer(Tokenizer, folder)
        self._around = self._tokenizer.encode("").ids
        # Each thread computes its own batch: splitting the matrix products of one batch among
        # threads is slower.
        self._threads = ThreadPoolExecutor(threads, "encoder")

    def tokenise(self, inputs: list[str] | list[list[int]]) -> list[list[int]]:
        """Returns token ids, including the special tokens around every text. Raises InputError."""
        texts = [each for each in inputs if isinstance(each, str)]
        if texts and len(texts) == len(inputs):
            prepared = [self._prepared(text) for text in texts]
            found = [encoding.ids for encoding in self._tokenizer.encode_batch(prepared)]
        else:
            found = [self._checked(index, ids) for index, ids in enumerate(inputs)]
        for index, ids in enumerate(found):
            if len(ids) > self.window:
                raise InputError(index, f"it has {len(ids)} tokens", len(ids))
        return found

    def encode(self, sequences: list[list[int]]) -> Floats:
        """Returns one vector per sequence, [sequences, size]."""
        vectors = np.empty((len(sequences), self._bert.size), dtype=np.float32)
        order = sorted(range(len(sequences)), key=lambda index: len(sequences[index]))
        batches = _batches(order, sequences)

        def encode(batch: list[int]) -> None:
            found = self._bert.states([sequences[index] for index in batch])
            for index, states in zip(batch, found, strict=True):
                vectors[index] = self._pool(states)

        # Consume the iterator, so that errors of a thread are raised here.
        list(self._threads.map(encode, batches))
        if self._is_normalised:
            lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
            vectors /= np.maximum(lengths, np.float32(1e-12))
        if not np.isfinite(vectors).all():
            raise PlainError("The model yields no numbers.")
        return vectors

    def _prepared(self, text: str) -> str:
        text = text.strip()
        return text.lower() if self._lowers else text

    def _checked(self, index: int, ids: Any) -> list[int]:
        """Accepts ids only if they are in the vocabulary and have this tokenizer's special tokens.
        Ids of another tokenizer would be read as other words."""
        around = self._around
        begins, ends = around[:1], around[-1:]
        if (
            len(ids) < 2
            or ids[:1] != begins
            or ids[-1:] != ends
            or max(ids) >= self._bert.vocabulary
        ):
            raise InputError(
                index,
                "token ids must be those of this model's own tokenizer, from "
                f"{begins[0]} to {ends[0]} as it writes them. Send text instead"
                if around
                else "this model takes text, and no token ids",
            )
        return list(ids)


def _batches(order: list[int], sequences: list[list[int]]) -> list[list[int]]:
    batches: list[list[int]] = []
    tokens = _BATCH_TOKENS
    for index in order:
        tokens += len(sequences[index])
        if tokens > _BATCH_TOKENS:
            batches.append([])
            tokens = len(sequences[index])
        batches[-1].append(index)
    return batches


def _weights(folder: Path) -> dict[str, Floats]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise PlainError("The model has no safetensors weights.")
    return read_weights(files)


def _tokenizer(kind: Any, folder: Path) -> Any:
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise PlainError("The model has no tokenizer.json.")
    try:
        tokenizer = kind.from_file(str(file))
    except Exception as error:  # The library raises nothing narrower.
        raise PlainError(f"tokenizer.json cannot be read: {error}.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
