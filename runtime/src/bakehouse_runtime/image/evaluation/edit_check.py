"""Whether an edit was done: in the part of the picture that it should change, and in the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

# A pixel counts as changed by the edit from this mean difference of its channels on (0..1).
CHANGED = 0.08
# Where the edit changes the picture, the result must be this much nearer to the wanted picture
# than the picture before is; elsewhere it may differ from the picture before by this much.
DONE_SHARE = 0.5
KEPT_DIFFERENCE = 0.06


@dataclass(frozen=True)
class EditVerdict:
    """`remaining` is the share of the wanted change that is missing, 0 for a perfect edit and 1
    for none; `disturbance` the mean change (0..1) where nothing should have changed."""

    remaining: float
    disturbance: float

    @property
    def done(self) -> bool:
        return self.remaining < DONE_SHARE

    @property
    def kept(self) -> bool:
        return self.disturbance < KEPT_DIFFERENCE


def judge_edit(before: Image.Image, wanted: Image.Image, result: Image.Image) -> EditVerdict:
    """Compares three pictures of one size. A moved colour, a flip, another size and a removed
    ground all show as nearness to the wanted picture where it differs from the one before."""
    a, b, c = (np.asarray(picture, dtype=np.float32) / 255 for picture in (before, wanted, result))
    change = np.abs(b - a).mean(axis=-1)
    changed = change > CHANGED
    missing = np.abs(c - b).mean(axis=-1)
    remaining = missing[changed].sum() / max(change[changed].sum(), 1e-6)
    disturbed = np.abs(c - a).mean(axis=-1)[~changed]
    return EditVerdict(float(remaining), float(disturbed.mean()) if disturbed.size else 0.0)
