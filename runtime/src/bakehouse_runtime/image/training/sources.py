"""Where training pictures come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from PIL import Image


class PictureSource(Protocol):
    """An endless supply of square RGB pictures of one size."""

    def draw(self, rng: np.random.Generator, count: int) -> list[Image.Image]:
        """`count` pictures, chosen by `rng` alone."""
        ...


class StoredPictures:
    """A person's own pictures, mirrored half of the time."""

    def __init__(self, pictures: Sequence[Image.Image]) -> None:
        self.pictures = pictures

    def draw(self, rng: np.random.Generator, count: int) -> list[Image.Image]:
        chosen = [self.pictures[index] for index in rng.integers(len(self.pictures), size=count)]
        return [
            picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if rng.random() < 0.5 else picture
            for picture in chosen
        ]
