"""How a model chooses its next token where a request does not say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

# What OpenAI documents, and vLLM does by itself: any token by its probability. By the names of a
# generation_config.json, with the most that makes sense.
_DEFAULTS = {
    "temperature": (1.0, 2.0),
    "top_p": (1.0, 1.0),
    "top_k": (0, 1_000_000),
    "min_p": (0.0, 1.0),
    "repetition_penalty": (1.0, 2.0),
}


def default_sampling(base: Path) -> dict[str, float]:
    """What the base's generation_config.json says, as vLLM reads it, and OpenAI's defaults for the
    rest."""
    said = read_optional_object(base / "generation_config.json")
    return {
        name: type(default)(value)
        if isinstance(value := said.get(name), (int, float))
        and math.isfinite(value)
        and 0 <= value <= most
        else default
        for name, (default, most) in _DEFAULTS.items()
    }
