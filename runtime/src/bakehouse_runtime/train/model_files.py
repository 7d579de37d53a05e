"""Copies the files of a model other than its weights."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ..data.tokens import read_model_tokens

if TYPE_CHECKING:
    from pathlib import Path

_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
)
# Weights in other formats, code, and the base's own card.
_NOT_BESIDE = {
    ".bin",
    ".gguf",
    ".h5",
    ".md",
    ".msgpack",
    ".onnx",
    ".pt",
    ".pth",
    ".py",
    ".safetensors",
    "model.safetensors.index.json",
}


def copy_non_weight_files(base: Path, out: Path) -> None:
    """Copies the files of a model other than its weights and their index."""
    for file in base.iterdir():
        if file.is_file() and not {file.suffix, file.name} & _NOT_BESIDE:
            shutil.copyfile(file, out / file.name)


def copy_tokenizer(base: Path, out: Path) -> None:
    """Copies the base's tokenizer, and adds the chat template used in training if it has none."""
    for name in _TOKENIZER_FILES:
        if (base / name).is_file():
            shutil.copyfile(base / name, out / name)
    tokens = read_model_tokens(base)
    if tokens.chat_template is None:
        (out / "chat_template.jinja").write_text(tokens.template_source, encoding="utf-8")
