"""Training the judge of `bench --models`: on scenes of its own, apart from every generator."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor, nn

from bakehouse_runtime.image.pictures import grid
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.device import fast_arithmetic, training_device
from bakehouse_runtime.image.training.loop import LoopSettings, Training, run_loop
from bakehouse_runtime.image.training.reporter import TrainingReporter

from .evaluation.judge import JUDGED_SIDE, Judge, caption_ranks, judge_input
from .scenes.objects import CutOut
from .scenes.scene import caption, draw_any_scene, render

# Scenes of which captions are encoded beforehand; their pictures are drawn anew every time.
POOL_SCENES = 24_000
POOL_SEED = 77
EXAMINED_SCENES = 200


def train_judge(
    judge: Judge,
    cut_outs: Sequence[CutOut],
    sentences: SentenceText,
    settings: LoopSettings,
    batch_size: int,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains on scenes, held-out combinations among them, and saves `judge.safetensors` at the end.

    Noise and blur are added, so that it looks at the object and not at the drawing's sharpness.
    Returns False where it was asked to stop before the last step.
    """
    device = training_device(device_name)
    reporter.phase("encoding captions")
    total = POOL_SCENES + EXAMINED_SCENES
    scenes, texts = [], []
    for index in range(total):
        rng = np.random.default_rng((POOL_SEED, index))
        scenes.append(draw_any_scene(rng, cut_outs, index % len(cut_outs)))
        texts.append(caption(scenes[-1], cut_outs, rng))
    vectors = _sentence_vectors(sentences, texts, work_dir / "sentences.npz")
    training = Training(judge, settings, device)

    def drawn(indices: Sequence[int]) -> Tensor:
        return judge_input([render(scenes[index], cut_outs, JUDGED_SIDE) for index in indices])

    def loss_of_step(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        rng = np.random.default_rng((settings.seed, step))
        chosen = rng.choice(POOL_SCENES, batch_size, replace=False)
        pictures = _degraded(drawn(chosen.tolist()), rng).to(device)
        logits = judge(pictures, vectors[torch.from_numpy(chosen)].to(device))
        labels = torch.arange(batch_size, device=device)
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
        return loss, {"accuracy": (logits.argmax(dim=1) == labels).float().mean()}

    def examine(averaged: nn.Module) -> tuple[Image.Image, dict[str, float]]:
        examined = list(range(POOL_SCENES, total))
        with fast_arithmetic(device):
            scores = averaged(drawn(examined).to(device), vectors[examined].to(device))
        ranks = caption_ranks(scores)
        sheet = grid([render(scenes[index], cut_outs, JUDGED_SIDE) for index in examined], 20)
        return sheet, {
            "eval_top1": float((ranks < 1).float().mean()),
            "eval_top5": float((ranks < 5).float().mean()),
        }

    finished = run_loop(training, work_dir, reporter, loss_of_step, examine)
    training.adopt_average()
    if not finished:
        return False
    weights = {name: value.half().contiguous() for name, value in judge.state_dict().items()}
    partial = work_dir / "judge.safetensors.partial"
    save_file(weights, partial)
    partial.replace(work_dir / "judge.safetensors")
    return True


def _degraded(pictures: Tensor, rng: np.random.Generator) -> Tensor:
    generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
    if rng.random() < 0.5:
        small = F.avg_pool2d(pictures, 2)
        pictures = F.interpolate(small, scale_factor=2, mode="bilinear")
    level = 0.15 * torch.rand(len(pictures), 1, 1, 1, generator=generator)
    return pictures + level * torch.randn(pictures.shape, generator=generator)


def _sentence_vectors(sentences: SentenceText, texts: list[str], memo: Path) -> Tensor:
    """The captions' vectors; kept in `memo` beside a hash of the captions, because they take
    minutes on a CPU."""
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    if memo.exists():
        with np.load(memo) as kept:
            if str(kept["digest"]) == digest:
                return torch.from_numpy(kept["vectors"]).float()
    parts = [sentences.sentences(texts[start : start + 64]) for start in range(0, len(texts), 64)]
    vectors = torch.cat(parts).numpy().astype(np.float16)
    memo.parent.mkdir(parents=True, exist_ok=True)
    partial = memo.with_name(f"{memo.name}.partial")
    with partial.open("wb") as file:
        np.savez(file, vectors=vectors, digest=digest)
    partial.replace(memo)
    return torch.from_numpy(vectors).float()
