"""The negative control of every measurement: scenes whose objects are featureless ellipses.

Each has the place, the size and the mean colour of its object, on the right ground. Only the
identity of the objects is missing, so a measurement of objects must fail on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from ..scenes.grounds import Ground, draw_ground
from ..scenes.objects import CutOut
from ..scenes.scene import Scene, thing_pixels

# Oversampling factor for smooth outlines.
OVERSAMPLING = 4
# Share of width and height: a box of this size is inside the ellipse, and blurring does not reach
# its edge.
INNER_PART = 0.5
# Large enough for the mean colour and the proportions of an object.
SAMPLED_SIDE = 128


@dataclass(frozen=True)
class Ellipse:
    """Centre, width and height as shares of the picture's side, and one colour."""

    x: float
    y: float
    width: float
    height: float
    colour: tuple[int, int, int]


def ellipses_of(scene: Scene, cut_outs: Sequence[CutOut]) -> list[Ellipse]:
    """Returns the ellipses of the scene's objects."""
    ellipses = []
    for thing in scene.things:
        layer = thing_pixels(thing, cut_outs[thing.cut_out], SAMPLED_SIDE)
        pixels = np.asarray(layer, dtype=np.float64)
        weight = pixels[..., 3:] / pixels[..., 3].sum()
        red, green, blue = (pixels[..., :3] * weight).sum(axis=(0, 1)).round().astype(int).tolist()
        width, height = layer.width / SAMPLED_SIDE, layer.height / SAMPLED_SIDE
        ellipses.append(Ellipse(thing.x, thing.y, width, height, (red, green, blue)))
    return ellipses


def insides(ellipses: Sequence[Ellipse], side: int) -> np.ndarray:
    """Returns the pixels, [side, side], of a box within each ellipse: objects without their
    outlines, if they are in their places."""
    found = np.zeros((side, side), dtype=bool)
    for one in ellipses:
        across, down = (INNER_PART * part / 2 for part in (one.width, one.height))
        left, right = (round(side * x) for x in (one.x - across, one.x + across))
        top, bottom = (round(side * y) for y in (one.y - down, one.y + down))
        found[max(0, top) : bottom + 1, max(0, left) : right + 1] = True
    return found


def draw_ellipses(ellipses: Sequence[Ellipse], ground: Ground, side: int) -> Image.Image:
    picture = Image.fromarray(draw_ground(ground, side).astype(np.uint8))
    for one in ellipses:
        mask = Image.new("L", (side * OVERSAMPLING, side * OVERSAMPLING))
        left, top = one.x - one.width / 2, one.y - one.height / 2
        box = [p * mask.width for p in (left, top, left + one.width, top + one.height)]
        ImageDraw.Draw(mask).ellipse(box, fill=255)
        # It is a list if the ellipse was read from JSON.
        picture.paste(tuple(one.colour), mask=mask.reduce(OVERSAMPLING))
    return picture
