"""A second classifier, whose features teach the decoder which details to preserve.

It is trained separately from the judge, with another shape and other scenes, and is never used for
measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from bakehouse_runtime.image.model_files import loading
from bakehouse_runtime.image.pictures import grid, to_array
from bakehouse_runtime.image.training.device import fast_arithmetic, sent, training_device
from bakehouse_runtime.image.training.loop import (
    LoopSettings,
    Training,
    TrainingReporter,
    run_loop,
)

from .evaluation.judge import JUDGED_SIDE
from .scenes.objects import CutOut
from .scenes.scene import Scene, has_held_out, render
from .train_judge import naming_loss, object_labels, quartered_scene

# Width and number of layers at a half, a quarter, an eighth and a sixteenth of the side.
STAGES = ((24, 1), (48, 2), (96, 2), (192, 2))
GROUPS = 8
EVAL_SCENES = 64


class Classifier(nn.Module):
    """Names the object in each cell of pictures [n, 3, height, width] in -1..1."""

    def __init__(self, objects: int) -> None:
        super().__init__()
        self.objects = objects
        self.stages = nn.ModuleList()
        before = 3
        for width, count in STAGES:
            layers = _layer(before, width, 2)
            for _ in range(count - 1):
                layers += _layer(width, width, 1)
            self.stages.append(nn.Sequential(*layers))
            before = width
        # The last class means no object.
        self.naming = nn.Conv2d(before, objects + 1, 1)

    def features(self, pictures: Tensor) -> list[Tensor]:
        """Returns the features of each stage, the finest first."""
        seen = []
        for stage in self.stages:
            pictures = stage(pictures)
            seen.append(pictures)
        return seen

    def forward(self, pictures: Tensor) -> Tensor:
        """Returns one logit per object, and one for no object, in each cell."""
        return self.naming(self.features(pictures)[-1]).float()


def _layer(before: int, width: int, stride: int) -> list[nn.Module]:
    conv = nn.Conv2d(before, width, 3, stride=stride, padding=1, bias=False)
    return [conv, nn.GroupNorm(GROUPS, width), nn.ReLU()]


def feature_loss(classifier: Classifier, reconstructed: Tensor, wanted: Tensor) -> Tensor:
    """Returns the squared distance between the directions of the classifier's features of two
    pictures (Zhang et al. 2018, arXiv 1801.03924), averaged over places and stages."""
    with torch.no_grad():
        targets = classifier.features(wanted)
    distances = [
        (F.normalize(seen.float(), dim=1) - F.normalize(target.float(), dim=1)).square().sum(dim=1)
        for seen, target in zip(classifier.features(reconstructed), targets, strict=True)
    ]
    return torch.stack([distance.mean() for distance in distances]).mean()


def train_classifier(
    classifier: Classifier,
    cut_outs: Sequence[CutOut],
    settings: LoopSettings,
    batch_size: int,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains on scenes of four objects, each used once, and saves `classifier.safetensors` at the
    end. Returns False if it was stopped before the last step."""
    device = training_device(device_name)
    training = Training(classifier, settings, device)

    def draw(seed: tuple[int, int], count: int) -> tuple[list[Image.Image], Tensor]:
        rng = np.random.default_rng(seed)
        scenes = [_scene(rng, cut_outs) for _ in range(count)]
        labels = torch.stack([object_labels(scene, cut_outs) for scene in scenes])
        return [render(scene, cut_outs, JUDGED_SIDE) for scene in scenes], labels

    def named(pictures: list[Image.Image], labels: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the loss, and the share of the objects' cells that are named correctly."""
        logits = classifier(sent(torch.from_numpy(to_array(pictures)), device))
        targets = sent(labels, device)
        thing = (targets >= 0) & (targets < classifier.objects)
        right = (logits.argmax(dim=1) == targets) & thing
        return naming_loss(logits, targets), right.sum() / thing.sum()

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        loss, right = named(*draw((settings.seed, step), batch_size))
        return loss, {"named": right}

    def evaluate(averaged: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
        assert averaged is classifier
        pictures, labels = draw((settings.seed, 2**40), EVAL_SCENES)
        with fast_arithmetic(device):
            loss, right = named(pictures, labels)
        file = path.with_suffix(".png")
        grid(pictures, 8).save(file)
        return file, {"eval_loss": float(loss), "eval_named": float(right)}

    finished = run_loop(training, work_dir, reporter, compute_loss, evaluate)
    training.adopt_ema_weights()
    if finished:
        save_file(classifier.state_dict(), work_dir / "classifier.safetensors")
    return finished


def _scene(rng: np.random.Generator, cut_outs: Sequence[CutOut]) -> Scene:
    """Returns a scene without held-out combinations, because the decoder learns from these
    scenes."""
    while True:
        scene = quartered_scene(rng, cut_outs)
        if not has_held_out(scene, cut_outs):
            return scene


def load_classifier(path: Path, device: torch.device) -> Classifier:
    """Loads the classifier that `train_classifier` saved, frozen. Raises PlainError if it cannot be
    read."""
    with loading("The classifier"):
        weights = load_file(path)
        classifier = Classifier(len(weights["naming.weight"]) - 1)
        classifier.load_state_dict(weights)
    return classifier.to(device).eval().requires_grad_(False)
