"""What is wrong with the files of a model, said in one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import nn

from ..errors import PlainError


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model. Raises PlainError where there is none."""
    name = f"{path.parent.name}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PlainError(f"The file {name} of the model is missing.") from error
    except (OSError, ValueError) as error:
        raise PlainError(f"The file {name} is not JSON.") from error
    if not isinstance(content, dict):
        raise PlainError(f"The file {name} is not a JSON object.")
    return content


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


def _first_sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[0].split()).split(". ")[0].rstrip(".:")
