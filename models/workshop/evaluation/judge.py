"""The judge: which caption fits a picture. A small picture encoder, trained apart from every
generator to land near the sentence vector of the picture's caption, as CLIP is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor, nn

from bakehouse_runtime.image.model_files import loading
from bakehouse_runtime.image.pictures import to_array
from bakehouse_runtime.image.text import SentenceText

JUDGED_SIDE = 64
SENTENCE_SIZE = SentenceText.size
WIDTHS = (24, 48, 96, 192)
# Quarters of the picture that the head tells apart, so that left of is not right of.
QUARTERS = 2


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
        text = F.normalize(self.text(sentences).float(), dim=-1)
        return self.log_scale.clamp(max=4.6).exp() * seen @ text.T


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


def caption_ranks(scores: Tensor) -> Tensor:
    """For picture i the number of other captions that fit it as well as caption i or better. A
    score that is no number is the worst."""
    scores = torch.where(scores.isnan(), -torch.inf, scores)
    own = scores.diagonal()[:, None]
    return (scores >= own).sum(dim=1) - 1
