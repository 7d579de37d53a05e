"""The captions and edits that models are measured on, fixed in advance and never trained on.

Each has a combination (colour with object, object with place, two objects) that `is_held_out`
excludes from training. They depend only on the seed and the objects. There are two sets: one for
tuning, and one for the reported figures, which no choice was based on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar, get_args

import numpy as np

from ..scenes.edits import EDITS, Edit
from ..scenes.grounds import GROUND_COLOURS, PLACES
from ..scenes.objects import CutOut
from ..scenes.scene import (
    OBJECT_COLOURS,
    Relation,
    Scene,
    Side,
    caption,
    draw_any_scene,
    has_held_out,
)

SEED = 20_261_120

PromptSet: TypeAlias = Literal["choosing", "reporting"]
SETS: dict[PromptSet, int] = {"choosing": 0, "reporting": 1}
# More prompts than a set may have, so that no two sets share a seed.
LARGEST_SET = 100_000

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Prompt:
    """A caption, the scene that it describes, and the seed of its picture."""

    text: str
    scene: Scene
    seed: int


def held_out_prompts(cut_outs: Sequence[CutOut], count: int, which: PromptSet) -> list[Prompt]:
    """Returns `count` captions of a set, with different objects as far as possible."""
    prompts: list[Prompt] = []
    order = np.random.default_rng((SEED, SETS[which])).permutation(len(cut_outs))
    for number in range(SETS[which] * LARGEST_SET, SETS[which] * LARGEST_SET + count):
        rng = np.random.default_rng((SEED, 0, number))
        first = int(order[number % len(order)])
        scene = draw_any_scene(rng, cut_outs, first)
        while not has_held_out(scene, cut_outs):
            scene = draw_any_scene(rng, cut_outs, first)
        prompts.append(Prompt(caption(scene, cut_outs), scene, number))
    return prompts


def swapped_captions(prompt: Prompt, cut_outs: Sequence[CutOut]) -> dict[str, str]:
    """Returns the prompt's caption with one part swapped for another of its kind, by the kind of
    part. A picture of the prompt fits none of them, however similar. Only parts of the caption are
    swapped, and the replacement depends on the prompt's seed."""
    rng = np.random.default_rng((SEED, 2, prompt.seed))
    scene = prompt.scene
    swaps: dict[str, Scene] = {}
    coloured = [thing for thing in scene.things if thing.colour is not None]
    if coloured:
        old = coloured[0]
        new = replace(old, colour=_another(rng, OBJECT_COLOURS, old.colour))
        things = tuple(new if thing is old else thing for thing in scene.things)
        swaps["colour"] = replace(scene, things=things)
    if scene.side is not None:
        swaps["side"] = replace(scene, side=_another(rng, get_args(Side), scene.side))
    if scene.relation is not None:
        relation = _another(rng, get_args(Relation), scene.relation)
        swaps["relation"] = replace(scene, relation=relation)
        first, second = scene.things
        strange = [number for number in range(len(cut_outs)) if number != first.cut_out]
        other = replace(second, cut_out=_another(rng, strange, second.cut_out))
        swaps["second_object"] = replace(scene, things=(first, other))
    for grounds in (GROUND_COLOURS, PLACES):
        if scene.ground.name in grounds:
            ground = replace(scene.ground, name=_another(rng, grounds, scene.ground.name))
            swaps["ground"] = replace(scene, ground=ground)
    return {what: caption(swapped, cut_outs) for what, swapped in swaps.items()}


def held_out_edits(
    cut_outs: Sequence[CutOut], count: int, which: PromptSet
) -> list[tuple[Edit, int]]:
    """Returns `count` edits of a set, with held-out combinations of objects, and their seeds; the
    kinds alternate."""
    kinds = list(EDITS)
    edits: list[tuple[Edit, int]] = []
    for number in range(SETS[which] * LARGEST_SET, SETS[which] * LARGEST_SET + count):
        rng = np.random.default_rng((SEED, 1, number))
        while True:
            first = int(rng.integers(len(cut_outs)))
            edit = EDITS[kinds[number % len(kinds)]](rng, cut_outs, first)
            if edit is not None and (
                has_held_out(edit.before, cut_outs) or has_held_out(edit.after, cut_outs)
            ):
                edits.append((edit, number))
                break
    return edits


def _another(rng: np.random.Generator, all_of: Iterable[Choice], one: Choice) -> Choice:
    others = [other for other in all_of if other != one]
    return others[rng.integers(len(others))]
