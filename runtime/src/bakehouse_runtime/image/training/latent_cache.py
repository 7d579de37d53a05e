"""A cache of media as latents and captions as text states, written once and read at every step.

Encoding costs more than a training step of a small model, so trainers never process pixels. The
cache is written in shards; a restarted write adds the missing ones.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ...files import write_atomically
from ..family import Family
from ..text import TextStates
from .device import fast_arithmetic
from .loop import TrainingReporter

SHARD_EXAMPLES = 512
CAPTIONS_AT_ONCE = 32
# Share of a GPU's free memory at the start of a training.
SHARE_OF_A_GPU = 0.25


@dataclass(frozen=True)
class Example:
    """A picture, or a `Video` for video models, and its caption; with `source`, the result of
    applying the instruction to the source. `weights` is the weight of each latent in the loss,
    [height, width] of the latents, as integers up to 255; either all examples of a cache have
    weights or none."""

    picture: Any
    text: str
    source: Image.Image | None = None
    weights: np.ndarray | None = None


class Examples(Protocol):
    """Examples by number; the same number always returns the same example."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Example: ...


def write_latent_cache(
    folder: Path, examples: Examples, family: Family, reporter: TrainingReporter
) -> bool:
    """Encodes all examples into `folder`. Returns False if it was stopped."""
    folder.mkdir(parents=True, exist_ok=True)
    reporter.phase("encoding pictures")
    count = len(examples)
    for start in range(0, count, SHARD_EXAMPLES):
        path = folder / f"shard-{start // SHARD_EXAMPLES:05d}.npz"
        if not path.exists():
            if reporter.stop_requested:
                return False
            _write_shard(path, examples, range(start, min(count, start + SHARD_EXAMPLES)), family)
        done = min(count, start + SHARD_EXAMPLES)
        reporter.progress(done, count, "examples")
    if (folder / "texts.npz").exists():
        return True
    reporter.phase("encoding captions")
    return _write_texts(folder, family, reporter)


def _write_shard(path: Path, examples: Examples, indices: range, family: Family) -> None:
    read = [examples[index] for index in indices]
    pictures = {"latents": [example.picture for example in read]}
    sources = [example.source for example in read if example.source is not None]
    if sources:
        pictures["sources"] = sources
    with fast_arithmetic(family.autoencoder.device):
        arrays: dict[str, np.ndarray] = {
            name: family.encode(group).numpy().astype(np.float16)
            for name, group in pictures.items()
        }
    weights = [example.weights for example in read if example.weights is not None]
    if weights:
        arrays["weights"] = np.stack(weights).astype(np.uint8)
    arrays["texts"] = np.asarray([example.text for example in read])
    _save(path, arrays)


def _save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with write_atomically(path) as partial, partial.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _write_texts(folder: Path, family: Family, reporter: TrainingReporter) -> bool:
    texts = sorted({text for path in _shards(folder) for text in np.load(path)["texts"].tolist()})
    states: list[Tensor] = []
    pooled: list[Tensor] = []
    # The empty text, which means no prompt, is always first.
    texts = ["", *texts]
    for start in range(0, len(texts), CAPTIONS_AT_ONCE):
        if reporter.stop_requested:
            return False
        batch = texts[start : start + CAPTIONS_AT_ONCE]
        encoded = family.text(batch)
        states += [_without_end(state) for state in encoded.tokens.cpu()]
        if encoded.pooled is not None:
            pooled.append(encoded.pooled.cpu())
        reporter.progress(start + len(batch), len(texts), "examples")
    arrays = {
        "texts": np.asarray(texts),
        "lengths": np.asarray([len(state) for state in states]),
        "states": torch.cat(states).numpy().astype(np.float16),
        "window": np.asarray(family.text_encoder.window),
    }
    if pooled:
        arrays["pooled"] = torch.cat(pooled).numpy().astype(np.float16)
    _save(folder / "texts.npz", arrays)
    return True


def _without_end(state: Tensor) -> Tensor:
    used = state.abs().sum(dim=-1).nonzero()
    return state[: int(used.max()) + 1]


def _shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("shard-*.npz"))


class LatentCache:
    """A written cache in memory. Rows are examples; text number 0 is the empty prompt."""

    def __init__(self, folder: Path) -> None:
        shards = [np.load(path) for path in _shards(folder)]
        self.latents = torch.from_numpy(np.concatenate([shard["latents"] for shard in shards]))
        self.sources, self.weights = (
            torch.from_numpy(np.concatenate([shard[name] for shard in shards]))
            if name in shards[0]
            else None
            for name in ("sources", "weights")
        )
        texts = np.load(folder / "texts.npz")
        self.texts: list[str] = texts["texts"].tolist()
        numbers = {text: number for number, text in enumerate(self.texts)}
        of_rows = [numbers[text] for shard in shards for text in shard["texts"]]
        self.text_of = torch.tensor(of_rows, dtype=torch.long)
        self.window = int(texts["window"])
        self._states = torch.from_numpy(texts["states"])
        self._lengths = torch.from_numpy(texts["lengths"])
        self._starts = self._lengths.cumsum(0) - self._lengths
        self._pooled = torch.from_numpy(texts["pooled"]) if "pooled" in texts else None

    def __len__(self) -> int:
        return len(self.latents)

    @property
    def device(self) -> torch.device:
        """The device of the cache; row and text numbers must be on it too."""
        return self.latents.device

    def to(self, device: torch.device) -> LatentCache:
        """Returns a copy of this cache on the device, so that no step waits for a transfer; returns
        the cache itself if a GPU has no room for it."""
        if device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            if sum(part.nbytes for part in self._parts().values()) > free * SHARE_OF_A_GPU:
                return self
        moved = copy(self)
        for name, part in self._parts().items():
            setattr(moved, name, part.to(device))
        return moved

    def select(self, rows: np.ndarray) -> CachedRows:
        return CachedRows(self, torch.from_numpy(rows).to(self.device))

    def all_rows(self) -> CachedRows:
        return CachedRows(self, torch.arange(len(self), device=self.device))

    def text(self, numbers: Tensor) -> TextStates:
        """Returns the states of texts in float32, padded with zeros to the window."""
        places = torch.arange(self.window, device=self.device)
        used = places < self._lengths[numbers][:, None]
        index = self._starts[numbers][:, None] + places
        found = self._states[torch.where(used, index, 0)].float()
        pooled = None if self._pooled is None else self._pooled[numbers].float()
        return TextStates(found.masked_fill(~used[..., None], 0.0), pooled)

    def _parts(self) -> dict[str, Tensor]:
        return {name: part for name, part in vars(self).items() if isinstance(part, Tensor)}


@dataclass(frozen=True)
class CachedRows:
    """Some rows of a cache by number; the numbers are on the cache's device. Training and held-out
    rows share one cache, which may take most of the memory."""

    cache: LatentCache
    rows: Tensor
