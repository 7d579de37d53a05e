"""The files of a model: their faults in one sentence each, and local paths taken out of them."""

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
# Of the weights that a file lacks; without them all it is another model's.
NAMED_MAX = 5
LIBRARIES = ("diffusers", "transformers")


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


def named(path: Path) -> str:
    """A file of a model by its folder, as errors and the log name it."""
    return f"{path.parent.name}/{path.name}"


def check_keys(file: str, missing: Iterable[str], unused: Iterable[str]) -> None:
    """Refuses a file that lacks weights of the model, and logs those that the model does not use:
    published files bring some."""
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
    """`what`, a model of Diffusers of the class `kind`. Raises PlainError where it cannot be loaded
    whole."""
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
    """A text encoder of the class `kind`. Raises PlainError where it cannot be loaded whole."""
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


def forget_origins(folder: Path) -> None:
    """Takes out of the configurations below `folder` where their models were loaded from: Diffusers
    writes paths of this machine there."""
    for path in folder.rglob("config.json"):
        config = read_object(path)
        if config.pop("_name_or_path", None) is not None:
            path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _whole(loaded: Any, folder: Path) -> Any:
    """The model of a library's answer: missing weights would be drawn at random, or left empty."""
    model, found = loaded
    check_keys(named(_weights_file(folder)), found["missing_keys"], found["unexpected_keys"])
    return model.eval()


def _weights_file(folder: Path) -> Path:
    """Where the weights in `folder` are: the list of the files where they are in several."""
    lists = sorted(folder.glob("*.safetensors.index.json"))
    return (lists or sorted(folder.glob("*.safetensors")))[0]


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Without the libraries' own warnings about weights, which name paths of this machine. Their
    loggers are those of the whole process: other threads do not see these warnings meanwhile."""
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
