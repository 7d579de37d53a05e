"""Rounds the requested length and size of a video to what the model supports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...errors import PlainError
from ...files import read_optional_object

# The key in `model_index.json` with the only size that a model supports.
VIDEO_KEY = "film"
# A shorter video shows hardly any motion.
SHORTEST_LATENTS = 2


@dataclass(frozen=True)
class VideoSize:
    width: int
    height: int
    frames: int


@dataclass(frozen=True)
class VideoSizes:
    """The sizes that a model supports. `largest` limits area and length; with `is_only` it is the
    only size. Sides are multiples of `multiple`, and frames are one more than a multiple of
    `frames_a_latent`."""

    largest: VideoSize
    fps: float
    multiple: int
    frames_a_latent: int
    is_only: bool = False

    def nearest(
        self, seconds: float, width: int, height: int, ratio: float | None = None
    ) -> VideoSize:
        """Returns the nearest supported size; a first frame sets the `ratio` of width to height."""
        if self.is_only:
            return self.largest
        wanted = ratio or width / height
        area = min(width * height, self.largest.width * self.largest.height)
        return VideoSize(
            self._side((area * wanted) ** 0.5),
            self._side((area / wanted) ** 0.5),
            self._frames(seconds),
        )

    def _side(self, length: float) -> int:
        # Never rounded up: the area is the largest that fits on a GPU.
        return max(1, int(length / self.multiple + 1e-6)) * self.multiple

    def _frames(self, seconds: float) -> int:
        each = self.frames_a_latent
        latents = round((seconds * self.fps - 1) / each)
        longest = (self.largest.frames - 1) // each
        return max(SHORTEST_LATENTS - 1, min(longest, latents)) * each + 1


def read_only_size(folder: Path) -> tuple[VideoSize, float] | None:
    """Returns the only video size in the model's folder, if any, and its frame rate. Raises
    PlainError."""
    video = read_optional_object(folder / "model_index.json").get(VIDEO_KEY)
    if video is None:
        return None
    names = ("width", "height", "frames", "fps")
    told = video if isinstance(video, dict) else {}
    found = [value for name in names if isinstance(value := told.get(name), int) and value > 0]
    if len(found) < len(names):
        raise PlainError(
            f"`{VIDEO_KEY}` in {folder.name}/model_index.json does not name {', '.join(names)}."
        )
    width, height, frames, fps = found
    return VideoSize(width, height, frames), float(fps)
