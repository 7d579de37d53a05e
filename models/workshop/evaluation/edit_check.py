"""Checks whether an edit was done, and whether object and ground were preserved.

Each kind of edit must fulfil its instruction, and be close to the wanted picture. The positions of
object and ground are known exactly, because the scenes can be redrawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageChops

from ..scenes.edits import Edit
from ..scenes.grounds import NO_GROUND, Ground
from ..scenes.objects import CutOut
from ..scenes.scene import Scene, Thing, render

# Finer detail than at this side (half a latent of the starter models) depends on the autoencoder.
COMPARED_SIDE = 32
# From this mean difference of its channels (0..1), ten steps of 255, a pixel has changed.
CHANGED = 0.04
# The largest share of the change that may be missing or wrong.
REMAINING = 0.5
# The smallest share of the change that must be done: a cross-fade would still show the old picture.
CHANGE_MIN = 0.75
# A flipped result must be closer to the flipped picture than to the old one by this factor.
FLIPPED_RATIO = 0.5
# The largest ratio between the area of a resized object and the nearest right answer. The faint
# seam around a soft picture does not count.
AREA_RATIO = 1.33
FOREGROUND_DIFFERENCE = 0.1
# The largest mean differences (0..1) of ground and object from the wanted ones. Objects have edges,
# at which a soft picture differs more; a ground named only by its colour or place has its own shade
# and texture.
GROUND_DIFFERENCE = 0.06
NAMED_GROUND_DIFFERENCE = 0.12
OBJECT_DIFFERENCE = 0.12
# Detail is the difference from the mean of this many pixels around, about a quarter of the picture.
# Most of its energy must be present; below FAINT_DETAIL (0..1) it is invisible.
DETAIL_WINDOW = 9
DETAIL_MISSING = 0.5**0.5
FAINT_DETAIL = 0.03
# An added object has no reference: it may look different, but not be flatter than half.
DETAIL_OF_ADDED = 0.5
# "Smaller" and "bigger" have no degree: these fractions of the wanted width are right too.
WIDTHS = (0.86, 0.93, 1.0, 1.07, 1.15)
# A colour name has no strength: these multiples of the change from the old to the wanted picture
# are right too.
STRENGTHS = (1.0, 1.25, 1.5, 1.75, 2.0)
# The jitter of scenes: an object shifted by this share of the side is in its place.
SHIFTS = (-0.03, -0.015, 0.0, 0.015, 0.03)


@dataclass(frozen=True)
class EditVerdict:
    """Whether the edit follows its instruction; whether the object is preserved, apart from the
    wanted colour, size, place or direction; and whether the ground is preserved, if it should
    be."""

    done: bool
    object_kept: bool
    ground_kept: bool

    @property
    def kept(self) -> bool:
        return self.object_kept and self.ground_kept

    @property
    def right(self) -> bool:
        return self.done and self.kept


@dataclass(frozen=True)
class _Compared:
    """Three pictures [side, side, 3] in 0..1, and masks of their pixels [side, side]."""

    before: np.ndarray
    wanted: np.ndarray
    result: np.ndarray
    # The ground before, without the object.
    background: np.ndarray
    # Where the wanted picture has the object, and the added object; and where no picture has an
    # object.
    thing: np.ndarray
    added: np.ndarray
    ground: np.ndarray

    @property
    def changed(self) -> np.ndarray:
        return _differs(self.before, self.wanted, CHANGED)


def judge_edit(edit: Edit, cut_outs: Sequence[CutOut], result: Image.Image) -> EditVerdict:
    """Judges the square picture that was generated from `edit.before`."""
    answers = [_compared(answer, cut_outs, result) for answer in _right_answers(edit)]
    if edit.kind == "colour":
        answers = [_as_strong(answers[0], strength) for strength in STRENGTHS]
    seen = min(answers, key=lambda seen: float(np.abs(seen.result - seen.wanted).mean()))
    keeps_ground = edit.before.ground == edit.after.ground
    ground_difference = _difference(seen.result, seen.wanted, seen.ground)
    return EditVerdict(
        done=_is_near(seen) and _fulfils_instruction(edit.kind, seen),
        object_kept=_is_kept(seen.wanted, seen.result, seen.thing),
        ground_kept=not keeps_ground or ground_difference < GROUND_DIFFERENCE,
    )


def _right_answers(edit: Edit) -> list[Edit]:
    if edit.kind not in ("smaller", "bigger"):
        return [edit]
    (thing,) = edit.after.things
    things = [replace(thing, width=thing.width * part) for part in WIDTHS]
    return [replace(edit, after=replace(edit.after, things=(thing,))) for thing in things]


def _as_strong(seen: _Compared, strength: float) -> _Compared:
    direction = seen.wanted - seen.before
    return replace(seen, wanted=np.clip(seen.before + strength * direction, 0, 1))


def _compared(edit: Edit, cut_outs: Sequence[CutOut], result: Image.Image) -> _Compared:
    full = result.width

    def drawn(scene: Scene) -> np.ndarray:
        return _pixels(render(scene, cut_outs, full))

    def coverage(things: tuple[Thing, ...]) -> np.ndarray:
        return 1 - _pixels(render(*_silhouettes(things, cut_outs), full)).mean(axis=-1)

    wanted = drawn(edit.after)
    shifts = [round(shift * full) for shift in SHIFTS]
    shifted = [_pixels(ImageChops.offset(result, x, y)) for x in shifts for y in shifts]
    added = coverage(edit.after.things[1:])
    ground = np.maximum(coverage(edit.before.things), coverage(edit.after.things)) < 0.02
    return _Compared(
        before=drawn(edit.before),
        wanted=wanted,
        result=min(shifted, key=lambda pixels: _difference(pixels, wanted, ~ground)),
        background=drawn(replace(edit.before, things=())),
        thing=(coverage(edit.after.things[:1]) > 0.5) & (added < 0.5),
        added=added > 0.5,
        ground=ground,
    )


def _pixels(picture: Image.Image) -> np.ndarray:
    side = min(picture.width, COMPARED_SIDE)
    small = picture.resize((side, side), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32) / 255


def _silhouettes(
    things: tuple[Thing, ...], cut_outs: Sequence[CutOut]
) -> tuple[Scene, list[CutOut]]:
    """Returns the things in black on white, as a scene with its own cut-outs."""
    black = []
    for thing in things:
        cut_out = cut_outs[thing.cut_out]
        pixels = Image.new("RGBA", cut_out.pixels.size, "black")
        pixels.putalpha(cut_out.pixels.getchannel("A"))
        black.append(replace(cut_out, pixels=pixels))
    placed = tuple(replace(thing, cut_out=n, colour=None) for n, thing in enumerate(things))
    return Scene(placed, Ground(NO_GROUND, 0)), black


def _is_near(seen: _Compared) -> bool:
    """Returns whether the result is close to the wanted picture, at the pixels that the edit
    changes."""
    changed = seen.changed
    change = _difference(seen.wanted, seen.before, changed)
    remaining = _difference(seen.result, seen.wanted, changed)
    share = _share_of_change(seen.before[changed], seen.wanted[changed], seen.result[changed])
    return remaining <= REMAINING * change and share >= CHANGE_MIN


def _fulfils_instruction(kind: str, seen: _Compared) -> bool:
    ground_difference = _difference(seen.result, seen.wanted, seen.ground)
    match kind:
        case "colour":
            means = (p[seen.thing].mean(axis=0) for p in (seen.before, seen.wanted, seen.result))
            return _share_of_change(*means) >= CHANGE_MIN
        case "upside down" | "mirrored":
            to_before = _difference(seen.result, seen.before, seen.changed)
            to_wanted = _difference(seen.result, seen.wanted, seen.changed)
            return to_wanted < FLIPPED_RATIO * to_before
        case "smaller" | "bigger":
            area, wanted = (
                _differs(seen.background, p, FOREGROUND_DIFFERENCE).sum()
                for p in (seen.result, seen.wanted)
            )
            return bool(wanted / AREA_RATIO < area < wanted * AREA_RATIO)
        case "no ground":
            return ground_difference < GROUND_DIFFERENCE
        case "place" | "ground colour":
            return ground_difference < NAMED_GROUND_DIFFERENCE
        case "hat" | "added":
            detail, wanted = (_detail(p, seen.added) for p in (seen.result, seen.wanted))
            return _strength(detail) >= DETAIL_OF_ADDED * _strength(wanted)
        case _:
            raise ValueError(f"There is no check for edits of the kind {kind}.")


def _is_kept(wanted: np.ndarray, result: np.ndarray, where: np.ndarray) -> bool:
    """Returns whether an object is preserved: its colours and its detail."""
    detail = _detail(wanted, where)
    missing = _strength(_detail(result, where) - detail)
    return _difference(result, wanted, where) < OBJECT_DIFFERENCE and missing < max(
        DETAIL_MISSING * _strength(detail), FAINT_DETAIL
    )


def _differs(a: np.ndarray, b: np.ndarray, least: float) -> np.ndarray:
    return np.abs(a - b).mean(axis=-1) > least


def _difference(a: np.ndarray, b: np.ndarray, where: np.ndarray) -> float:
    """Returns the mean difference of the channels at `where`; 0 for an empty mask."""
    return float(np.abs(a - b)[where].mean()) if where.any() else 0.0


def _share_of_change(before: np.ndarray, wanted: np.ndarray, result: np.ndarray) -> float:
    """Returns 0 if the result equals the old picture, 1 if it has changed as far as it should."""
    direction = wanted - before
    return float(((result - before) * direction).sum() / max(float((direction**2).sum()), 1e-6))


def _detail(picture: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Returns how the pixels at `where` differ from the mean of nearby ones: [pixels, 3].

    Pixels outside of the mask do not count, so that an outline filled with one colour has no
    detail.
    """
    inside = torch.from_numpy(where.astype(np.float32))[None]
    channels = torch.from_numpy(picture).permute(2, 0, 1)
    sums, counts = (
        F.avg_pool2d(values, DETAIL_WINDOW, stride=1, padding=DETAIL_WINDOW // 2)
        for values in (channels * inside, inside)
    )
    return (channels - sums / counts.clamp(min=1e-6)).permute(1, 2, 0).numpy()[where]


def _strength(detail: np.ndarray) -> float:
    return float(np.sqrt((detail**2).mean())) if detail.size else 0.0
