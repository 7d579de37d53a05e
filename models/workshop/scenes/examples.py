"""Scenes as numbered examples for a latent cache, and as an endless supply of pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

from bakehouse_runtime.image.training.latent_cache import Example

from .edits import draw_edit
from .objects import CutOut
from .scene import caption, draw_scene, render


class SceneExamples:
    """Random scenes with captions; every object is the first of one scene in turn."""

    def __init__(self, cut_outs: Sequence[CutOut], side: int, count: int, seed: int) -> None:
        self.cut_outs = cut_outs
        self.side = side
        self.count = count
        self.seed = seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Example:
        rng = np.random.default_rng((self.seed, index))
        scene = draw_scene(rng, self.cut_outs, index % len(self.cut_outs))
        text = caption(scene, self.cut_outs, rng)
        return Example(render(scene, self.cut_outs, self.side), text)


class EditExamples:
    """Random edits of scenes; every object is edited in turn."""

    def __init__(self, cut_outs: Sequence[CutOut], side: int, count: int, seed: int) -> None:
        self.cut_outs = cut_outs
        self.side = side
        self.count = count
        self.seed = seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Example:
        rng = np.random.default_rng((self.seed, index))
        edit = draw_edit(rng, self.cut_outs, index % len(self.cut_outs))
        before, after = (render(s, self.cut_outs, self.side) for s in (edit.before, edit.after))
        return Example(after, edit.instruction, before)


class ScenePictures:
    """Pictures of random scenes, each drawn once and never again."""

    def __init__(self, cut_outs: Sequence[CutOut], side: int) -> None:
        self.cut_outs = cut_outs
        self.side = side

    def draw(self, rng: np.random.Generator, count: int) -> list[Image.Image]:
        chosen = rng.integers(len(self.cut_outs), size=count)
        scenes = [draw_scene(rng, self.cut_outs, int(first)) for first in chosen]
        return [render(scene, self.cut_outs, self.side) for scene in scenes]
