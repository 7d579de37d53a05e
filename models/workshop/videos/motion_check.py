"""Detects what moves in a video, and how, from its frames alone, without a network.

A still, a shuffled video or a randomly changing blob has other curves than an object that moves as
described.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bakehouse_runtime.image.video import Video

from ..scenes.objects import CutOut
from .scenes import MOTIONS, VideoShape, render_video, video_objects, video_scene

# The smallest difference of an object from the ground, 0..255.
VISIBLE = 40.0
EDGE = 2
# Number of real videos from which the curves of each motion are computed.
PROTOTYPE_VIDEOS = 12
STILL = "still"
# The scale of each curve, so that all have a similar weight.
UNITS = {
    "x": 0.1,
    "y": 0.1,
    "size": 0.25,
    "spread": 0.1,
    "light": 0.15,
    "turned": 0.2,
    "ground": 0.04,
}


@dataclass(frozen=True)
class Seen:
    """An object in a frame: centre and width as shares of the side; `spread` is the horizontal
    distance between its parts, which shrinks when two objects meet."""

    x: float
    y: float
    size: float
    spread: float


def curves(video: Video) -> dict[str, np.ndarray]:
    """Returns how centre, size and light change over the frames, how far the object differs from
    the first frame's when aligned with it, and how far the ground differs from the first ground."""
    frames = video.frames.astype(np.float32)
    masks = [_mask(frame) for frame in frames]
    seen = [_seen(mask) for mask in masks]
    light = frames.mean(axis=(1, 2, 3)) / 255
    first = _cut(frames[0], seen[0], light[0])
    turned = [
        float(np.abs(_cut(frame, one, bright) - first).mean()) / 80
        for frame, one, bright in zip(frames, seen, light, strict=True)
    ]
    ground = [
        float(np.abs(frame - frames[0])[~mask & ~masks[0]].mean()) / 255 / max(bright, 0.05)
        if (~mask & ~masks[0]).any()
        else 0.0
        for frame, mask, bright in zip(frames, masks, light, strict=True)
    ]
    size = np.log([max(one.size, 0.02) for one in seen])
    return {
        "x": _from_mean([one.x for one in seen]),
        "y": _from_mean([one.y for one in seen]),
        "size": _from_mean(size),
        "spread": _from_mean([one.spread for one in seen]),
        "light": np.log(np.maximum(light, 0.02)) - np.log(max(light[0], 0.02)),
        "turned": np.asarray(turned),
        "ground": np.asarray(ground),
    }


def _from_mean(values: Sequence[float] | np.ndarray) -> np.ndarray:
    found = np.asarray(values, dtype=np.float32)
    return found - found.mean()


def _mask(frame: np.ndarray) -> np.ndarray:
    """Returns where the frame differs from its ground, which is sampled at the left and right edge
    of each row."""
    edges = np.concatenate([frame[:, :EDGE], frame[:, -EDGE:]], axis=1)
    ground = np.median(edges, axis=1, keepdims=True)
    # In a dark frame all differences are smaller.
    visible = VISIBLE * max(0.25, float(frame.mean()) / 255)
    return np.abs(frame - ground).max(axis=2) > visible


def _seen(mask: np.ndarray) -> Seen:
    side = len(mask)
    rows, columns = np.nonzero(mask)
    if len(rows) == 0:
        return Seen(0.5, 0.5, 0.0, 0.0)
    return Seen(
        float(columns.mean()) / side,
        float(rows.mean()) / side,
        float(len(rows)) ** 0.5 / side,
        float(columns.std()) / side,
    )


def _cut(frame: np.ndarray, seen: Seen, light: float) -> np.ndarray:
    """Returns the square around the object, at a fixed size and brightness."""
    side = len(frame)
    half = max(4.0, 0.75 * seen.size * side)
    grid = np.linspace(-half, half, 24)
    rows = np.clip((seen.y * side + grid).round(), 0, side - 1).astype(int)
    columns = np.clip((seen.x * side + grid).round(), 0, side - 1).astype(int)
    return frame[rows][:, columns] * (0.5 / max(light, 0.05))


class MotionCheck:
    """Detects the motion whose curves are closest to those in a video, including no motion."""

    def __init__(self, cut_outs: Sequence[CutOut], shape: VideoShape, seed: int = 40) -> None:
        objects = video_objects(cut_outs, shape)
        self._prototypes: dict[str, np.ndarray] = {}
        for place, motion in enumerate(MOTIONS):
            rng = np.random.default_rng((seed, place))
            videos = [
                render_video(video_scene(rng, objects, int(first), motion), cut_outs, shape)
                for first in rng.choice(objects, size=PROTOTYPE_VIDEOS)
            ]
            self._prototypes[motion] = np.mean([_joined(curves(video)) for video in videos], axis=0)
        still = np.zeros_like(self._prototypes["left"])
        self._prototypes[STILL] = still

    def motion_of(self, video: Video) -> str:
        found = _joined(curves(video))
        return min(
            self._prototypes,
            key=lambda name: float(np.square(found - self._prototypes[name]).sum()),
        )


def _joined(found: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([np.clip(found[name] / unit, -4, 4) for name, unit in UNITS.items()])


def distance(video: Video) -> tuple[float, float]:
    """Returns how far the object moves from the first to the last frames, to the right and down."""
    found = curves(video)
    return float(found["x"][-2:].mean() - found["x"][:2].mean()), float(
        found["y"][-2:].mean() - found["y"][:2].mean()
    )


def change(video: Video) -> float:
    """Returns the mean difference between neighbouring frames, 0..1."""
    frames = video.frames.astype(np.float32) / 255
    return float(np.abs(frames[1:] - frames[:-1]).mean())
