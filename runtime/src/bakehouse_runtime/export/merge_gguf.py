"""Merges a GGUF adapter into the weights of a GGUF base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.templates.plain_template import plain_template
from ..errors import PlainError
from ..gguf_file import architecture_of, rewrite_gguf, values_of
from ..serve.gguf_metadata import chat_template

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gguf import GGUFReader
    from numpy.typing import NDArray

    Values = NDArray[np.float32]


def merge_gguf(
    base: Path,
    adapter: Path,
    target: Path,
    quantization: str,
    name: str,
    progress: Callable[[int, int], None],
) -> None:
    """Writes `target`: the base with the adapter added as llama.cpp would add it to each request,
    under a new name. Raises PlainError if the adapter belongs to another model."""
    from gguf import GGUFReader

    reader = GGUFReader(adapter)
    architecture, pairs = architecture_of(reader), _pairs(reader)
    alpha = float(reader.fields["adapter.lora.alpha"].contents())
    if architecture_of(GGUFReader(base)) != architecture:
        raise PlainError(
            f"The adapter needs a base of the family {architecture}; {base.name} has another one."
        )

    def merged(tensor: str, values: Values) -> Values:
        pair = pairs.pop(tensor, None)
        return values if pair is None else _added(tensor, values, *pair, alpha)

    said = {"general.name": name}
    if chat_template(base) is None:
        # The template used in training and serving; llama.cpp would default to ChatML.
        said["tokenizer.chat_template"] = plain_template(begins=False)
    rewrite_gguf(base, target, quantization, progress, changed=merged, said=said)
    if pairs:
        raise PlainError(f"The adapter changes {min(pairs)}, which {base.name} does not have.")


def _pairs(adapter: GGUFReader) -> dict[str, tuple[Values, Values]]:
    """Returns the two matrices for each tensor of the base."""
    found: dict[str, dict[str, Any]] = {}
    for tensor in adapter.tensors:
        name, _, part = tensor.name.rpartition(".")
        found.setdefault(name, {})[part] = values_of(tensor)
    return {name: (parts["lora_a"], parts["lora_b"]) for name, parts in found.items()}


def _added(tensor: str, values: Values, a: Values, b: Values, alpha: float) -> Values:
    if values.shape != (b.shape[0], a.shape[1]):
        raise PlainError(f"The adapter's {tensor} is of another shape than the base's.")
    return np.asarray(values + alpha / a.shape[0] * (b @ a), dtype=np.float32)
