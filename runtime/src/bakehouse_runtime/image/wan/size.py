"""How long and how large a film becomes: what comes nearest to what is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...errors import PlainError
from ...files import read_optional_object

# In `model_index.json`: what a model makes that can make nothing else.
FILM = "film"
# A film of fewer latents has no motion to speak of.
SHORTEST_LATENTS = 2


@dataclass(frozen=True)
class FilmSize:
    width: int
    height: int
    frames: int


@dataclass(frozen=True)
class FilmSizes:
    """What a model can make. `largest` is its area and its length at most; a model that `is_only`
    makes films of that very size. Sides are multiples of `multiple`, and frames one more than a
    multiple of `frames_a_latent`."""

    largest: FilmSize
    fps: float
    multiple: int
    frames_a_latent: int
    is_only: bool = False

    def nearest(
        self, seconds: float, width: int, height: int, ratio: float | None = None
    ) -> FilmSize:
        """What comes nearest to this; a picture that the film begins with has its own `ratio` of
        width to height."""
        if self.is_only:
            return self.largest
        wanted = ratio or width / height
        area = min(width * height, self.largest.width * self.largest.height)
        return FilmSize(
            self._side((area * wanted) ** 0.5),
            self._side((area / wanted) ** 0.5),
            self._frames(seconds),
        )

    def _side(self, length: float) -> int:
        # Not rounded up: the area is the largest that fits a GPU.
        return max(1, int(length / self.multiple + 1e-6)) * self.multiple

    def _frames(self, seconds: float) -> int:
        each = self.frames_a_latent
        latents = round((seconds * self.fps - 1) / each)
        longest = (self.largest.frames - 1) // each
        return max(SHORTEST_LATENTS - 1, min(longest, latents)) * each + 1


def read_only_size(folder: Path) -> tuple[FilmSize, float] | None:
    """The one size of film that the model's folder names, and its frames a second. Raises
    PlainError."""
    film = read_optional_object(folder / "model_index.json").get(FILM)
    if film is None:
        return None
    names = ("width", "height", "frames", "fps")
    told = film if isinstance(film, dict) else {}
    found = [value for name in names if isinstance(value := told.get(name), int) and value > 0]
    if len(found) < len(names):
        raise PlainError(
            f"The {FILM} in {folder.name}/model_index.json does not name {', '.join(names)}."
        )
    width, height, frames, fps = found
    return FilmSize(width, height, frames), float(fps)
