"""What the models are measured on: captions and edits fixed beforehand and never trained on.

Each has a combination (colour with object, object with place, two objects) that `is_held_out`
keeps away from training. They follow from the seed and the objects alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..scenes.edits import EDITS, Edit
from ..scenes.objects import CutOut
from ..scenes.scene import (
    Scene,
    caption,
    combinations,
    draw_any_scene,
    is_held_out,
)

SEED = 20_261_120


@dataclass(frozen=True)
class Prompt:
    """A caption, the scene that it describes, and the seed of the picture to be drawn for it."""

    text: str
    scene: Scene
    seed: int


def held_out_prompts(cut_outs: Sequence[CutOut], count: int) -> list[Prompt]:
    """`count` different captions, each with an object of its own as far as there are objects."""
    prompts: list[Prompt] = []
    order = np.random.default_rng(SEED).permutation(len(cut_outs))
    for number in range(count):
        rng = np.random.default_rng((SEED, number))
        first = int(order[number % len(order)])
        scene = draw_any_scene(rng, cut_outs, first)
        while not _is_new(scene, cut_outs):
            scene = draw_any_scene(rng, cut_outs, first)
        prompts.append(Prompt(caption(scene, cut_outs), scene, number))
    return prompts


def held_out_edits(cut_outs: Sequence[CutOut], count: int) -> list[tuple[Edit, int]]:
    """`count` edits of objects in combinations that were never trained on, and their seeds; the
    kinds take turns."""
    kinds = list(EDITS)
    edits: list[tuple[Edit, int]] = []
    for number in range(count):
        rng = np.random.default_rng((SEED, 1, number))
        while True:
            first = int(rng.integers(len(cut_outs)))
            edit = EDITS[kinds[number % len(kinds)]](rng, cut_outs, first)
            if edit is not None and (
                _is_new(edit.before, cut_outs) or _is_new(edit.after, cut_outs)
            ):
                edits.append((edit, number))
                break
    return edits


def _is_new(scene: Scene, cut_outs: Sequence[CutOut]) -> bool:
    return any(is_held_out(*parts) for parts in combinations(scene, cut_outs))
