"""Changes the masked area of a picture and keeps all other pixels.

A model reads a part of the picture around the area, at its own size. The result is scaled back and
pasted through the mask.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ..errors import RequestError

# A result with more pixels could exceed 20 MB as a PNG; larger pictures are scaled down.
_PIXELS_MAX = 6_000_000
# The part that the model reads, relative to the area: it needs to see the surroundings.
_CONTEXT = 2
_PREVIEW_SIDE = 256

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Inpainting:
    """A picture and how much of each pixel changes (mode L, 255 is all). `box` is the part that the
    model reads."""

    picture: Image.Image
    mask: Image.Image
    box: Box

    @classmethod
    def of(cls, picture: Image.Image, mask: Image.Image, side: int) -> Inpainting:
        """`side` is the length of the model's pictures: a smaller part would have fewer pixels than
        the model draws. Raises RequestError for a mask of another size or without an area."""
        if mask.size != picture.size:
            raise RequestError(
                "mask",
                f"The mask has {mask.width} x {mask.height} pixels, but the picture has "
                f"{picture.width} x {picture.height}. Both must have the same size.",
            )
        scale = (_PIXELS_MAX / (picture.width * picture.height)) ** 0.5
        if scale < 1:
            size = (max(1, int(picture.width * scale)), max(1, int(picture.height * scale)))
            picture = picture.resize(size, Image.Resampling.LANCZOS)
            mask = mask.resize(size, Image.Resampling.BOX)
        area = mask.getbbox()
        if area is None:
            raise RequestError("mask", "The mask has no transparent area, which marks the change.")
        return cls(picture, mask, _surroundings(area, picture.size, side))

    @property
    def part(self) -> Image.Image:
        """Returns the part of the picture that the model reads."""
        return self.picture.crop(self.box)

    def changed_latents(self, height: int, width: int) -> Tensor:
        """Returns which latents of the part change, [1, height, width]: all that have a changed
        pixel."""
        # Averages of bytes would round a thin line to 0.
        mask = self.mask.crop(self.box).convert("F").resize((width, height), Image.Resampling.BOX)
        return torch.from_numpy(np.asarray(mask) > 0)[None]

    def pasted(self, part: Image.Image) -> Image.Image:
        """Returns the picture with the changed part; pixels outside the mask are the picture's."""
        left, top, right, bottom = self.box
        result = self.picture.copy()
        size = (right - left, bottom - top)
        if part.size != size:
            part = part.resize(size, Image.Resampling.LANCZOS)
        result.paste(part, self.box, self.mask.crop(self.box))
        return result

    def preview(self, part: Image.Image) -> Image.Image:
        """Returns a small version of `pasted`."""
        result = self.pasted(part)
        result.thumbnail((_PREVIEW_SIDE, _PREVIEW_SIDE))
        return result


def _surroundings(area: Box, size: tuple[int, int], side: int) -> Box:
    """Returns a box around the area, inside the picture and as square as the picture permits."""
    left, top, right, bottom = area
    length = max(side, _CONTEXT * max(right - left, bottom - top))
    width, height = min(length, size[0]), min(length, size[1])
    x = min(max(0, (left + right - width) // 2), size[0] - width)
    y = min(max(0, (top + bottom - height) // 2), size[1] - height)
    return x, y, x + width, y + height
