"""The defaults of a model for requests without settings, from its folder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from ..errors import PlainError
from ..files import read_optional_object

# Keys of `model_index.json`.
DEFAULT_STEPS = "default_steps"
DEFAULT_GUIDANCE = "default_guidance"


@dataclass(frozen=True)
class PictureDefaults:
    steps: int
    guidance: float


def read_defaults(folder: Path, published: PictureDefaults) -> PictureDefaults:
    """Returns the defaults of `model_index.json`, completed by the published ones. Raises
    PlainError."""
    index = read_optional_object(folder / "model_index.json")
    steps = index.get(DEFAULT_STEPS, published.steps)
    guidance = index.get(DEFAULT_GUIDANCE, published.guidance)
    if not isinstance(steps, int) or steps < 1:
        raise PlainError(
            f"The {DEFAULT_STEPS} in {folder.name}/model_index.json is not a number from 1 on."
        )
    if not isinstance(guidance, int | float) or not math.isfinite(guidance):
        raise PlainError(f"The {DEFAULT_GUIDANCE} in {folder.name}/model_index.json is no number.")
    return PictureDefaults(steps, float(guidance))
