"""Backgrounds of scenes: plain colours and a few drawn places, as 0..255 RGB arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Pixels: TypeAlias = np.ndarray

GROUND_COLOURS: dict[str, tuple[int, int, int]] = {
    "white": (250, 250, 250),
    "black": (24, 24, 28),
    "grey": (140, 142, 148),
    "red": (214, 60, 58),
    "orange": (240, 145, 50),
    "yellow": (248, 215, 80),
    "green": (85, 170, 90),
    "blue": (70, 120, 220),
    "purple": (140, 85, 200),
    "pink": (245, 160, 195),
    "brown": (140, 95, 60),
}

# The ground of a cut-out: pure white.
NO_GROUND = "none"


@dataclass(frozen=True)
class Ground:
    """A background. `name` is a colour or a place of PLACES, NO_GROUND, or None for a colour that
    no caption names. `seed` determines shade and texture."""

    name: str | None
    seed: int


def draw_ground(ground: Ground, side: int) -> Pixels:
    """Returns a `side` x `side` RGB picture of the ground as float32, 0..255."""
    rng = np.random.default_rng(ground.seed)
    if ground.name in PLACES:
        return np.clip(PLACES[ground.name](rng, side), 0, 255).astype(np.float32)
    if ground.name == NO_GROUND:
        return np.full((side, side, 3), 255, dtype=np.float32)
    if ground.name is None:
        names = list(GROUND_COLOURS)
        first, second = (GROUND_COLOURS[names[rng.integers(len(names))]] for _ in range(2))
        mix = rng.uniform(0, 1)
        base = mix * np.asarray(first) + (1 - mix) * np.asarray(second)
        # Mixed with white: an unnamed ground is usually light, as in product pictures.
        base = base + (250 - base) * rng.uniform(0, 0.7)
    else:
        base = np.asarray(GROUND_COLOURS[ground.name]) + rng.normal(0, 7, 3)
    fall = rng.uniform(-14, 14) * np.linspace(-1, 1, side)[:, None, None]
    return np.clip(np.broadcast_to(base + fall, (side, side, 3)), 0, 255).astype(np.float32)


def _fade(top: tuple[int, int, int], bottom: tuple[int, int, int], side: int) -> Pixels:
    share = np.linspace(0, 1, side)[:, None, None]
    fade = np.asarray(top) * (1 - share) + np.asarray(bottom) * share
    return np.broadcast_to(fade, (side, side, 3)).copy()


def _horizon(
    rng: np.random.Generator,
    side: int,
    sky: Pixels,
    floor: tuple[int, int, int],
    stretch: tuple[int, int],
    contrast: float,
) -> Pixels:
    """Returns `sky` above a floor whose texture is noise stretched by (down, across) pixels."""
    down, across = stretch
    noise = rng.normal(0, contrast, (-(-side // down), -(-side // across)))
    noise = np.repeat(np.repeat(noise, down, 0), across, 1)[:side, :side, None]
    line = round(side * rng.uniform(0.52, 0.6))
    light = np.linspace(12, -12, side)[:, None, None]
    picture = sky.copy()
    picture[line:] = (np.asarray(floor) + noise + light)[line:]
    return picture


def _grass(rng: np.random.Generator, side: int) -> Pixels:
    return _horizon(
        rng, side, _fade((120, 185, 245), (215, 235, 250), side), (88, 160, 62), (4, 2), 8
    )


def _snow(rng: np.random.Generator, side: int) -> Pixels:
    sky = _fade((150, 170, 200), (205, 215, 230), side)
    picture = _horizon(rng, side, sky, (240, 244, 250), (6, 8), 3)
    rows, columns = rng.integers(0, side, (2, side // 2))
    picture[rows, columns] = 255
    picture[rows, (columns + 1) % side] = 255
    return picture


def _sand(rng: np.random.Generator, side: int) -> Pixels:
    return _horizon(
        rng, side, _fade((110, 195, 240), (230, 240, 240), side), (226, 196, 140), (2, 2), 5
    )


def _water(rng: np.random.Generator, side: int) -> Pixels:
    return _horizon(
        rng, side, _fade((165, 210, 245), (225, 240, 250), side), (40, 115, 180), (3, 16), 8
    )


def _table(rng: np.random.Generator, side: int) -> Pixels:
    return _horizon(
        rng, side, _fade((235, 222, 205), (225, 210, 190), side), (150, 98, 58), (4, 32), 7
    )


def _night(rng: np.random.Generator, side: int) -> Pixels:
    picture = _fade((12, 16, 50), (40, 44, 100), side)
    rows, columns = rng.integers(0, side, (2, side // 3))
    picture[rows, columns] = (250, 245, 215)
    return picture


def _sky(rng: np.random.Generator, side: int) -> Pixels:
    picture = _fade((70, 145, 235), (170, 215, 250), side)
    down, across = np.mgrid[0:side, 0:side] / side
    for _ in range(4):
        row, column = rng.uniform(0.05, 0.95, 2)
        cloud = np.exp(-(((down - row) / 0.07) ** 2 + ((across - column) / 0.18) ** 2))
        picture += (255 - picture) * (0.9 * cloud)[..., None]
    return picture


PLACES: dict[str, Callable[[np.random.Generator, int], Pixels]] = {
    "on grass": _grass,
    "in the snow": _snow,
    "on sand": _sand,
    "on water": _water,
    "on a table": _table,
    "at night": _night,
    "in the sky": _sky,
}
# Places where objects rest on the floor instead of floating in the middle.
STANDING_PLACES = frozenset({"on grass", "in the snow", "on sand", "on water", "on a table"})
