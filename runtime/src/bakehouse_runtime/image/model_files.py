"""Loads model files, reports faults in one sentence each, and removes local paths."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from diffusers.models.modeling_utils import ModelMixin
from transformers import PreTrainedModel

from ..errors import PlainError
from ..files import SAFE_WEIGHTS, read_object

_log = logging.getLogger(__name__)

TextModel = TypeVar("TextModel", bound=PreTrainedModel)
PictureModel = TypeVar("PictureModel", bound=ModelMixin)
# Names listed of the missing weights; if all are missing, the file is another model's.
NAMED_MAX = 5
LIBRARIES = ("diffusers", "transformers")


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Converts errors that a library raises for damaged files to a PlainError about `what`."""
    try:
        yield
    except PlainError:
        raise
    # Diffusers, Transformers and Tokenizers raise arbitrary errors, including bare Exception.
    except Exception as error:
        raise PlainError(f"{what} cannot be loaded: {_first_sentence(error)}.") from error


def named(path: Path) -> str:
    """Returns a model file's name with its folder, for errors and logs."""
    return f"{path.parent.name}/{path.name}"


def check_keys(file: str, missing: Iterable[str], unused: Iterable[str]) -> None:
    """Raises PlainError if a file lacks weights of the model, and logs unused weights, which some
    published files have."""
    if lacking := sorted(missing):
        names = ", ".join(lacking[:NAMED_MAX])
        rest = len(lacking) - NAMED_MAX
        more = f" and {rest} more" if rest > 0 else ""
        raise PlainError(f"The file {file} lacks weights of the model: {names}{more}.")
    if extra := sorted(unused):
        _log.warning("%s has weights that the model does not use: %s.", file, ", ".join(extra))


def load_picture_model(
    kind: type[PictureModel], folder: Path, what: str, dtype: torch.dtype
) -> PictureModel:
    """Loads `what`, a Diffusers model of the class `kind`. Raises PlainError unless it loads
    completely."""
    read_object(folder / "config.json")
    with loading(what), _quiet_libraries():
        loaded: Any = kind.from_pretrained(
            folder,
            dtype=dtype,
            output_loading_info=True,
            local_files_only=True,
            use_safetensors=True,
        )
    return _whole(loaded, folder)


def load_text_model(kind: type[TextModel], folder: Path, dtype: torch.dtype) -> TextModel:
    """Loads a text encoder of the class `kind`. Raises PlainError unless it loads completely."""
    if not folder.is_dir():
        raise PlainError(f"The folder {folder.name} of the model is missing.")
    with loading(f"The text encoder in {folder.name}"), _quiet_libraries():
        loaded: Any = kind.from_pretrained(
            folder,
            dtype=dtype,
            output_loading_info=True,
            **SAFE_WEIGHTS,
        )
    return _whole(loaded, folder)


def remove_local_paths(folder: Path) -> None:
    """Removes local paths from the configurations below `folder`, which Diffusers writes there."""
    for path in folder.rglob("config.json"):
        config = read_object(path)
        if config.pop("_name_or_path", None) is not None:
            path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _whole(loaded: Any, folder: Path) -> Any:
    """Returns the loaded model if it has all weights; missing ones would be random or
    uninitialised."""
    model, found = loaded
    check_keys(named(_weights_file(folder)), found["missing_keys"], found["unexpected_keys"])
    return model.eval()


def _weights_file(folder: Path) -> Path:
    """Returns the weights file in `folder`, or the index if there are several files."""
    lists = sorted(folder.glob("*.safetensors.index.json"))
    return (lists or sorted(folder.glob("*.safetensors")))[0]


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Hides the libraries' warnings about weights, which contain local paths. Their loggers are
    global: other threads lose these warnings in the meantime too."""
    loggers = [logging.getLogger(name) for name in LIBRARIES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _first_sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(lines[0].split()).split(". ")[0].rstrip(".:")
