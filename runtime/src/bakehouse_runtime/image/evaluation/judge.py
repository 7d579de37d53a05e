"""The judge: which caption fits a picture. A small picture encoder, trained apart from every
generator to land near the sentence vector of the picture's caption, as CLIP is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from ..model_files import loading
from ..pictures import grid, to_array
from ..scenes.objects import CutOut
from ..scenes.scene import caption, draw_any_scene, render
from ..text import SentenceText
from ..training.device import fast_arithmetic, training_device
from ..training.loop import LoopSettings, Training, run_loop
from ..training.reporter import TrainingReporter

JUDGED_SIDE = 64
SENTENCE_SIZE = SentenceText.size
WIDTHS = (24, 48, 96, 192)
# Quarters of the picture that the head tells apart, so that left of is not right of.
QUARTERS = 2
# Scenes of which captions are encoded beforehand; their pictures are drawn anew every time.
POOL_SCENES = 24_000
POOL_SEED = 77
EXAMINED_SCENES = 200


class Judge(nn.Module):
    """Pictures [n, 3, 64, 64] in -1..1 to unit vectors, and sentence vectors to the same space."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for width in WIDTHS:
            layers += [
                nn.Conv2d(before, width, 3, padding=1),
                nn.GroupNorm(8, width),
                nn.SiLU(),
                nn.Conv2d(width, width, 3, stride=2, padding=1),
                nn.GroupNorm(8, width),
                nn.SiLU(),
            ]
            before = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.AdaptiveAvgPool2d(QUARTERS),
            nn.Flatten(),
            nn.Linear(WIDTHS[-1] * QUARTERS**2, SENTENCE_SIZE),
            nn.SiLU(),
            nn.Linear(SENTENCE_SIZE, SENTENCE_SIZE),
        )
        self.text = nn.Linear(SENTENCE_SIZE, SENTENCE_SIZE)
        nn.init.eye_(self.text.weight)
        self.log_scale = nn.Parameter(torch.tensor(2.7))

    def forward(self, pictures: Tensor, sentences: Tensor) -> Tensor:
        """Cosine similarity times the learnt scale, [pictures, sentences]."""
        seen = F.normalize(self.head(self.body(pictures)).float(), dim=-1)
        said = F.normalize(self.text(sentences).float(), dim=-1)
        return self.log_scale.clamp(max=4.6).exp() * seen @ said.T


def judge_input(pictures: Sequence[Image.Image]) -> Tensor:
    """Pictures of any size as the judge looks at them."""
    size = (JUDGED_SIDE, JUDGED_SIDE)
    small = [picture.resize(size, Image.Resampling.BOX) for picture in pictures]
    return torch.from_numpy(to_array(small))


def load_judge(path: Path) -> Judge:
    """The judge that `train_judge` saved, in float32. Raises PlainError where it cannot be read."""
    judge = Judge()
    with loading("The judge"):
        judge.load_state_dict(load_file(path))
    return judge.eval()


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
        pictures = _spoilt(drawn(chosen.tolist()), rng).to(device)
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


def caption_ranks(scores: Tensor) -> Tensor:
    """For picture i the number of other captions that fit it as well as caption i or better. A
    score that is no number is the worst."""
    scores = torch.where(scores.isnan(), -torch.inf, scores)
    own = scores.diagonal()[:, None]
    return (scores >= own).sum(dim=1) - 1


def _spoilt(pictures: Tensor, rng: np.random.Generator) -> Tensor:
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
