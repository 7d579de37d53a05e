"""The training sizes of pictures: the base model's area in a few aspect ratios."""

from __future__ import annotations

import math
from fractions import Fraction

# Models of this size and above generate any ratio; smaller ones only squares.
RATIOS_FROM_SIDE = 1024
# Divisible by the latent size and by tokens of 2 x 2 latents.
_MULTIPLE = 16
_RATIOS = (
    *(Fraction(1, 2), Fraction(9, 16), Fraction(2, 3), Fraction(3, 4), Fraction(4, 5)),
    Fraction(1),
    *(Fraction(5, 4), Fraction(4, 3), Fraction(3, 2), Fraction(16, 9), Fraction(2)),
)

Size = tuple[int, int]


def training_sizes(side: int, resolution: int | None) -> list[Size]:
    """Returns width and height of every size for a base model that generates squares of `side`,
    with about as many pixels as a square of `resolution`."""
    if side < RATIOS_FROM_SIDE:
        return [(side, side)]
    area_side = resolution or side
    return [(_even(area_side * ratio**0.5), _even(area_side / ratio**0.5)) for ratio in _RATIOS]


def nearest_size(width: int, height: int, sizes: list[Size]) -> Size:
    """Returns the size with the nearest aspect ratio."""
    wanted = math.log(width / height)
    return min(sizes, key=lambda size: abs(math.log(size[0] / size[1]) - wanted))


def _even(length: float) -> int:
    return max(1, round(length / _MULTIPLE)) * _MULTIPLE
