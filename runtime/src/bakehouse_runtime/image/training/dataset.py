"""A user's pictures as training examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from ..pictures import read_picture
from .captioned import CaptionedPicture
from .latent_cache import Example
from .sizes import RATIOS_FROM_SIDE, Size, nearest_size

# Augmentation of small pictures, which are cheap: slightly narrower crops prevent memorising.
CUTS = 8
NARROWEST_CUT = 0.85
HELD_OUT_ONE_IN = 10


def cuts_of(side: int) -> int:
    """Returns the number of crops per picture for a model of this size."""
    return CUTS if side < RATIOS_FROM_SIDE else 1


class PictureExamples:
    """Captioned pictures as numbered examples of one size, each in several crops, the first one
    uncropped. Crops depend only on the seed and the picture's place in the dataset."""

    def __init__(
        self,
        pictures: Sequence[CaptionedPicture],
        size: Size,
        seed: int,
        cuts: int = CUTS,
        places: Sequence[int] | None = None,
    ) -> None:
        self.pictures = pictures
        self.size = size
        self.seed = seed
        self.cuts = cuts
        self.places = places or range(len(pictures))

    def __len__(self) -> int:
        return len(self.pictures) * self.cuts

    def __getitem__(self, index: int) -> Example:
        picture = self.pictures[index // self.cuts]
        number = self.places[index // self.cuts] * self.cuts + index % self.cuts
        rng = np.random.default_rng((self.seed, number))
        part = 1.0 if index % self.cuts == 0 else rng.uniform(NARROWEST_CUT, 1.0)
        left, top = rng.uniform(0, 1 - part, 2)
        # Crops the picture at twice the final size.
        width, height = (2 * length for length in self.size)
        box = (left * width, top * height, (left + part) * width, (top + part) * height)

        def cut(path: Path) -> Image.Image:
            fitted = ImageOps.fit(read_picture(path), (width, height), Image.Resampling.LANCZOS)
            return fitted.resize(self.size, Image.Resampling.LANCZOS, box)

        source = None if picture.source is None else cut(picture.source)
        return Example(cut(picture.path), picture.text, source)


def by_size(pictures: Sequence[CaptionedPicture], sizes: list[Size]) -> dict[Size, list[int]]:
    """Returns the numbers of the pictures that are trained in each size."""
    found: dict[Size, list[int]] = {}
    for number, picture in enumerate(pictures):
        found.setdefault(nearest_size(picture.width, picture.height, sizes), []).append(number)
    return dict(sorted(found.items()))


def held_out_pictures(pictures: Sequence[CaptionedPicture]) -> frozenset[int]:
    """Returns the numbers of the held-out pictures: every tenth file (for edits, the source file)
    with all its captions.

    Fewer than ten files leave none to hold out; measurements then use the training pictures.
    """
    files = list(dict.fromkeys(picture.source or picture.path for picture in pictures))
    if len(files) < HELD_OUT_ONE_IN:
        return frozenset()
    chosen = set(files[::HELD_OUT_ONE_IN])
    return frozenset(
        number
        for number, picture in enumerate(pictures)
        if (picture.source or picture.path) in chosen
    )


def rows_of(places: Sequence[int], chosen: frozenset[int], cuts: int) -> np.ndarray:
    """Returns the rows of the chosen pictures among `places`, with all their crops."""
    return np.flatnonzero(np.repeat([place in chosen for place in places], cuts))
