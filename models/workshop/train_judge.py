"""Trains the judge of the pictures on its own scenes, separately from every generator."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn

from bakehouse_runtime.image.pictures import grid
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.device import fast_arithmetic, sent, training_device
from bakehouse_runtime.image.training.loop import (
    LoopSettings,
    Training,
    TrainingReporter,
    run_loop,
)

from .evaluation.judge import CELLS, JUDGED_SIDE, Judge, caption_ranks, judge_input
from .scenes.objects import CutOut
from .scenes.scene import (
    OBJECT_COLOURS,
    Scene,
    Thing,
    caption,
    draw_any_ground,
    draw_any_scene,
    render,
    thing_coverage,
)

POOL_SEED = 77
EVAL_SCENES = 200
# A cell shows an object that covers more than the first share; below the second it shows none.
COVERED, BARE = 0.3, 0.03
# Pixels per side of a cell for measuring coverage.
COUNTED = 4
UNCERTAIN = -100
# Relative jitter between pictures, which no caption describes.
WIDTH_JITTER, PLACE_JITTER = 0.06, 0.03

UNCAPTIONED_PLACES = ((0.26, 0.26), (0.74, 0.26), (0.26, 0.74), (0.74, 0.74))
UNCAPTIONED_WIDTHS = (0.34, 0.5)
UNCAPTIONED_COLOURED = 0.35


def train_judge(
    judge: Judge,
    cut_outs: Sequence[CutOut],
    sentences: SentenceText,
    settings: LoopSettings,
    batch_size: int,
    pool: int,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains on scenes, including held-out combinations, and saves `judge.safetensors` at the end.

    The captions of `pool` scenes are encoded in advance; their pictures are redrawn each time.
    Pictures are sharp, so that the judge notices the blur of a generator. Each scene is paired with
    a scene of four objects without a caption, to show more objects in the same time. Returns False
    if it was stopped before the last step.
    """
    device = training_device(device_name)
    sentences.to(device)
    reporter.phase("encoding captions")
    scenes, texts = _scenes(cut_outs, pool + EVAL_SCENES)
    vectors = _sentence_vectors(sentences, texts, work_dir / "sentences.npz")
    training = Training(judge, settings, device)

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        rng = np.random.default_rng((settings.seed, step))
        chosen = rng.choice(pool, batch_size, replace=False)
        drawn = [_jittered(scenes[index], rng) for index in chosen]
        drawn += [quartered_scene(rng, cut_outs) for _ in chosen]
        pictures = judge_input([render(scene, cut_outs, JUDGED_SIDE) for scene in drawn])
        seen = judge.cells(sent(pictures, device))
        targets = sent(torch.stack([object_labels(scene, cut_outs) for scene in drawn]), device)
        named = judge.name_cells(seen)
        captions = sent(vectors[torch.from_numpy(chosen)], device)
        logits = judge.fit_captions(seen[:batch_size], captions)
        labels = torch.arange(batch_size, device=device)
        fit = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
        naming = naming_loss(named, targets)
        thing = (targets >= 0) & (targets < judge.objects)
        right = (named.argmax(dim=1) == targets) & thing
        return naming + fit, {"naming": naming, "fit": fit, "named": right.sum() / thing.sum()}

    def evaluate(averaged: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
        assert isinstance(averaged, Judge)
        evaluated = scenes[pool:]
        pictures = [render(scene, cut_outs, JUDGED_SIDE) for scene in evaluated]
        with fast_arithmetic(device):
            seen = averaged.cells(judge_input(pictures).to(device))
            fit = averaged.fit_captions(seen, vectors[pool:].to(device))
            named = averaged.name_objects(seen).argmax(dim=1).tolist()
        things = [[thing.cut_out for thing in scene.things] for scene in evaluated]
        right = [name in own for name, own in zip(named, things, strict=True)]
        file = path.with_suffix(".png")
        grid(pictures, 20).save(file)
        return file, {
            "eval_named": sum(right) / len(right),
            "eval_caption_top1": float((caption_ranks(fit) < 1).float().mean()),
        }

    finished = run_loop(training, work_dir, reporter, compute_loss, evaluate)
    training.adopt_ema_weights()
    if not finished:
        return False
    weights = {name: value.half().contiguous() for name, value in judge.state_dict().items()}
    partial = work_dir / "judge.safetensors.partial"
    save_file(weights, partial)
    partial.replace(work_dir / "judge.safetensors")
    return True


def _scenes(cut_outs: Sequence[CutOut], count: int) -> tuple[list[Scene], list[str]]:
    scenes, texts = [], []
    for index in range(count):
        rng = np.random.default_rng((POOL_SEED, index))
        scenes.append(_scene(rng, cut_outs, index))
        texts.append(caption(scenes[-1], cut_outs, rng))
    return scenes, texts


def _scene(rng: np.random.Generator, cut_outs: Sequence[CutOut], index: int) -> Scene:
    """Returns a scene; scenes of one and of two objects alternate, and each object is first in
    turn."""
    first, count = index % len(cut_outs), 1 + index // len(cut_outs) % 2
    while True:
        scene = draw_any_scene(rng, cut_outs, first)
        if len(scene.things) == count:
            return scene


def quartered_scene(rng: np.random.Generator, cut_outs: Sequence[CutOut]) -> Scene:
    """Returns a scene with one object in each quarter."""
    things = []
    for x, y in UNCAPTIONED_PLACES:
        number = int(rng.integers(len(cut_outs)))
        colour = None
        if cut_outs[number].recolourable and rng.random() < UNCAPTIONED_COLOURED:
            colour = str(rng.choice(list(OBJECT_COLOURS)))
        things.append(Thing(number, colour, rng.uniform(*UNCAPTIONED_WIDTHS), x, y))
    return _jittered(Scene(tuple(things), draw_any_ground(rng)), rng)


def _jittered(scene: Scene, rng: np.random.Generator) -> Scene:
    """Returns another scene of the same caption."""
    things = tuple(
        replace(
            thing,
            width=thing.width * (1 + rng.uniform(-WIDTH_JITTER, WIDTH_JITTER)),
            x=thing.x + rng.uniform(-PLACE_JITTER, PLACE_JITTER),
            y=thing.y + rng.uniform(-PLACE_JITTER, PLACE_JITTER),
        )
        for thing in scene.things
    )
    return replace(
        scene, things=things, ground=replace(scene.ground, seed=int(rng.integers(2**31)))
    )


def object_labels(scene: Scene, cut_outs: Sequence[CutOut]) -> Tensor:
    """Returns the object number of each cell, [CELLS, CELLS]; the number of objects for an empty
    cell, and UNCERTAIN at the objects' edges. Every object has at least one cell."""
    layers = [thing_coverage(thing, cut_outs, CELLS * COUNTED) for thing in scene.things]
    parts = np.stack([np.asarray(layer.reduce(COUNTED), np.float32) for layer in layers]) / 255
    labels = np.where(parts.max(axis=0) < BARE, len(cut_outs), UNCERTAIN)
    for thing, part in zip(scene.things, parts, strict=True):
        enough = min(COVERED, float(part.max()))
        labels[(part >= enough) & (part >= parts.max(axis=0))] = thing.cut_out
    return torch.from_numpy(labels)


def naming_loss(named: Tensor, targets: Tensor) -> Tensor:
    """Returns the cross-entropy of cells with an object, plus half the cross-entropy of empty
    cells."""
    losses = F.cross_entropy(named, targets, ignore_index=UNCERTAIN, reduction="none")
    none = targets == named.shape[1] - 1
    thing = (targets >= 0) & ~none
    # Sums instead of selections, whose size is known only on the device.
    return (losses * thing).sum() / thing.sum() + (losses * none).sum() / none.sum() / 2


def _sentence_vectors(sentences: SentenceText, texts: list[str], cache: Path) -> Tensor:
    """Returns the captions' vectors; caches them with a hash of the captions, because they take
    minutes on a CPU."""
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    if cache.exists():
        with np.load(cache) as kept:
            if str(kept["digest"]) == digest:
                return torch.from_numpy(kept["vectors"]).float()
    parts = [sentences.sentences(texts[start : start + 64]) for start in range(0, len(texts), 64)]
    vectors = torch.cat(parts).cpu().numpy().astype(np.float16)
    cache.parent.mkdir(parents=True, exist_ok=True)
    partial = cache.with_name(f"{cache.name}.partial")
    with partial.open("wb") as file:
        np.savez(file, vectors=vectors, digest=digest)
    partial.replace(cache)
    return torch.from_numpy(vectors).float()
