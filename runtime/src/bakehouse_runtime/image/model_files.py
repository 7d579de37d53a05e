"""The files of a model: their faults in one sentence each, and local paths taken out of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn
from transformers import PreTrainedModel

from ..errors import PlainError
from ..files import SAFE_WEIGHTS, read_object

Model = TypeVar("Model", bound=PreTrainedModel)


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Turns what a library raises over damaged files into a PlainError about `what`."""
    try:
        yield
    except PlainError:
        raise
    # Diffusers, Transformers and Tokenizers raise whatever they stumble over, Exception itself too.
    except Exception as error:
        raise PlainError(f"{what} cannot be loaded: {_first_sentence(error)}.") from error


def check_complete(model: nn.Module, what: str) -> None:
    """Refuses a model whose files lack weights: Diffusers only warns, and leaves them empty."""
    for name, weight in model.named_parameters():
        if weight.is_meta:
            raise PlainError(f"{what} cannot be loaded: its files have no {name}.")


def load_text_model(kind: type[Model], folder: Path, dtype: torch.dtype) -> Model:
    """A text encoder of the class `kind`. Raises PlainError where it cannot be loaded whole."""
    what = f"The text encoder in {folder.name}"
    if not folder.is_dir():
        raise PlainError(f"The folder {folder.name} of the model is missing.")
    with loading(what):
        loaded: Any = kind.from_pretrained(
            folder,
            dtype=dtype,
            output_loading_info=True,
            **SAFE_WEIGHTS,
        )
    model, found = loaded
    # Missing weights would be drawn at random.
    if found["missing_keys"]:
        raise PlainError(
            f"{what} cannot be loaded: its files have no {min(found['missing_keys'])}."
        )
    return model.eval()


def forget_origins(folder: Path) -> None:
    """Takes out of the configurations below `folder` where their models were loaded from: Diffusers
    writes paths of this machine there."""
    for path in folder.rglob("config.json"):
        config = read_object(path)
        if config.pop("_name_or_path", None) is not None:
            path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _first_sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[0].split()).split(". ")[0].rstrip(".:")
