"""Training a FLUX Kontext transformer: on edits, and on pictures from text alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from PIL import Image
from torch import Tensor, nn

from ...image.autoencoder import decode_latents
from ...image.flow import follow_flow, guided_velocity, noised
from ...image.kontext.flow import velocity
from ...image.kontext.pipeline import DISTILLED_GUIDANCE
from ...image.pictures import grid, to_pictures
from ...image.training.bank import Bank, BankPart
from ...image.training.device import fast_arithmetic, training_device
from ...image.training.draws import draw_rows, dropped, noise_like
from ...image.training.loop import LoopSettings, Training, run_loop, step_generator
from ...image.training.reporter import TrainingReporter
from ...image.training.times import EXAMINED_TIMES, SAMPLE_STEPS, logit_normal_times

EXAMINED_ROWS = 64
SAMPLE_ROWS = 8
# Larger pictures are fewer, so that a GPU holds them beside a full-size model.
LATENT_SIDE = 16
SAMPLE_GUIDANCE = 2.5


@dataclass(frozen=True)
class KontextTraining:
    """`edit_share` is the share of the steps on edits; the others generate from text alone.
    `guidance` bounds the distilled guidance that the model is given: one that has none yet must
    see the whole range that people will ask for, or it breaks outside of what it saw.
    `time_shift` draws times nearer to noise (Esser et al. 2024, arXiv 2403.03206, equation 23):
    there the picture cannot be guessed from what is left of it, but must come from the condition.
    `compiled` needs a C++ compiler and a minute or two.
    """

    loop: LoopSettings
    batch_size: int = 32
    text_dropout: float = 0.1
    edit_share: float = 0.6
    guidance: tuple[float, float] = (2.5, 2.5)
    time_shift: float = 3.0
    compiled: bool = False


@dataclass(frozen=True)
class KontextData:
    """Edits (of a bank with sources) and pictures (of one without); either may be missing."""

    edits: BankPart | None
    pictures: BankPart | None

    def part_of_step(self, rng: np.random.Generator, edit_share: float) -> BankPart:
        if self.edits is None or self.pictures is None:
            part = self.edits or self.pictures
            assert part is not None
            return part
        return self.edits if rng.random() < edit_share else self.pictures

    def parts(self) -> list[BankPart]:
        """Those that are there."""
        return [part for part in (self.edits, self.pictures) if part is not None]


def train_kontext(
    transformer: FluxTransformer2DModel,
    data: KontextData,
    held_out: KontextData,
    settings: KontextTraining,
    autoencoder: AutoencoderKL,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains those weights of `transformer` that ask for a gradient: all, or those of an adapter.

    Leaves the averaged weights in it. Returns False where it was asked to stop before the end.
    """
    device = training_device(device_name)
    training = Training(transformer, settings.loop, device)
    seed = settings.loop.seed
    near, near_held_out = _near([data, held_out], device)
    # Edits have twice the tokens: each length is compiled by itself.
    trained: Any = torch.compile(transformer, dynamic=False) if settings.compiled else transformer

    def loss_of_step(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        part = near.part_of_step(np.random.default_rng((seed, step)), settings.edit_share)
        bank = part.bank
        generator = step_generator(seed, step, bank.device)
        rows = draw_rows(part.rows, settings.batch_size, generator)
        texts = dropped(bank.text_of[rows], settings.text_dropout, generator)
        t = logit_normal_times(len(rows), generator).to(device)
        t = settings.time_shift * t / (1 + (settings.time_shift - 1) * t)
        shape = (len(rows), *bank.latents.shape[1:])
        noise = noise_like(torch.empty(shape, device=device), generator)
        guidance = torch.empty(len(rows), device=bank.device)
        guidance.uniform_(*settings.guidance, generator=generator)
        return flow_loss(trained, bank, rows, texts, t, noise, guidance.to(device)), {}

    def examine(averaged: nn.Module) -> tuple[Image.Image, dict[str, float]]:
        assert isinstance(averaged, FluxTransformer2DModel)
        measured: dict[str, float] = {}
        sheets = []
        columns = 1
        for name, part in (
            ("edits", near_held_out.edits),
            ("pictures", near_held_out.pictures),
        ):
            if part is None:
                continue
            with fast_arithmetic(device):
                measured[f"eval_loss_{name}"] = _eval_loss(averaged, part, seed, device)
                rows = _first_rows(part, SAMPLE_ROWS)
                columns = len(rows)
                sheets += _sample_pictures(averaged, part.bank, rows, settings, autoencoder, device)
        return grid(sheets, columns), measured

    finished = run_loop(training, work_dir, reporter, loss_of_step, examine)
    training.adopt_ema_weights()
    return finished


def _near(datas: Sequence[KontextData], device: torch.device) -> list[KontextData]:
    """The rows with their banks on the device, as far as it has room for them; a bank of which
    several have rows goes there once."""
    banks = {id(part.bank): part.bank for data in datas for part in data.parts()}
    near = {key: bank.near(device) for key, bank in banks.items()}

    def moved(part: BankPart | None) -> BankPart | None:
        if part is None:
            return None
        bank = near[id(part.bank)]
        return BankPart(bank, part.rows.to(bank.device))

    return [KontextData(moved(data.edits), moved(data.pictures)) for data in datas]


def flow_loss(
    transformer: FluxTransformer2DModel,
    bank: Bank,
    rows: Tensor,
    texts: Tensor,
    t: Tensor,
    noise: Tensor,
    guidance: Tensor,
) -> Tensor:
    """Mean squared error of the velocity of these rows with these texts, at the times `t` and with
    the distilled guidance of each."""
    device = noise.device
    latents = bank.latents[rows].float().to(device)
    condition = None if bank.sources is None else bank.sources[rows].float().to(device)
    states, pooled = bank.states(texts).to(device), bank.pooled(texts).to(device)
    noisy = noised(latents, noise, t)
    predicted = velocity(transformer, noisy, t, states, pooled, condition, guidance)
    return F.mse_loss(predicted.float(), noise - latents)


def _eval_loss(
    transformer: FluxTransformer2DModel, part: BankPart, seed: int, device: torch.device
) -> float:
    """The loss on the first rows, with the same noise at the same times whenever it is measured."""
    bank, rows = part.bank, _first_rows(part, EXAMINED_ROWS)
    noise = noise_like(bank.latents[rows].float().to(device), step_generator(seed, 0))
    guidance = torch.full((len(rows),), DISTILLED_GUIDANCE, device=device)
    losses = [
        flow_loss(
            transformer,
            bank,
            rows,
            bank.text_of[rows],
            torch.full((len(rows),), t, device=device),
            noise,
            guidance,
        )
        for t in EXAMINED_TIMES
    ]
    return float(torch.stack(losses).mean())


def _first_rows(part: BankPart, most: int) -> Tensor:
    """The first rows: `most` of latents up to the usual side, fewer of larger ones."""
    height, width = part.bank.latents.shape[-2:]
    fit = max(1, most * LATENT_SIDE**2 // (height * width))
    return part.rows[: min(most, fit)]


def _sample_pictures(
    transformer: FluxTransformer2DModel,
    bank: Bank,
    rows: Tensor,
    settings: KontextTraining,
    autoencoder: AutoencoderKL,
    device: torch.device,
) -> list[Image.Image]:
    """A line of sources where there are some, a line of what the model makes, a line of what was
    wanted."""
    with_and_without = torch.cat([bank.text_of[rows], torch.zeros_like(rows)])
    states = bank.states(with_and_without).to(device)
    pooled = bank.pooled(with_and_without).to(device)
    condition = None if bank.sources is None else bank.sources[rows].float().to(device)
    condition_twice = None if condition is None else torch.cat([condition, condition])

    def of_both(latents: Tensor, t: Tensor) -> Tensor:
        guidance = torch.full((len(t),), DISTILLED_GUIDANCE, device=device)
        return velocity(transformer, latents, t, states, pooled, condition_twice, guidance)

    wanted = bank.latents[rows].float().to(device)
    noise = noise_like(wanted, step_generator(settings.loop.seed, 1))
    made = follow_flow(noise, SAMPLE_STEPS, guided_velocity(of_both, SAMPLE_GUIDANCE))
    lines = [] if condition is None else [condition]
    lines += [made, wanted]
    return to_pictures(decode_latents(autoencoder, torch.cat(lines)).cpu().numpy())
