"""The default sampling parameters of a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..files import read_optional_object

if TYPE_CHECKING:
    from pathlib import Path

# OpenAI's documented defaults, also vLLM's: any token by its probability. Names follow
# generation_config.json; each entry is the default and the largest sensible value.
_DEFAULTS = {
    "temperature": (1.0, 2.0),
    "top_p": (1.0, 1.0),
    "top_k": (0, 1_000_000),
    "min_p": (0.0, 1.0),
    "repetition_penalty": (1.0, 2.0),
}


def default_sampling(base: Path) -> dict[str, float]:
    """Returns the sampling of the base's generation_config.json, as vLLM reads it, completed by
    OpenAI's defaults."""
    said = read_optional_object(base / "generation_config.json")
    return {
        name: type(default)(value)
        if isinstance(value := said.get(name), (int, float))
        and math.isfinite(value)
        and 0 <= value <= most
        else default
        for name, (default, most) in _DEFAULTS.items()
    }
