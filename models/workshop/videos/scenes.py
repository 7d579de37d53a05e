"""Moving scenes: one or two objects on a fixed ground, with a caption that describes the motion.

A video is a function of its scene alone: the position of each object over time depends on the
motion and the jitter stored in the scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from PIL import Image

from bakehouse_runtime.image.video import Video

from ..scenes.grounds import GROUND_COLOURS, Ground, draw_ground
from ..scenes.objects import CutOut
from ..scenes.scene import Thing, is_held_out, thing_pixels, with_article

# Distinct in colour and shape, the most distinct first; a recipe sets how many are used.
OBJECTS = (
    "red apple", "lemon", "soccer ball", "taxi", "duck", "frog", "whale", "red heart",
    "basketball", "balloon", "bus", "airplane", "sailboat", "penguin", "butterfly", "star",
    "sunflower", "octopus", "robot", "house", "cactus", "umbrella", "mushroom", "ghost",
)  # fmt: skip
# Oversampling factor, so that objects can move by fractions of a pixel.
FINER = 2
# The remaining light at night: red, green, blue.
NIGHT = np.array([0.22, 0.24, 0.42])
CLOUDS = 3


@dataclass(frozen=True)
class VideoShape:
    """The shape of videos: square frames, their number, their rate, and the number of objects."""

    side: int = 64
    frames: int = 17
    fps: float = 8.0
    objects: int = len(OBJECTS)


@dataclass(frozen=True)
class Pose:
    """The position and size of an object, and its rotation in degrees."""

    x: float
    y: float
    width: float
    angle: float = 0.0


# (time from 0 to 1, extent of the motion) -> change of an object's pose: right, down, factor of its
# width, rotation.
Course: TypeAlias = Callable[[float, float], tuple[float, float, float, float]]


def _still(_u: float, _far: float) -> tuple[float, float, float, float]:
    return 0.0, 0.0, 1.0, 0.0


def _move(right: int, down: int, u: float, far: float) -> tuple[float, float, float, float]:
    return right * far * (u - 0.5), down * far * (u - 0.5), 1.0, 0.0


def _grow(sign: int, u: float, far: float) -> tuple[float, float, float, float]:
    return 0.0, 0.0, math.exp(sign * 2 * far * (u - 0.5)), 0.0


def _spin(u: float, far: float) -> tuple[float, float, float, float]:
    return 0.0, 0.0, 1.0, 360 * far * u


def _jump(u: float, far: float) -> tuple[float, float, float, float]:
    return 0.0, far * (0.5 - abs(math.sin(2 * math.pi * u))), 1.0, 0.0


def _shake(u: float, far: float) -> tuple[float, float, float, float]:
    return far * math.sin(6 * math.pi * u), 0.0, 1.0, 0.0


@dataclass(frozen=True)
class Motion:
    """A motion and the words that describe it after the object's."""

    words: str
    course: Course = _still
    # The smallest and the largest extent.
    far: tuple[float, float] = (1.0, 1.0)
    width: tuple[float, float] = (0.4, 0.5)
    ground: str | None = None


MOTIONS: dict[str, Motion] = {
    "left": Motion("moves to the left", partial(_move, -1, 0), (0.4, 0.5)),
    "right": Motion("moves to the right", partial(_move, 1, 0), (0.4, 0.5)),
    "up": Motion("moves up", partial(_move, 0, -1), (0.4, 0.5)),
    "down": Motion("moves down", partial(_move, 0, 1), (0.4, 0.5)),
    "nearer": Motion("comes nearer", partial(_grow, 1), (0.35, 0.45)),
    "away": Motion("goes away", partial(_grow, -1), (0.35, 0.45)),
    "spins": Motion("spins", _spin, (0.95, 1.05), (0.45, 0.55)),
    "jumps": Motion("jumps", _jump, (0.3, 0.4)),
    "shakes": Motion("shakes", _shake, (0.08, 0.11)),
    "night": Motion("as night falls"),
    "clouds": Motion("in the sky while clouds pass", ground="in the sky"),
    "meet": Motion("meet", partial(_move, 1, 0), (0.2, 0.25), (0.34, 0.38)),
}
# One video in this many has a motion other than an object's own; the others are harder to learn.
RARE_ONE_IN = 8
RARE = ("night", "clouds", "meet")


@dataclass(frozen=True)
class VideoScene:
    """The objects in the middle of the video, and their motion. `seed` determines the clouds."""

    things: tuple[Thing, ...]
    ground: Ground
    motion: str
    far: float
    seed: int = 0


def video_objects(cut_outs: Sequence[CutOut], shape: VideoShape) -> list[int]:
    """Returns the numbers of the objects that videos show."""
    numbers = {cut_out.name: number for number, cut_out in enumerate(cut_outs)}
    return [numbers[name] for name in OBJECTS if name in numbers][: shape.objects]


def draw_video_scene(
    rng: np.random.Generator,
    cut_outs: Sequence[CutOut],
    objects: Sequence[int],
    first: int,
    *,
    held_out: bool = False,
) -> VideoScene:
    """Returns a random scene with the object `first` of `objects`: without held-out combinations,
    or, for the evaluation, with one."""
    while True:
        scene = video_scene(rng, objects, first, _draw_motion(rng))
        if has_held_out(scene, cut_outs) == held_out:
            return scene


def video_scene(
    rng: np.random.Generator, objects: Sequence[int], first: int, motion: str
) -> VideoScene:
    """Returns a scene with this motion; everything that no caption names is drawn from `rng`."""
    kind = MOTIONS[motion]
    ground = _draw_ground(rng, kind)
    numbers = [first]
    if motion == "meet":
        others = [number for number in objects if number != first] or [first]
        numbers.append(int(rng.choice(others)))
    things = []
    for place, number in enumerate(numbers):
        x, y = rng.uniform(-0.05, 0.05, 2) + 0.5
        if len(numbers) > 1:
            x, y = (0.31, 0.69)[place], 0.55 + 0.2 * (y - 0.5)
        things.append(Thing(number, None, float(rng.uniform(*kind.width)), float(x), float(y)))
    return VideoScene(
        tuple(things), ground, motion, float(rng.uniform(*kind.far)), int(rng.integers(2**31))
    )


def _draw_motion(rng: np.random.Generator) -> str:
    if rng.random() < 1 / RARE_ONE_IN:
        return str(rng.choice(RARE))
    return str(rng.choice([motion for motion in MOTIONS if motion not in RARE]))


def _draw_ground(rng: np.random.Generator, kind: Motion) -> Ground:
    seed = int(rng.integers(2**31))
    if kind.ground is not None:
        return Ground(kind.ground, seed)
    chance = rng.random()
    if chance < 0.5:
        return Ground(None, seed)
    names = list(GROUND_COLOURS) if chance < 0.85 else ["on grass"]
    return Ground(str(rng.choice(names)), seed)


def has_held_out(scene: VideoScene, cut_outs: Sequence[CutOut]) -> bool:
    """Returns whether the scene has a held-out combination of an object with its motion or with the
    named ground."""
    names = [cut_outs[thing.cut_out].name for thing in scene.things]
    return any(
        is_held_out(word, name)
        for name in names
        for word in (scene.motion, scene.ground.name)
        if word is not None
    )


def video_caption(scene: VideoScene, cut_outs: Sequence[CutOut]) -> str:
    """Returns the caption of the video."""
    words = " and ".join(with_article(cut_outs[thing.cut_out].name) for thing in scene.things)
    text = f"{words} {MOTIONS[scene.motion].words}"
    if scene.ground.name is None or MOTIONS[scene.motion].ground is not None:
        return text
    if scene.ground.name in GROUND_COLOURS:
        return f"{text} on {with_article(scene.ground.name)} background"
    return f"{text} {scene.ground.name}"


def poses(scene: VideoScene, u: float) -> list[Pose]:
    """Returns the pose of each object at the time `u`, from 0 to 1."""
    found = []
    for place, thing in enumerate(scene.things):
        # Two objects meet from opposite sides.
        direction = -1 if place == 1 else 1
        right, down, times, angle = MOTIONS[scene.motion].course(u, scene.far)
        found.append(Pose(thing.x + direction * right, thing.y + down, thing.width * times, angle))
    return found


def render_video(
    scene: VideoScene,
    cut_outs: Sequence[CutOut],
    shape: VideoShape,
    chosen: range | None = None,
) -> Video:
    """Returns the scene as a video, or only its `chosen` frames."""
    large = shape.side * FINER
    has_clouds = scene.motion == "clouds"
    ground = None if has_clouds else draw_ground(scene.ground, large)
    pictures = []
    for number in chosen or range(shape.frames):
        u = number / (shape.frames - 1)
        behind = _sky_at(scene.seed, u, large) if ground is None else ground
        picture = Image.fromarray(behind.astype(np.uint8))
        for thing, pose in zip(scene.things, poses(scene, u), strict=True):
            _paste(picture, thing, pose, cut_outs[thing.cut_out])
        pixels = np.asarray(picture.reduce(FINER), dtype=np.float32)
        if scene.motion == "night":
            pixels = pixels * (1 - u * (1 - NIGHT))
        pictures.append(pixels.round().astype(np.uint8))
    return Video(np.stack(pictures), shape.fps)


def _paste(picture: Image.Image, thing: Thing, pose: Pose, cut_out: CutOut) -> None:
    placed = Thing(thing.cut_out, None, pose.width, pose.x, pose.y)
    layer = thing_pixels(placed, cut_out, picture.width)
    if pose.angle:
        layer = layer.rotate(-pose.angle, Image.Resampling.BICUBIC, expand=True)
    corner = (
        round(pose.x * picture.width - layer.width / 2),
        round(pose.y * picture.height - layer.height / 2),
    )
    picture.paste(layer, corner, layer)


def _sky_at(seed: int, u: float, side: int) -> np.ndarray:
    """Returns a sky whose clouds drift to the right and wrap around."""
    rng = np.random.default_rng(seed)
    down, across = np.mgrid[0:side, 0:side] / side
    share = down[..., None]
    picture = np.array([70, 145, 235]) * (1 - share) + np.array([170, 215, 250]) * share
    for row, column in rng.uniform((0.1, 0.0), (0.9, 1.0), (CLOUDS, 2)):
        away = (across - column - 0.6 * u + 0.5) % 1 - 0.5
        cloud = np.exp(-(((down - row) / 0.1) ** 2 + (away / 0.2) ** 2))
        picture += (255 - picture) * (0.9 * cloud)[..., None]
    return picture
