"""The judge: recognises the objects in a picture, and the caption that fits it.

It is a small picture encoder, trained separately from every generator. It names the object in each
cell of a grid, and embeds the picture close to the sentence vector of its caption, like CLIP.
"""

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

JUDGED_SIDE = 128
SENTENCE_SIZE = SentenceText.size
# Width and number of layers at a quarter, an eighth and a sixteenth of the side.
STAGES = ((48, 2), (96, 2), (192, 4))
# Cells of the grid in which objects are named, on each side.
CELLS = JUDGED_SIDE // 4 // 2 ** (len(STAGES) - 1)
NAMING_WIDTH = 384
# The captions' head distinguishes quarters of the picture, so that left and right matter.
QUARTERS = 2
BATCH_SIZE = 50


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, width)
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(F.silu(self.norm(x)))


class Judge(nn.Module):
    """Input: pictures [n, 3, 128, 128] in -1..1; `objects` is the number of object classes."""

    def __init__(self, objects: int) -> None:
        super().__init__()
        self.objects = objects
        layers: list[nn.Module] = []
        before, stride = 3, 4
        for width, count in STAGES:
            layers.append(nn.Conv2d(before, width, stride, stride=stride))
            layers += [Residual(width) for _ in range(count)]
            before, stride = width, 2
        layers += [nn.GroupNorm(8, before), nn.SiLU()]
        self.body = nn.Sequential(*layers)
        # The last class means no object.
        self.naming = nn.Sequential(
            nn.Conv2d(before, NAMING_WIDTH, 1), nn.SiLU(), nn.Conv2d(NAMING_WIDTH, objects + 1, 1)
        )
        self.head = nn.Sequential(
            nn.AdaptiveAvgPool2d(QUARTERS),
            nn.Flatten(),
            nn.Linear(before * QUARTERS**2, SENTENCE_SIZE),
            nn.SiLU(),
            nn.Linear(SENTENCE_SIZE, SENTENCE_SIZE),
        )
        self.text = nn.Linear(SENTENCE_SIZE, SENTENCE_SIZE)
        nn.init.eye_(self.text.weight)
        self.log_scale = nn.Parameter(torch.tensor(2.7))

    def cells(self, pictures: Tensor) -> Tensor:
        """Returns the features of each cell: [pictures, width, CELLS, CELLS]."""
        return self.body(pictures)

    def name_cells(self, cells: Tensor) -> Tensor:
        """Returns one logit per object, and one for no object, in each cell: [pictures, objects +
        1, ...]."""
        return self.naming(cells).float()

    def name_objects(self, cells: Tensor) -> Tensor:
        """Returns the log of each object's share of the cells, [pictures, objects]."""
        return self.name_cells(cells).softmax(dim=1)[:, :-1].mean(dim=(2, 3)).log()

    def fit_captions(self, cells: Tensor, sentences: Tensor) -> Tensor:
        """Returns the cosine similarity times the learnt scale, [pictures, sentences]."""
        seen = F.normalize(self.head(cells).float(), dim=-1)
        text = F.normalize(self.text(sentences).float(), dim=-1)
        return self.log_scale.clamp(max=4.6).exp() * seen @ text.T


@torch.no_grad()
def cells_of(judge: Judge, pictures: Sequence[Image.Image]) -> Tensor:
    """Returns the cells of pictures of any size, which all heads of the judge use; computed in
    batches."""
    parts = [
        judge.cells(judge_input(pictures[start : start + BATCH_SIZE]))
        for start in range(0, len(pictures), BATCH_SIZE)
    ]
    return torch.cat(parts)


def judge_input(pictures: Sequence[Image.Image]) -> Tensor:
    """Scales pictures of any size to the judge's input size."""
    size = (JUDGED_SIDE, JUDGED_SIDE)
    return torch.from_numpy(to_array([p.resize(size, Image.Resampling.BOX) for p in pictures]))


def load_judge(path: Path) -> Judge:
    """Loads the judge that `train_judge` saved, in float32. Raises PlainError if it cannot be
    read."""
    with loading("The judge"):
        weights = load_file(path)
        judge = Judge(len(weights["naming.2.weight"]) - 1)
        judge.load_state_dict(weights)
    return judge.eval()


def caption_ranks(scores: Tensor) -> Tensor:
    """Returns for picture i the number of other captions that fit it as well as caption i or
    better. NaN scores are the worst."""
    scores = torch.where(scores.isnan(), -torch.inf, scores)
    own = scores.diagonal()[:, None]
    return (scores >= own).sum(dim=1) - 1
