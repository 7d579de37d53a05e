"""Measures pictures with the judge: their objects, their captions, and their distance to
reconstructions of real pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.text import SentenceText

from ..scenes.objects import CutOut
from ..scenes.scene import render
from .ellipses import ellipses_of, insides
from .held_out import SEED, Prompt, held_out_prompts, swapped_captions
from .judge import JUDGED_SIDE, Judge, caption_ranks, cells_of
from .likeness import detail_energy, kernel_distance
from .shares import share, share_with_interval

# Captions that differ from the picture's own only in the first object.
OTHER_OBJECTS = 99
# A judge that names fewer objects of real pictures is useless for generated ones.
LEAST_NAMED = 0.9
# Number of real pictures for checking the judge.
JUDGED_BY = 500
CAPTIONS_AT_ONCE = 64


def check_judge(judge: Judge, cut_outs: Sequence[CutOut]) -> None:
    """Raises PlainError if the judge does not recognise the objects of real pictures."""
    prompts = held_out_prompts(cut_outs, JUDGED_BY, "choosing")
    real = [render(prompt.scene, cut_outs, JUDGED_SIDE) for prompt in prompts]
    named = share(is_named(_names(judge, real), [_objects(p) for p in prompts]))
    if named < LEAST_NAMED:
        raise PlainError(
            f"The judge names the first object of {named:.1%} of real pictures. It must be "
            f"{LEAST_NAMED:.0%} before it may judge drawn ones: train it on (models/make.py judge)."
        )


def object_ranks(names: Tensor, objects: Sequence[Sequence[int]], seeds: Sequence[int]) -> Tensor:
    """Returns for each picture how many of OTHER_OBJECTS fit as well as its first object or better.
    `objects` are the objects of its caption in order; the second one is excluded. The others depend
    on the picture's seed."""
    ranks = []
    for scores, own, seed in zip(_scores(names), objects, seeds, strict=True):
        others = np.setdiff1d(np.arange(len(scores)), np.asarray(own))
        rng = np.random.default_rng((SEED, 3, seed))
        drawn = rng.permutation(others)[:OTHER_OBJECTS]
        ranks.append(int((scores[torch.from_numpy(drawn)] >= scores[own[0]]).sum()))
    return torch.tensor(ranks)


def is_named(names: Tensor, objects: Sequence[Sequence[int]]) -> list[bool]:
    """Returns whether the first object is the most visible one, apart from the second."""
    named = []
    for scores, (first, *second) in zip(_scores(names), objects, strict=True):
        left = scores.index_fill(0, torch.tensor(second, dtype=torch.long), -torch.inf)
        named.append(bool((left >= left[first]).sum() == 1 and left[first] > -torch.inf))
    return named


def _scores(names: Tensor) -> Tensor:
    return torch.where(names.isnan(), -torch.inf, names)


class PictureFigures:
    """Measures pictures of fixed prompts, one per prompt in order."""

    def __init__(
        self,
        judge: Judge,
        prompts: Sequence[Prompt],
        cut_outs: Sequence[CutOut],
        sentences: SentenceText,
    ) -> None:
        self.judge = judge
        self._objects = [_objects(prompt) for prompt in prompts]
        self._ellipses = [ellipses_of(prompt.scene, cut_outs) for prompt in prompts]
        self._seeds = [prompt.seed for prompt in prompts]
        self._captions = _vectors(sentences, [prompt.text for prompt in prompts])
        swaps = [
            (number, what, text)
            for number, prompt in enumerate(prompts)
            for what, text in swapped_captions(prompt, cut_outs).items()
        ]
        self._swapped = [(number, what) for number, what, _ in swaps]
        self._swapped_captions = _vectors(sentences, [text for _, _, text in swaps])

    @torch.no_grad()
    def of(self, pictures: Sequence[Image.Image]) -> dict[str, float]:
        """Returns how often the first object is recognised among all objects and among random
        others, and how often its caption is the closest."""
        cells = cells_of(self.judge, pictures)
        names = self.judge.name_objects(cells)
        objects = object_ranks(names, self._objects, self._seeds)
        captions = caption_ranks(self.judge.fit_captions(cells, self._captions))
        return {
            **share_with_interval("named", is_named(names, self._objects)),
            **share_with_interval("object_top1", (objects < 1).tolist()),
            **share_with_interval("object_top5", (objects < 5).tolist()),
            **share_with_interval("caption_top1", (captions < 1).tolist()),
            **share_with_interval("caption_top5", (captions < 5).tolist()),
        }

    def against(
        self, pictures: Sequence[Image.Image], reconstructions: Sequence[Image.Image]
    ) -> dict[str, float]:
        """Returns the detail in the objects relative to the reconstructions, and the distance to
        them."""
        side = pictures[0].width
        places = np.stack([insides(ellipses, side) for ellipses in self._ellipses])
        seen, wanted = (
            cells_of(self.judge, p).mean(dim=(2, 3)) for p in (pictures, reconstructions)
        )
        return {
            "detail": detail_energy(pictures, places) / detail_energy(reconstructions, places),
            "kid": kernel_distance(seen, wanted),
        }

    @torch.no_grad()
    def against_swaps(self, pictures: Sequence[Image.Image]) -> dict[str, float]:
        """Returns the share of swapped captions that fit their picture less than its own, in total
        and by kind of swap. Chance is one half."""
        cells = cells_of(self.judge, pictures)
        own = self.judge.fit_captions(cells, self._captions).diagonal()
        other = self.judge.fit_captions(cells, self._swapped_captions)
        preferred: dict[str, list[bool]] = {}
        for column, (number, what) in enumerate(self._swapped):
            better = bool(own[number] > other[number, column])
            for name in ("swaps", f"swapped_{what}"):
                preferred.setdefault(name, []).append(better)
        return {name: share(better) for name, better in preferred.items()}


@torch.no_grad()
def _names(judge: Judge, pictures: Sequence[Image.Image]) -> Tensor:
    return judge.name_objects(cells_of(judge, pictures))


def _objects(prompt: Prompt) -> list[int]:
    return [thing.cut_out for thing in prompt.scene.things]


def _vectors(sentences: SentenceText, texts: Sequence[str]) -> Tensor:
    parts = [
        sentences.sentences(list(texts[start : start + CAPTIONS_AT_ONCE]))
        for start in range(0, len(texts), CAPTIONS_AT_ONCE)
    ]
    return torch.cat(parts)
