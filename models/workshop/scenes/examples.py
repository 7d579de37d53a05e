"""Scenes as numbered examples for a latent cache, and as an endless supply of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from bakehouse_runtime.image.training.latent_cache import Example

from .edits import draw_edit
from .objects import CutOut
from .scene import Scene, caption, draw_scene, render, thing_coverage

# Pixels per latent on each side.
LATENT_PIXELS = 8
# The smallest coverage of a latent by an object, and the smallest mean difference (0..1) by an
# edit, that count.
COVERED, CHANGED = 0.1, 0.04


@dataclass(frozen=True)
class LatentWeights:
    """Additional weights of a latent in the loss, beyond 1: if it shows an object, and if an edit
    changes it."""

    object: int
    changed: int

    def of(
        self, scene: Scene, cut_outs: Sequence[CutOut], before: Image.Image, picture: Image.Image
    ) -> np.ndarray:
        """Returns the weights of the latents of the `scene`'s picture, [height, width]; exact,
        because both pictures are drawn."""
        weights = np.ones((picture.height // LATENT_PIXELS, picture.width // LATENT_PIXELS), int)
        covered = np.zeros(weights.shape, bool)
        for thing in scene.things:
            coverage = thing_coverage(thing, cut_outs, picture.width).reduce(LATENT_PIXELS)
            covered |= np.asarray(coverage) > 255 * COVERED
        pixels = (np.asarray(one.reduce(LATENT_PIXELS), float) / 255 for one in (before, picture))
        changed = np.abs(np.subtract(*pixels)).mean(axis=-1) > CHANGED
        return weights + self.object * covered + self.changed * changed


class SceneExamples:
    """Random scenes with captions; each object is the first of one scene in turn."""

    def __init__(
        self,
        cut_outs: Sequence[CutOut],
        side: int,
        count: int,
        seed: int,
        weights: LatentWeights | None = None,
    ) -> None:
        self.cut_outs = cut_outs
        self.side = side
        self.count = count
        self.seed = seed
        self.weights = weights

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Example:
        rng = np.random.default_rng((self.seed, index))
        scene = draw_scene(rng, self.cut_outs, index % len(self.cut_outs))
        text = caption(scene, self.cut_outs, rng)
        picture = render(scene, self.cut_outs, self.side)
        if self.weights is None:
            return Example(picture, text)
        return Example(
            picture, text, weights=self.weights.of(scene, self.cut_outs, picture, picture)
        )


class EditExamples:
    """Random edits of scenes; each object is edited in turn, and `kinds` has the relative frequency
    of each kind of edit."""

    def __init__(
        self,
        cut_outs: Sequence[CutOut],
        side: int,
        count: int,
        seed: int,
        weights: LatentWeights,
        kinds: Mapping[str, float],
    ) -> None:
        self.cut_outs = cut_outs
        self.side = side
        self.count = count
        self.seed = seed
        self.weights = weights
        self.kinds = kinds

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Example:
        rng = np.random.default_rng((self.seed, index))
        edit = draw_edit(rng, self.cut_outs, index % len(self.cut_outs), self.kinds)
        before, after = (render(s, self.cut_outs, self.side) for s in (edit.before, edit.after))
        weights = self.weights.of(edit.after, self.cut_outs, before, after)
        return Example(after, edit.instruction, before, weights)


class ScenePictures:
    """Pictures of random scenes, each used once."""

    def __init__(self, cut_outs: Sequence[CutOut], side: int) -> None:
        self.cut_outs = cut_outs
        self.side = side

    def draw(self, rng: np.random.Generator, count: int) -> list[Image.Image]:
        chosen = rng.integers(len(self.cut_outs), size=count)
        scenes = [draw_scene(rng, self.cut_outs, int(first)) for first in chosen]
        return [render(scene, self.cut_outs, self.side) for scene in scenes]
