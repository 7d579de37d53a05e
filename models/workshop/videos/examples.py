"""Moving scenes as numbered examples for a latent cache, and as an endless supply of videos."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bakehouse_runtime.image.training.latent_cache import Example
from bakehouse_runtime.image.video import Video

from ..scenes.objects import CutOut
from .scenes import VideoShape, draw_video_scene, render_video, video_caption, video_objects


class VideoExamples:
    """Random videos with captions; objects alternate."""

    def __init__(
        self, cut_outs: Sequence[CutOut], shape: VideoShape, count: int, seed: int
    ) -> None:
        self.cut_outs = cut_outs
        self.shape = shape
        self.count = count
        self.seed = seed
        self._objects = video_objects(cut_outs, shape)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Example:
        rng = np.random.default_rng((self.seed, index))
        first = self._objects[index % len(self._objects)]
        scene = draw_video_scene(rng, self.cut_outs, self._objects, first)
        video = render_video(scene, self.cut_outs, self.shape)
        return Example(video, video_caption(scene, self.cut_outs))


class SceneVideos:
    """Videos of random scenes, each used once."""

    def __init__(self, cut_outs: Sequence[CutOut], shape: VideoShape) -> None:
        self.cut_outs = cut_outs
        self.shape = shape
        self._objects = video_objects(cut_outs, shape)

    def draw(self, rng: np.random.Generator, count: int, frames: int) -> list[Video]:
        """Returns from each video a cut of `frames` consecutive frames."""
        videos = []
        for first in rng.choice(self._objects, size=count):
            scene = draw_video_scene(rng, self.cut_outs, self._objects, int(first))
            start = int(rng.integers(self.shape.frames - frames + 1))
            chosen = range(start, start + frames)
            videos.append(render_video(scene, self.cut_outs, self.shape, chosen))
        return videos
