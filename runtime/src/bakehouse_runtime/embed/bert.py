"""The forward pass of BERT and related models in NumPy, in float32.

llama.cpp also supports such models, but computes the activation function from a half-precision
table, so its vectors differ from the published ones in the fourth digit
(docs/decisions/numpy-embedding-encoder.md).
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import PlainError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Families with BERT's layers, and whether their positions start after the padding index.
_FAMILIES = {"bert": False, "roberta": True, "xlm-roberta": True, "camembert": True}


class Bert:
    """Computes the last hidden states for sequences of token ids."""

    def __init__(self, config: Mapping[str, Any], weights: dict[str, Floats]) -> None:
        """Raises PlainError for a model with other layers or missing weights."""
        family = config.get("model_type")
        if family not in _FAMILIES:
            raise PlainError(f"Models of the type {family} cannot be served for embeddings here.")
        if config.get("hidden_act", "gelu") != "gelu":
            raise PlainError(f"The activation {config['hidden_act']} is not known here.")
        if config.get("position_embedding_type", "absolute") != "absolute":
            raise PlainError("Only absolute positions are known here.")
        try:
            self._heads = int(config["num_attention_heads"])
            self._layers = int(config["num_hidden_layers"])
            self.size = int(config["hidden_size"])
            positions = int(config["max_position_embeddings"])
        except (KeyError, TypeError, ValueError) as error:
            raise PlainError(f"config.json does not say {error}.") from error
        self._eps = np.float32(config.get("layer_norm_eps", 1e-12))
        self._first_position = int(config.get("pad_token_id", 1)) + 1 if _FAMILIES[family] else 0
        self.positions = positions - self._first_position
        self._weights = {_plain_name(name): values for name, values in weights.items()}
        self._check()

    def _check(self) -> None:
        for name in [
            *(f"embeddings.{part}.weight" for part in ("word_embeddings", "LayerNorm")),
            *(f"encoder.layer.{layer}.output.dense.weight" for layer in range(self._layers)),
        ]:
            if name not in self._weights:
                raise PlainError(f"The weights have no {name}.")

    @property
    def vocabulary(self) -> int:
        return len(self._weights["embeddings.word_embeddings.weight"])

    def states(self, sequences: Sequence[Sequence[int]]) -> list[Floats]:
        """Returns the states [tokens, size] of each sequence. Sequences are concatenated, so that
        nothing is computed for padding; sort them by length."""
        lengths = [len(sequence) for sequence in sequences]
        ids = np.concatenate([np.asarray(sequence, dtype=np.int64) for sequence in sequences])
        places = np.concatenate([np.arange(length) for length in lengths]) + self._first_position
        table = self._weights
        x = (
            table["embeddings.word_embeddings.weight"][ids]
            + table["embeddings.position_embeddings.weight"][places]
            + table["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        runs = _runs(lengths)
        for layer in range(self._layers):
            x = self._layer(x, f"encoder.layer.{layer}", runs)
        return np.split(x, np.cumsum(lengths)[:-1])

    def _layer(self, x: Floats, name: str, runs: list[tuple[int, int, int]]) -> Floats:
        query, key, value = (
            self._linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        )
        attended = np.empty_like(x)
        for start, count, length in runs:
            rows = slice(start, start + count * length)
            attended[rows] = self._attend(query[rows], key[rows], value[rows], count, length)
        attended = self._linear(attended, f"{name}.attention.output.dense")
        x = self._norm(attended + x, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(
            self._linear(inner, f"{name}.output.dense") + x, f"{name}.output.LayerNorm"
        )

    def _attend(self, query: Floats, key: Floats, value: Floats, count: int, length: int) -> Floats:
        size = self.size // self._heads
        query, key, value = (
            part.reshape(count, length, self._heads, size).transpose(0, 2, 1, 3)
            for part in (query, key, value)
        )
        scores = query @ key.transpose(0, 1, 3, 2)
        scores *= np.float32(1 / math.sqrt(size))
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ value).transpose(0, 2, 1, 3).reshape(count * length, self.size)

    def _linear(self, x: Floats, name: str) -> Floats:
        result = x @ self._weights[f"{name}.weight"].T
        result += self._weights[f"{name}.bias"]
        return result

    def _norm(self, x: Floats, name: str) -> Floats:
        x -= x.mean(axis=-1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[-1])
        x /= np.sqrt(variance + self._eps)
        x *= self._weights[f"{name}.weight"]
        x += self._weights[f"{name}.bias"]
        return x


def _plain_name(name: str) -> str:
    """Strips the prefix that a model around the encoder adds to its names."""
    return name.removeprefix("bert.").removeprefix("roberta.")


def _runs(lengths: list[int]) -> list[tuple[int, int, int]]:
    """Returns runs of sequences of equal length, which share one attention call: start, count,
    length."""
    found, start = [], 0
    for length, group in groupby(lengths):
        count = len(list(group))
        found.append((start, count, length))
        start += count * length
    return found


def _gelu(x: Floats) -> Floats:
    """Computes x times the normal CDF of x, with an approximation of erf accurate to 1.5e-7
    (Abramowitz and Stegun 7.1.26). Works in place, because memory bandwidth is the limit."""
    a = np.abs(x)
    a *= np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * a)
    a *= a
    np.negative(a, out=a)
    np.exp(a, out=a)
    tail = np.full_like(x, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail *= t
        tail += np.float32(factor)
    tail *= t
    tail *= a
    # tail = 1 - erf(|x| / sqrt(2)), so that gelu(x) = max(x, 0) - |x| * tail / 2.
    tail *= np.abs(x)
    tail *= np.float32(0.5)
    return np.maximum(x, 0) - tail
