"""Moving scenes as numbered examples for a latent cache, and as an endless supply of videos."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bakehouse_runtime.image.film import Film
from bakehouse_runtime.image.training.latent_cache import Example

from ..scenes.objects import CutOut
from .scenes import VideoShape, draw_film_scene, film_objects, render_film, video_caption


class VideoExamples:
    """Random videos with captions; objects alternate."""

    def __init__(
        self, cut_outs: Sequence[CutOut], shape: VideoShape, count: int, seed: int
    ) -> None:
        self.cut_outs = cut_outs
        self.shape = shape
        self.count = count
        self.seed = seed
        self._objects = film_objects(cut_outs, shape)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Example:
        rng = np.random.default_rng((self.seed, index))
        first = self._objects[index % len(self._objects)]
        scene = draw_film_scene(rng, self.cut_outs, self._objects, first)
        film = render_film(scene, self.cut_outs, self.shape)
        return Example(film, video_caption(scene, self.cut_outs))


class SceneVideos:
    """Videos of random scenes, each used once."""

    def __init__(self, cut_outs: Sequence[CutOut], shape: VideoShape) -> None:
        self.cut_outs = cut_outs
        self.shape = shape
        self._objects = film_objects(cut_outs, shape)

    def draw(self, rng: np.random.Generator, count: int, frames: int) -> list[Film]:
        """Returns from each video a cut of `frames` consecutive frames."""
        films = []
        for first in rng.choice(self._objects, size=count):
            scene = draw_film_scene(rng, self.cut_outs, self._objects, int(first))
            start = int(rng.integers(self.shape.frames - frames + 1))
            chosen = range(start, start + frames)
            films.append(render_film(scene, self.cut_outs, self.shape, chosen))
        return films
