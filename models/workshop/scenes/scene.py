"""Scenes: one or two objects on a ground, with a caption of what is drawn.

Everything that a caption can describe (colour, size, side, place, relation) is a field of the
scene, and so is the jitter that no caption describes; drawing is a function of the scene alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from PIL import Image

from .grounds import (
    GROUND_COLOURS,
    NO_GROUND,
    PLACES,
    STANDING_PLACES,
    Ground,
    draw_ground,
)
from .objects import COLOUR_WORDS, CutOut

Size: TypeAlias = Literal["small", "medium", "large"]
Side: TypeAlias = Literal["on the left", "on the right", "at the top", "at the bottom"]
Relation: TypeAlias = Literal["left of", "right of", "above", "below"]

SIZES: dict[Size, float] = {"small": 0.34, "medium": 0.62, "large": 0.88}
PAIR_SIZE = 0.45
SIDES: dict[Side, tuple[float, float]] = {
    "on the left": (0.27, 0.5),
    "on the right": (0.73, 0.5),
    "at the top": (0.5, 0.27),
    "at the bottom": (0.5, 0.73),
}
RELATIONS: dict[Relation, tuple[tuple[float, float], tuple[float, float]]] = {
    "left of": ((0.26, 0.5), (0.74, 0.5)),
    "right of": ((0.74, 0.5), (0.26, 0.5)),
    "above": ((0.5, 0.26), (0.5, 0.74)),
    "below": ((0.5, 0.74), (0.5, 0.26)),
}

# Hue and saturation (0..255, as in Pillow) of a recoloured object.
OBJECT_COLOURS: dict[str, tuple[int, float]] = {
    "red": (0, 1.0),
    "orange": (18, 1.0),
    "yellow": (38, 1.0),
    "green": (88, 0.9),
    "blue": (155, 1.0),
    "purple": (195, 0.9),
    "pink": (234, 0.65),
}
TINTED_SATURATION = 40

# One in this many combinations is reserved for the evaluation and never drawn for training.
HELD_OUT_ONE_IN = 10


@dataclass(frozen=True)
class Thing:
    """One object in a scene. Position and width are shares of the picture's side."""

    cut_out: int
    colour: str | None
    width: float
    x: float
    y: float
    upside_down: bool = False
    mirrored: bool = False


@dataclass(frozen=True)
class Scene:
    things: tuple[Thing, ...]
    ground: Ground
    size: Size = "medium"
    side: Side | None = None
    relation: Relation | None = None


def is_held_out(*parts: str) -> bool:
    """Returns whether a combination (of a colour, object, place or second object, in any order) is
    reserved for the evaluation. Depends on the words alone, so that it never changes."""
    return zlib.crc32("|".join(sorted(parts)).encode()) % HELD_OUT_ONE_IN == 0


def combinations(scene: Scene, cut_outs: Sequence[CutOut]) -> list[tuple[str, str]]:
    """Returns the combinations of this scene that are subject to `is_held_out`."""
    names = [cut_outs[thing.cut_out].name for thing in scene.things]
    found = [
        (thing.colour, name)
        for thing, name in zip(scene.things, names, strict=True)
        if thing.colour is not None
    ]
    if scene.ground.name not in (None, NO_GROUND):
        found += [(scene.ground.name, name) for name in names]
    if len(names) == 2:
        found.append((names[0], names[1]))
    return found


def has_held_out(scene: Scene, cut_outs: Sequence[CutOut]) -> bool:
    """Returns whether the scene has a held-out combination."""
    return any(is_held_out(*parts) for parts in combinations(scene, cut_outs))


def draw_scene(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Scene:
    """Returns a random scene for training with the object `first`, without held-out combinations.

    A quarter of the scenes have a second object.
    """
    while True:
        scene = draw_any_scene(rng, cut_outs, first)
        if not has_held_out(scene, cut_outs):
            return scene


def draw_any_scene(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Scene:
    """As `draw_scene`, but may have held-out combinations."""
    ground = draw_any_ground(rng)
    if rng.random() < 0.25:
        second = int(rng.integers(len(cut_outs)))
        relation = cast(Relation, rng.choice(get_args(Relation)))
        return pair_scene(rng, cut_outs, (first, second), relation, ground)
    size = cast(Size, rng.choice(get_args(Size), p=(0.2, 0.6, 0.2)))
    side = None
    if size == "small" and rng.random() < 0.6:
        side = cast(Side, rng.choice(get_args(Side)))
    colour = _any_colour(rng, cut_outs[first])
    return single_scene(rng, first, ground, colour=colour, size=size, side=side)


def single_scene(
    rng: np.random.Generator,
    cut_out: int,
    ground: Ground,
    *,
    colour: str | None = None,
    size: Size = "medium",
    side: Side | None = None,
) -> Scene:
    """Returns a scene with one object; the jitter of width and position is drawn from `rng`."""
    width = SIZES[size] * rng.uniform(0.94, 1.06)
    x, y = SIDES[side] if side else (0.5, 0.5)
    if ground.name in STANDING_PLACES and side is None:
        y = min(0.62, 0.92 - width / 2) if size != "large" else 0.5
    x, y = x + rng.uniform(-0.03, 0.03), y + rng.uniform(-0.03, 0.03)
    return Scene((Thing(cut_out, colour, width, x, y),), ground, size, side)


def pair_scene(
    rng: np.random.Generator,
    cut_outs: Sequence[CutOut],
    pair: tuple[int, int],
    relation: Relation,
    ground: Ground,
) -> Scene:
    """Returns a scene with two objects, the first in the given relation to the second, sometimes
    recoloured."""
    things = []
    for cut_out, (x, y) in zip(pair, RELATIONS[relation], strict=True):
        width = PAIR_SIZE * rng.uniform(0.92, 1.06)
        jitter = rng.uniform(-0.02, 0.02, 2)
        colour = _any_colour(rng, cut_outs[cut_out])
        things.append(Thing(cut_out, colour, width, x + jitter[0], y + jitter[1]))
    return Scene(tuple(things), ground, relation=relation)


def draw_any_ground(rng: np.random.Generator) -> Ground:
    seed = int(rng.integers(2**31))
    kind = rng.random()
    if kind < 0.4:
        return Ground(None, seed)
    if kind < 0.75:
        return Ground(str(rng.choice(list(GROUND_COLOURS))), seed)
    return Ground(str(rng.choice(list(PLACES))), seed)


def _any_colour(rng: np.random.Generator, cut_out: CutOut) -> str | None:
    if not cut_out.recolourable or rng.random() > 0.35:
        return None
    return str(rng.choice(list(OBJECT_COLOURS)))


def caption(
    scene: Scene, cut_outs: Sequence[CutOut], rng: np.random.Generator | None = None
) -> str:
    """Returns the caption. With `rng`, an object is sometimes called by a synonym."""
    words = [thing_words(thing, cut_outs[thing.cut_out], scene.size, rng) for thing in scene.things]
    text = f" {scene.relation} ".join(words)
    if scene.things[0].upside_down and len(words) == 1:
        text += " upside down"
    if scene.side:
        text += f" {scene.side}"
    if scene.ground.name in PLACES:
        text += f" {scene.ground.name}"
    elif scene.ground.name not in (None, NO_GROUND):
        text += f" on {with_article(scene.ground.name)} background"
    return text


def thing_words(
    thing: Thing, cut_out: CutOut, size: Size = "medium", rng: np.random.Generator | None = None
) -> str:
    """Returns e.g. `a small blue car`."""
    name = cut_out.name
    if rng is not None and cut_out.other_names and rng.random() < 0.15:
        name = str(rng.choice(cut_out.other_names))
    if thing.colour is not None:
        for colour in COLOUR_WORDS:
            name = name.removeprefix(f"{colour} ")
        name = f"{thing.colour} {name}"
    if size != "medium":
        name = f"{size} {name}"
    return with_article(name)


def with_article(name: str) -> str:
    """Returns the name with `a` or `an`; a plural has no article."""
    last = name.rsplit(maxsplit=1)[-1]
    if last.endswith("s") and not last.endswith(("ss", "us", "is")):
        return name
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def render(scene: Scene, cut_outs: Sequence[CutOut], side: int = 128) -> Image.Image:
    """Returns the scene as an RGB picture of `side` x `side` pixels."""
    picture = Image.fromarray(draw_ground(scene.ground, side).astype(np.uint8))
    for thing in scene.things:
        layer = thing_pixels(thing, cut_outs[thing.cut_out], side)
        corner = (round(thing.x * side - layer.width / 2), round(thing.y * side - layer.height / 2))
        picture.paste(layer, corner, layer)
    return picture


def thing_pixels(thing: Thing, cut_out: CutOut, side: int) -> Image.Image:
    """Returns the object alone as RGBA, in the size and colour of the scene."""
    scale = thing.width * side / max(cut_out.pixels.size)
    size = (
        max(1, round(cut_out.pixels.width * scale)),
        max(1, round(cut_out.pixels.height * scale)),
    )
    # The box filter of reducing_gap is much faster, without a visible difference at these sizes.
    pixels = cut_out.pixels.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    if thing.colour is not None:
        pixels = recolour(pixels, thing.colour)
    if thing.upside_down:
        pixels = pixels.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    if thing.mirrored:
        pixels = pixels.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return pixels


def thing_coverage(thing: Thing, cut_outs: Sequence[CutOut], side: int) -> Image.Image:
    """Returns how much of each pixel the object covers, in grey, ignoring objects above it."""
    layer = thing_pixels(replace(thing, colour=None), cut_outs[thing.cut_out], side)
    corner = (round(thing.x * side - layer.width / 2), round(thing.y * side - layer.height / 2))
    canvas = Image.new("L", (side, side))
    canvas.paste(layer.getchannel("A"), corner)
    return canvas


def recolour(pixels: Image.Image, colour: str) -> Image.Image:
    """Sets the hue of every colourful pixel; greys, whites and the alpha stay."""
    hue, strength = OBJECT_COLOURS[colour]
    hsv = np.asarray(pixels.convert("RGB").convert("HSV")).copy()
    tinted = hsv[..., 1] > TINTED_SATURATION
    hsv[..., 0][tinted] = hue
    hsv[..., 1][tinted] = (hsv[..., 1][tinted] * strength).astype(np.uint8)
    rgba = Image.merge("HSV", [Image.fromarray(hsv[..., band]) for band in range(3)]).convert("RGB")
    rgba.putalpha(pixels.getchannel("A"))
    return rgba
