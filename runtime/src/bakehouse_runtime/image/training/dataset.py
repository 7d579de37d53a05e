"""A person's own pictures as examples for training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from ..pictures import read_picture
from .captioned import CaptionedPicture
from .latent_cache import Example
from .sizes import RATIOS_FROM_SIDE, Size, nearest_size

# Augmentation of small pictures, which are cheap: each also in slightly narrower cuts, so that it
# is not memorised.
CUTS = 8
NARROWEST_CUT = 0.85
HELD_OUT_ONE_IN = 10


def cuts_of(side: int) -> int:
    """How many cuts of each picture a model of such pictures is trained on."""
    return CUTS if side < RATIOS_FROM_SIDE else 1


class PictureExamples:
    """Captioned pictures as numbered examples of one size: each in several cuts, the first one
    whole. The same picture always has the same cuts, by its place among all of them."""

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
        # A cut of the picture in twice its size.
        width, height = (2 * length for length in self.size)
        box = (left * width, top * height, (left + part) * width, (top + part) * height)

        def cut(path: Path) -> Image.Image:
            fitted = ImageOps.fit(read_picture(path), (width, height), Image.Resampling.LANCZOS)
            return fitted.resize(self.size, Image.Resampling.LANCZOS, box)

        source = None if picture.source is None else cut(picture.source)
        return Example(cut(picture.path), picture.text, source)


def by_size(pictures: Sequence[CaptionedPicture], sizes: list[Size]) -> dict[Size, list[int]]:
    """The numbers of the pictures that are trained in each size."""
    found: dict[Size, list[int]] = {}
    for number, picture in enumerate(pictures):
        found.setdefault(nearest_size(picture.width, picture.height, sizes), []).append(number)
    return dict(sorted(found.items()))


def held_out_pictures(pictures: Sequence[CaptionedPicture]) -> frozenset[int]:
    """The numbers of the pictures that are measured on and not trained on: every tenth file, of an
    edit the edited one, with all captions that it has.

    With fewer than ten files there is none to spare: then it is measured on what it is trained on.
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
    """The rows of those pictures among `places` that are chosen: all their cuts."""
    return np.flatnonzero(np.repeat([place in chosen for place in places], cuts))
