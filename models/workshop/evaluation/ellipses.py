"""The negative control of every measure: scenes whose objects are featureless ellipses.

Each has the place, the size and the mean colour of its object, on the right ground. Whoever sees
them knows everything but what the objects are: a measure of objects must not be content with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from ..scenes.grounds import Ground, draw_ground
from ..scenes.objects import CutOut
from ..scenes.scene import Scene, thing_pixels

# Drawn this many times as large and made smaller, so that the outline is smooth.
OVERSAMPLING = 4
# Of width and height: a box so small lies inside the ellipse, and blurring leaves its edge outside.
INNER_PART = 0.5
# Large enough for the mean colour and the proportions of an object.
SAMPLED_SIDE = 128


@dataclass(frozen=True)
class Ellipse:
    """Centre, width and height in parts of the picture's side, and one colour."""

    x: float
    y: float
    width: float
    height: float
    colour: tuple[int, int, int]


def ellipses_of(scene: Scene, cut_outs: Sequence[CutOut]) -> list[Ellipse]:
    """What is left of the scene's objects."""
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
    """The pixels, [side, side], of a box within each: objects without their outlines, as far as
    they are where they should be."""
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
        # A list where the ellipse was read from JSON.
        picture.paste(tuple(one.colour), mask=mask.reduce(OVERSAMPLING))
    return picture
