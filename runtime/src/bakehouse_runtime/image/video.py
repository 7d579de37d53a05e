"""Videos: frames of one size at a fixed frame rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ..errors import PlainError


@dataclass(frozen=True)
class Video:
    """`frames` are RGB in 0..255, [frames, height, width, 3]."""

    frames: np.ndarray
    fps: float

    @property
    def width(self) -> int:
        return self.frames.shape[2]

    @property
    def height(self) -> int:
        return self.frames.shape[1]

    @property
    def duration_s(self) -> float:
        return len(self.frames) / self.fps

    def picture(self, number: int) -> Image.Image:
        return Image.fromarray(self.frames[number])


def to_values(videos: Sequence[Video]) -> Tensor:
    """Converts videos of one size and length to float32 [count, 3, frames, height, width] in
    -1..1."""
    frames = torch.from_numpy(np.stack([video.frames for video in videos]))
    return frames.permute(0, 4, 1, 2, 3).float() / 127.5 - 1


def to_videos(values: Tensor, fps: float) -> list[Video]:
    """The inverse of `to_values`; clips values outside -1..1. Raises PlainError for values that are
    not finite, which would become black."""
    if not values.isfinite().all():
        raise PlainError(
            "The model computed a video with values that are not numbers: its weights are damaged "
            "or too large for the precision they are computed in."
        )
    scaled = ((values.clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8)
    return [Video(video.permute(1, 2, 3, 0).cpu().numpy(), fps) for video in scaled]


def strip(video: Video, count: int, side_max: int) -> Image.Image:
    """Returns evenly spaced frames in one row, including the first and the last."""
    last = len(video.frames) - 1
    chosen = np.linspace(0, last, min(count, last + 1)).round().astype(int)
    pictures = [reduced(video.picture(number), side_max) for number in chosen]
    width, height = pictures[0].size
    row = Image.new("RGB", (width * len(pictures), height))
    for place, picture in enumerate(pictures):
        row.paste(picture, (place * width, 0))
    return row


def reduced(picture: Image.Image, side_max: int) -> Image.Image:
    """Returns the picture with its longer side at most `side_max`."""
    scale = min(1.0, side_max / max(picture.size))
    if scale == 1:
        return picture
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(size, Image.Resampling.LANCZOS)
