"""The modules after the encoder, from the model's modules.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from ..files import inside, read_object

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_POOLING: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda states: states.mean(axis=0),
    "cls": lambda states: states[0],
    "lasttoken": lambda states: states[-1],
    "max": lambda states: states.max(axis=0),
}
# The pooling modes of older configurations, which have one field per mode.
_OLDER = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
}


@dataclass(frozen=True)
class Modules:
    """Computes the vector of a text from the states of its tokens, [tokens, size]."""

    pool: Callable[[Floats], Floats]
    is_normalised: bool


def read_modules(folder: Path) -> Modules:
    """Reads modules.json. Raises PlainError for an unsupported module."""
    pool, is_normalised = None, False
    for kind, path in _listed(folder):
        match kind:
            case "Transformer":
                if path:
                    raise PlainError(f"The encoder is in {path}, not next to modules.json.")
            case "Pooling":
                pool = _POOLING[_mode(read_object(inside(folder, path) / "config.json"))]
            case "Normalize":
                is_normalised = True
            case _:
                raise PlainError(f"modules.json names {kind}, which is not served here.")
    if pool is None:
        raise PlainError("modules.json names no Pooling.")
    return Modules(pool, is_normalised)


def _listed(folder: Path) -> list[tuple[str, str]]:
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return [(str(each["type"]).rsplit(".", 1)[-1], str(each["path"])) for each in modules]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise PlainError("modules.json is missing or damaged.") from error


def _mode(config: dict[str, Any]) -> str:
    said = config.get("pooling_mode")
    modes = [said] if isinstance(said, str) else [_OLDER[key] for key in _OLDER if config.get(key)]
    if len(modes) != 1 or modes[0] not in _POOLING:
        raise PlainError(
            f"The pooling {' and '.join(map(str, modes)) or '(none)'} is not known here."
        )
    return modes[0]
