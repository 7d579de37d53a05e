"""Edits of a scene: a pair of pictures shows exactly what the instruction changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .grounds import GROUND_COLOURS, NO_GROUND, PLACES, STANDING_PLACES, Ground
from .objects import COLOUR_WORDS, CutOut
from .scene import (
    OBJECT_COLOURS,
    PAIR_SIZE,
    RELATIONS,
    SIZES,
    Scene,
    Thing,
    draw_any_ground,
    has_held_out,
    single_scene,
    with_article,
)

HATS = {"hat": "top hat", "crown": "crown", "graduation cap": "graduation cap"}
SHRINKING = 0.55
FLOOR_Y = 0.62


@dataclass(frozen=True)
class Edit:
    """An instruction, the scene before and the scene after. `kind` selects the check."""

    kind: str
    instruction: str
    before: Scene
    after: Scene


EditMaker = Callable[[np.random.Generator, Sequence[CutOut], int], Edit | None]


def draw_edit(
    rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int, kinds: Mapping[str, float]
) -> Edit:
    """Returns a random edit of a scene with the object `first`, without held-out combinations.
    `kinds` has the relative frequency of each kind."""
    parts = np.asarray([kinds[kind] for kind in EDITS])
    makers = list(EDITS.values())
    while True:
        edit = makers[rng.choice(len(makers), p=parts / parts.sum())](rng, cut_outs, first)
        if edit is None:
            continue
        if not any(has_held_out(scene, cut_outs) for scene in (edit.before, edit.after)):
            return edit


def _alone(rng: np.random.Generator, cut_out: int, colour: str | None = None) -> Scene:
    return single_scene(rng, cut_out, draw_any_ground(rng), colour=colour)


def _changed(scene: Scene, **changes: object) -> Scene:
    (thing,) = scene.things
    return replace(scene, things=(replace(thing, **changes),))


def make_colour(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit | None:
    if not cut_outs[first].recolourable:
        return None
    colours = list(OBJECT_COLOURS)
    wanted = str(rng.choice(colours))
    before_colour = str(rng.choice(colours)) if rng.random() < 0.3 else None
    named = next((word for word in COLOUR_WORDS if cut_outs[first].name.startswith(word)), None)
    if wanted in (before_colour, named):
        return None
    before = _alone(rng, first, before_colour)
    text = _phrasing(
        rng, f"make it {wanted}", f"change its colour to {wanted}", f"paint it {wanted}"
    )
    return Edit("colour", text, before, _changed(before, colour=wanted))


def turn_over(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit:
    before = _alone(rng, first)
    text = _phrasing(rng, "turn it upside down", "flip it upside down")
    return Edit("upside down", text, before, _changed(before, upside_down=True))


def mirror(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit:
    before = _alone(rng, first)
    text = _phrasing(rng, "mirror it", "flip it left to right")
    return Edit("mirrored", text, before, _changed(before, mirrored=True))


def make_smaller(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit:
    before = _alone(rng, first)
    text = _phrasing(rng, "make it smaller", "shrink it")
    after = _changed(before, width=before.things[0].width * SHRINKING)
    return Edit("smaller", text, before, after)


def make_bigger(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit:
    after = _alone(rng, first)
    text = _phrasing(rng, "make it bigger", "make it larger")
    before = _changed(after, width=after.things[0].width * SHRINKING)
    return Edit("bigger", text, before, after)


def change_place(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit | None:
    before = _alone(rng, first)
    place = str(rng.choice(list(PLACES)))
    if before.ground.name == place:
        return None
    text = _phrasing(rng, f"put it {place}", f"place it {place}")
    after = replace(before, ground=Ground(place, int(rng.integers(2**31))))
    if place in STANDING_PLACES:
        after = _changed(after, y=min(FLOOR_Y, 0.92 - after.things[0].width / 2))
    return Edit("place", text, before, after)


def change_ground_colour(
    rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int
) -> Edit | None:
    before = _alone(rng, first)
    wanted = str(rng.choice(list(GROUND_COLOURS)))
    if before.ground.name == wanted:
        return None
    text = _phrasing(rng, f"make the background {wanted}", f"change the background to {wanted}")
    after = replace(before, ground=Ground(wanted, int(rng.integers(2**31))))
    return Edit("ground colour", text, before, after)


def remove_ground(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit:
    before = _alone(rng, first)
    text = _phrasing(rng, "remove the background", "cut it out")
    return Edit("no ground", text, before, replace(before, ground=Ground(NO_GROUND, 0)))


def put_hat_on(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit | None:
    word = str(rng.choice(list(HATS)))
    hat = _named(cut_outs, HATS[word])
    if hat is None or cut_outs[first].name in HATS.values():
        return None
    # Low enough to leave room for the hat.
    before = _changed(_alone(rng, first), y=0.6, width=SIZES["medium"] * 0.85)
    (thing,) = before.things
    top = thing.y - _height(thing, cut_outs[first]) / 2
    placed = Thing(hat, None, 0.5 * thing.width, thing.x, 0.0)
    placed = replace(placed, y=top - 0.35 * _height(placed, cut_outs[hat]))
    return Edit(
        "hat", f"put {with_article(word)} on it", before, replace(before, things=(thing, placed))
    )


def add_second_object(rng: np.random.Generator, cut_outs: Sequence[CutOut], first: int) -> Edit:
    second = int(rng.integers(len(cut_outs)))
    relation = "left of" if rng.random() < 0.5 else "right of"
    (x, y), (other_x, other_y) = RELATIONS[relation]
    thing = Thing(first, None, PAIR_SIZE, x, y)
    added = Thing(second, None, PAIR_SIZE, other_x, other_y)
    before = Scene((thing,), draw_any_ground(rng))
    after = replace(before, things=(thing, added), relation=relation)
    name = with_article(cut_outs[second].name)
    text = _phrasing(rng, f"add {name} beside it", f"put {name} next to it")
    return Edit("added", text, before, after)


EDITS: dict[str, EditMaker] = {
    "colour": make_colour,
    "upside down": turn_over,
    "mirrored": mirror,
    "smaller": make_smaller,
    "bigger": make_bigger,
    "place": change_place,
    "ground colour": change_ground_colour,
    "no ground": remove_ground,
    "hat": put_hat_on,
    "added": add_second_object,
}


def _phrasing(rng: np.random.Generator, *phrasings: str) -> str:
    return phrasings[rng.integers(len(phrasings))]


def _named(cut_outs: Sequence[CutOut], name: str) -> int | None:
    return next((index for index, one in enumerate(cut_outs) if one.name == name), None)


def _height(thing: Thing, cut_out: CutOut) -> float:
    return thing.width * cut_out.pixels.height / max(cut_out.pixels.size)
