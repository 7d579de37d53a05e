"""Writes a full fine-tune as a GGUF with the layout of its base's GGUF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.templates.plain_template import plain_template
from ...errors import PlainError
from ...files import read_object
from ...gguf_adapter import rotary_rows
from ...gguf_file import architecture_of, rewrite_gguf
from ...serve.gguf_metadata import chat_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Values = NDArray[np.float32]
    Layout = Callable[[Values], Values]

# Largest relative error between the base's safetensors in the right layout and its GGUF: 4-bit
# quantisation causes about 0.1, and rows in the wrong order more than 1.
_ROUNDING = 0.25
# The error of rounding to 16 bits. If a layout's error is below it, no further layout is tried.
_SAME = 0.01


def write_full_gguf(source: Path, base: Path, tuned: Path, target: Path, title: str) -> None:
    """Writes `target` in F16: the GGUF `source` of a base with the weights of its fine-tune.

    `base` and `tuned` are folders of safetensors. The layout of a tensor in llama.cpp depends on
    the model family, and no file records it. It is found per tensor: the layout that turns the
    base's safetensors into its GGUF. Raises PlainError if no layout does.
    """
    from gguf import GGUFReader

    config = read_object(base / "config.json")
    before, after = _Weights(base), _Weights(tuned)
    names = _names(architecture_of(GGUFReader(source)), config, after)
    layouts = list(_layouts(config))
    left = set(names.values())

    def changed(name: str, values: Values) -> Values:
        known = names.get(name)
        if known is None:
            # Not a weight, such as the frequencies of the rotary embedding.
            return values
        left.discard(known)
        layout = _layout_of(before.read(known), values, layouts)
        if layout is None:
            raise PlainError(f"The base's GGUF has other weights than its safetensors in {name}.")
        return layout(after.read(known))

    said = {"general.name": title}
    if chat_template(source) is None:
        # The template used in training; llama.cpp would default to ChatML.
        said["tokenizer.chat_template"] = plain_template(begins=False)
    rewrite_gguf(source, target, "F16", lambda *_: None, changed=changed, said=said)
    if left:
        raise PlainError(f"The base's GGUF has no {min(left)}.")


class _Weights:
    """The tensors of a folder, read one at a time."""

    def __init__(self, folder: Path) -> None:
        from safetensors import safe_open

        self._files: dict[str, Any] = {}
        for path in sorted(folder.glob("*.safetensors")):
            file = safe_open(path, framework="pt")
            self._files.update(dict.fromkeys(file.keys(), file))

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def read(self, name: str) -> Values:
        if name not in self._files:
            raise PlainError(f"The base's safetensors have no {name}.")
        return self._files[name].get_tensor(name).float().numpy()


def _names(architecture: str, config: dict[str, Any], weights: _Weights) -> dict[str, str]:
    """Maps tensor names in the GGUF to tensor names in the safetensors."""
    from gguf import MODEL_ARCH_NAMES, get_tensor_name_map

    known = next((one for one, name in MODEL_ARCH_NAMES.items() if name == architecture), None)
    if known is None:
        raise PlainError(f"Bakehouse does not know the model family {architecture} of its GGUF.")
    text = config.get("text_config") or config
    mapped = get_tensor_name_map(known, int(text["num_hidden_layers"]))
    names: dict[str, str] = {}
    for name in weights:
        target = mapped.get_name(name, try_suffixes=(".weight", ".bias"))
        if target is None or target in names:
            raise PlainError(f"llama.cpp has no place for {name}.")
        names[target] = name
    if "output.weight" not in names and "token_embd.weight" in names:
        # Converters may write tied embeddings twice.
        names["output.weight"] = names["token_embd.weight"]
    return names


def _layouts(config: dict[str, Any]) -> Iterator[Layout]:
    text = config.get("text_config") or config
    heads = int(text.get("num_attention_heads") or 1)
    yield lambda values: values
    for count in {heads, int(text.get("num_key_value_heads") or heads)}:
        yield lambda values, count=count: _in_halves(values, count)
    # Some families (Gemma) store norms as their difference from 1.
    yield lambda values: values + 1


def _in_halves(values: Values, heads: int) -> Values:
    """Returns the rows of q or k in llama.cpp's order, or unchanged if they do not divide into
    heads."""
    if values.ndim > 2 or len(values) % (2 * heads):
        return values
    return rotary_rows(values.reshape(len(values), -1), heads).reshape(values.shape)


def _layout_of(stored: Values, wanted: Values, layouts: list[Layout]) -> Layout | None:
    """Returns the layout of `stored` that is nearest to `wanted`, or None if none is within
    _ROUNDING."""
    if stored.shape != wanted.shape:
        return None
    size = float(np.linalg.norm(wanted)) or 1.0
    nearest, best = None, _ROUNDING
    for layout in layouts:
        error = float(np.linalg.norm(layout(stored) - wanted)) / size
        if error <= best:
            nearest, best = layout, error
        if best <= _SAME:
            break
    return nearest
