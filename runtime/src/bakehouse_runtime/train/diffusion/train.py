"""Trains a network of any family by flow matching, on edits and on media from text alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...image.family import Family
from ...image.flow import follow_flow, guided_velocity, noised
from ...image.text import TextStates
from ...image.training.device import fast_arithmetic, training_device
from ...image.training.latent_cache import CachedRows
from ...image.training.loop import (
    LoopSettings,
    Training,
    TrainingReporter,
    run_loop,
    step_generator,
)
from ...image.training.random_draws import draw_rows, dropped, logit_normal_times, noise_like

# The times of the flow at which the held-out loss is measured, always with the same noise.
EVAL_TIMES = (0.1, 0.3, 0.5, 0.7, 0.9)
SAMPLE_STEPS = 20
SAMPLE_ROWS = 8
# Larger media use fewer rows, so that they fit on a GPU with a full-size model.
LATENT_SIDE = 16


@dataclass(frozen=True)
class DiffusionTraining:
    """Settings of a diffusion training.

    `text_dropout` is the share of examples without their caption, so that the network also learns
    to generate without one, as guidance requires. `eval_name` is the name of the measured loss.
    `edit_share` is the share of the steps on edits; the others generate from text alone. `guidance`
    bounds the distilled guidance: a network without one must be trained on the whole range that
    users may request, because it fails outside of it. `time_shift` moves times towards noise (Esser
    et al. 2024, arXiv 2403.03206, equation 23); several shifts alternate over the examples of a
    step. Guidance and shift default to the family's. `compiled` needs a C++ compiler and a minute
    or two; an expert of 20 million weights then processed 89 samples per second instead of 62 (two
    cores with AMX, batches of 128).
    """

    loop: LoopSettings
    batch_size: int = 32
    text_dropout: float = 0.1
    edit_share: float = 0.6
    guidance: tuple[float, float] | None = None
    time_shift: float | Sequence[float] | None = None
    eval_rows: int = 64
    eval_name: str = "eval_loss"
    compiled: bool = False


@dataclass(frozen=True)
class TrainingData:
    """Edits (from a cache with sources) and pictures (from one without); either may be missing."""

    edits: CachedRows | None
    pictures: CachedRows | None

    @classmethod
    def of(cls, rows: CachedRows) -> TrainingData:
        """Returns rows that are all edits, or all pictures."""
        return cls(None, rows) if rows.cache.sources is None else cls(rows, None)

    def draw_part(self, rng: np.random.Generator, edit_share: float) -> CachedRows:
        if self.edits is None or self.pictures is None:
            part = self.edits or self.pictures
            assert part is not None
            return part
        return self.edits if rng.random() < edit_share else self.pictures

    def parts(self) -> dict[str, CachedRows]:
        named = {"edits": self.edits, "pictures": self.pictures}
        return {name: part for name, part in named.items() if part is not None}

    def moved(self, move: Callable[[CachedRows], CachedRows]) -> TrainingData:
        """Returns the data with each part replaced by `move` of it."""
        return TrainingData(self.edits and move(self.edits), self.pictures and move(self.pictures))


@dataclass(frozen=True)
class SizedData:
    """Rows of several sizes: a batch has one size, and each size is drawn in proportion to its
    rows."""

    sizes: tuple[CachedRows, ...]

    def draw_part(self, rng: np.random.Generator, _: float) -> CachedRows:
        counts = np.array([len(part.rows) for part in self.sizes])
        return self.sizes[rng.choice(len(counts), p=counts / counts.sum())]

    def parts(self) -> dict[str, CachedRows]:
        """Returns the parts by the sizes of their latents."""
        return {"x".join(map(str, part.cache.latents.shape[-2:])): part for part in self.sizes}

    def moved(self, move: Callable[[CachedRows], CachedRows]) -> SizedData:
        """Returns the data with each part replaced by `move` of it."""
        return SizedData(tuple(move(part) for part in self.sizes))


Data: TypeAlias = TrainingData | SizedData


def train_network(
    family: Family,
    network: nn.Module,
    data: Data,
    held_out: Data,
    settings: DiffusionTraining,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
    write_samples: Callable[[Path], None] | None = None,
) -> bool:
    """Trains the weights of `network` that require a gradient: all, or an adapter's.
    `write_samples` fills a folder at each checkpoint; without it a sheet of held-out rows is
    written.

    Leaves the averaged weights in the network. Returns False if it was stopped before the end.
    """
    device = training_device(device_name)
    training = Training(network, settings.loop, device)
    seed = settings.loop.seed
    data, held_out = _on_device((data, held_out), device)
    # Edits have twice the tokens, and each length is compiled separately.
    trained: Any = torch.compile(network, dynamic=False) if settings.compiled else network
    shift = _time_shifts(family, settings, device)

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        part = data.draw_part(np.random.default_rng((seed, step)), settings.edit_share)
        cache = part.cache
        generator = step_generator(seed, step, cache.device)
        rows = draw_rows(part.rows, settings.batch_size, generator)
        texts = dropped(cache.text_of[rows], settings.text_dropout, generator)
        t = logit_normal_times(len(rows), generator).to(device)
        t = shift * t / (1 + (shift - 1) * t)
        shape = (len(rows), *cache.latents.shape[1:])
        noise = noise_like(torch.empty(shape, device=device), generator)
        guidance = _draw_guidance(family, settings, len(rows), generator)
        chosen = CachedRows(cache, rows)
        return flow_loss(family, trained, chosen, texts, t, noise, guidance), {}

    def measure(averaged: nn.Module) -> dict[str, float]:
        parts = held_out.parts()
        with fast_arithmetic(device):
            losses = {
                name: _eval_loss(family, averaged, part, settings, device)
                for name, part in parts.items()
            }
        if len(parts) > 1 and isinstance(held_out, TrainingData):
            return {f"{settings.eval_name}_{name}": loss for name, loss in losses.items()}
        counts = [len(part.rows) for part in parts.values()]
        return {settings.eval_name: float(np.average(list(losses.values()), weights=counts))}

    def write_sheet(averaged: nn.Module, path: Path) -> Path:
        samples: list[Any] = []
        columns, parts = 1, list(held_out.parts().values())
        # A sheet has pictures of one size.
        for part in parts if isinstance(held_out, TrainingData) else parts[:1]:
            shown = _first_rows(part, SAMPLE_ROWS)
            columns = len(shown.rows)
            with fast_arithmetic(device):
                samples += _samples(family, averaged, shown, seed, device)
        return family.write_samples(samples, columns, path)

    def evaluate(averaged: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
        measured = measure(averaged)
        if write_samples is None:
            return write_sheet(averaged, path), measured
        write_samples(path)
        return path, measured

    finished = run_loop(training, work_dir, reporter, compute_loss, evaluate)
    training.adopt_ema_weights()
    return finished


def flow_loss(
    family: Family,
    network: nn.Module,
    chosen: CachedRows,
    texts: Tensor,
    t: Tensor,
    noise: Tensor,
    guidance: Tensor | None,
) -> Tensor:
    """Returns the mean squared error of the velocity `noise - latents` of these rows with these
    texts, at the times `t` and with the distilled guidance of each; weighted if the cache has
    weights."""
    device = noise.device
    latents, condition = _latents(chosen, device)
    text = chosen.cache.text(texts).to(device)
    guidance = None if guidance is None else guidance.to(device)
    predicted = family.velocity(network, noised(latents, noise, t), t, text, condition, guidance)
    if chosen.cache.weights is None:
        return F.mse_loss(predicted.float(), noise - latents)
    weights = chosen.cache.weights[chosen.rows].float().to(device)
    errors = (predicted.float() - (noise - latents)).square().mean(dim=1)
    return (weights * errors).sum() / weights.sum()


def sample(
    family: Family,
    network: nn.Module,
    noise: Tensor,
    text: TextStates,
    condition: Tensor | None = None,
) -> Tensor:
    """Returns the end of the flow from `noise`, with the family's guidance; `text` holds the
    prompts followed by as many empty ones for guidance."""
    twice = None if condition is None else torch.cat([condition, condition])

    def of_both(latents: Tensor, t: Tensor) -> Tensor:
        guidance = _distilled_guidance(family, len(t), latents.device)
        return family.velocity(network, latents, t, text, twice, guidance)

    velocity = guided_velocity(of_both, family.sample_guidance)
    return follow_flow(noise, SAMPLE_STEPS, velocity)


def _on_device(datas: Sequence[Data], device: torch.device) -> list[Data]:
    """Moves the rows and their caches to the device as far as they fit; a shared cache is moved
    once."""
    caches = {id(part.cache): part.cache for data in datas for part in data.parts().values()}
    moved = {key: cache.to(device) for key, cache in caches.items()}

    def with_moved(part: CachedRows) -> CachedRows:
        cache = moved[id(part.cache)]
        return CachedRows(cache, part.rows.to(cache.device))

    return [data.moved(with_moved) for data in datas]


def _latents(chosen: CachedRows, device: torch.device) -> tuple[Tensor, Tensor | None]:
    cache, rows = chosen.cache, chosen.rows
    sources = None if cache.sources is None else cache.sources[rows].float().to(device)
    return cache.latents[rows].float().to(device), sources


def _time_shifts(family: Family, settings: DiffusionTraining, device: torch.device) -> Tensor:
    """Returns the shift of each example of a step, [batch size]."""
    given = family.time_shift if settings.time_shift is None else settings.time_shift
    shifts = torch.tensor(given, dtype=torch.float32).reshape(-1)
    return shifts[torch.arange(settings.batch_size) % len(shifts)].to(device)


def _draw_guidance(
    family: Family, settings: DiffusionTraining, count: int, generator: torch.Generator
) -> Tensor | None:
    if family.distilled_guidance is None:
        return None
    bounds = settings.guidance or (family.distilled_guidance, family.distilled_guidance)
    return torch.empty(count, device=generator.device).uniform_(*bounds, generator=generator)


def _distilled_guidance(family: Family, count: int, device: torch.device) -> Tensor | None:
    if family.distilled_guidance is None:
        return None
    return torch.full((count,), family.distilled_guidance, device=device)


def _eval_loss(
    family: Family,
    network: nn.Module,
    part: CachedRows,
    settings: DiffusionTraining,
    device: torch.device,
) -> float:
    """Returns the loss on the first rows, always with the same noise at the same times."""
    chosen = _first_rows(part, settings.eval_rows)
    latents, _ = _latents(chosen, device)
    noise = noise_like(latents, step_generator(settings.loop.seed, 0))
    count = len(chosen.rows)
    losses = [
        flow_loss(
            family,
            network,
            chosen,
            chosen.cache.text_of[chosen.rows],
            torch.full((count,), t, device=device),
            noise,
            _distilled_guidance(family, count, device),
        )
        for t in EVAL_TIMES
    ]
    return float(torch.stack(losses).mean())


def _first_rows(part: CachedRows, most: int) -> CachedRows:
    """Returns the first rows: `most` of them for latents up to the usual side, fewer for larger
    ones."""
    height, width = part.cache.latents.shape[-2:]
    fit = max(1, most * LATENT_SIDE**2 // (height * width))
    return CachedRows(part.cache, part.rows[: min(most, fit)])


def _samples(
    family: Family, network: nn.Module, shown: CachedRows, seed: int, device: torch.device
) -> list[Any]:
    """Returns a line of sources if there are any, a line of results, and a line of targets."""
    numbers = shown.cache.text_of[shown.rows]
    text = shown.cache.text(torch.cat([numbers, torch.zeros_like(numbers)])).to(device)
    wanted, condition = _latents(shown, device)
    noise = noise_like(wanted, step_generator(seed, 1))
    made = sample(family, network, noise, text, condition)
    # A condition of a video is a single frame, so lengths differ and each line is decoded
    # separately.
    lines = [made, wanted] if condition is None else [condition, made, wanted]
    return [medium for line in lines for medium in family.decode(line)]
