"""Measures how realistic a set of pictures is, regardless of content: its detail and its
distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

# Detail is the difference from the mean of this many pixels around: eyes, windows, edges of leaves.
DETAIL_WINDOW = 5


def detail_energy(pictures: Sequence[Image.Image], places: np.ndarray) -> float:
    """Returns the mean square of what blurring removes from grey values in 0..1, where `places`,
    [pictures, height, width], is true."""
    grey = np.stack([np.asarray(picture.convert("L"), dtype=np.float32) for picture in pictures])
    values = torch.from_numpy(grey)[:, None] / 255
    around = F.avg_pool2d(
        values, DETAIL_WINDOW, stride=1, padding=DETAIL_WINDOW // 2, count_include_pad=False
    )
    return float((values - around).square()[:, 0][torch.from_numpy(places)].mean())


def kernel_distance(features: Tensor, others: Tensor) -> float:
    """Returns the KID (Binkowski et al. 2018, arXiv 1801.01401) of two sets of features, [count,
    size]: an unbiased estimate of the squared distance of their means under a cubic kernel. It is
    about 0 for two draws of one distribution, and may be negative."""
    inside = _mean_of_pairs(_kernel(features, features)) + _mean_of_pairs(_kernel(others, others))
    return float(inside - 2 * _kernel(features, others).mean())


def _kernel(a: Tensor, b: Tensor) -> Tensor:
    a, b = a.double(), b.double()
    return (a @ b.T / a.shape[1] + 1) ** 3


def _mean_of_pairs(kernel: Tensor) -> Tensor:
    """Returns the mean over pairs of different members."""
    count = len(kernel)
    return (kernel.sum() - kernel.diagonal().sum()) / (count * (count - 1))
