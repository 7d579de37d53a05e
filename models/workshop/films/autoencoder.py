"""The autoencoder of films: Diffusers' `AutoencoderKLWan`, eight times smaller in each direction
and four times in time; its training and its writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from diffusers.models.autoencoders.autoencoder_kl_wan import (
    AutoencoderKLWan,
    WanAttentionBlock,
    WanResample,
    WanResidualBlock,
)
from PIL import Image
from torch import Tensor, nn

from bakehouse_runtime.image.film import Film, strip, to_films, to_values
from bakehouse_runtime.image.model_files import forget_origins
from bakehouse_runtime.image.training.device import fast_arithmetic, sent, training_device
from bakehouse_runtime.image.training.loop import (
    LoopSettings,
    Training,
    TrainingReporter,
    run_loop,
    step_generator,
)
from bakehouse_runtime.image.training.random_draws import noise_like
from bakehouse_runtime.image.wan.autoencoder import decoded, posterior

from ..autoencoder import edge_loss, psnr
from .examples import SceneFilms

SAMPLE_FRAMES = 9


@dataclass(frozen=True)
class FilmAutoencoderShape:
    """A picture is cut into `patch` x `patch` blocks first; each level but the last halves width,
    height and, but for the first frame, the number of frames."""

    width: int = 40
    multiples: tuple[int, ...] = (1, 1, 1)
    # A level, beside the one that a decoder always has.
    layers: int = 0
    latent_channels: int = 8
    patch: int = 2


def build_film_autoencoder(shape: FilmAutoencoderShape, seed: int) -> AutoencoderKLWan:
    """An untrained one."""
    torch.manual_seed(seed)
    halvings = len(shape.multiples) - 1
    model = AutoencoderKLWan(
        base_dim=shape.width,
        decoder_base_dim=shape.width,
        z_dim=shape.latent_channels,
        dim_mult=list(shape.multiples),
        num_res_blocks=shape.layers,
        temperal_downsample=[True] * halvings,
        latents_mean=[0.0] * shape.latent_channels,
        latents_std=[1.0] * shape.latent_channels,
        is_residual=True,
        in_channels=3 * shape.patch**2,
        out_channels=3 * shape.patch**2,
        patch_size=shape.patch,
        scale_factor_temporal=2**halvings,
        scale_factor_spatial=shape.patch * 2**halvings,
    )
    start_from_block_colours(model, shape)
    return model


# Beside what they carry, channels hold this constant: with it what normalises them is nearly
# linear.
CONSTANT = 16.0
# Of the logarithm of the latents' variance, at first.
QUIET = -5.0


@torch.no_grad()
def start_from_block_colours(model: AutoencoderKLWan, shape: FilmAutoencoderShape) -> None:
    """Sets weights so that the first three latents are the mean colour of their block of pixels and
    the decoder paints it there: from random weights hundreds of steps pass before any colour is
    right. Each value is in two channels, with both signs, since silu(x) - silu(-x) = x; what the
    blocks' averages do between is all that is needed. The channels that are left over start at
    random.
    """
    values, blocks, latents = 3 * shape.patch**2, shape.patch**2, shape.latent_channels
    used = slice(0, 2 * values + 1)
    for module in model.modules():
        _silence(module, used)
    _carry(model.encoder.conv_in, range(values))
    # The patches hold all of one colour before the next; of latents each colour has one.
    _carry(model.decoder.conv_in, [value // blocks for value in range(values)])
    # What divides a channel when it is normalised.
    scale = CONSTANT / shape.width**0.5
    gather, paint = model.encoder.conv_out, model.decoder.conv_out
    gather.weight[:3] = 0
    gather.weight[latents:] = 0
    paint.weight[:, used] = 0
    for conv in (gather, paint):
        _bias(conv)[:] = 0
    for value in range(values):
        for channel, sign in _signed(value):
            gather.weight[value // blocks, channel, -1, 1, 1] = sign * scale / blocks
            paint.weight[value, channel, -1, 1, 1] = sign * scale
    for conv, size in ((model.quant_conv, 2 * latents), (model.post_quant_conv, latents)):
        conv.weight.copy_(torch.eye(size).reshape(size, size, 1, 1, 1))
        _bias(conv)[:] = 0
    _bias(model.quant_conv)[latents:] = QUIET


def _silence(module: nn.Module, used: slice) -> None:
    """A block adds nothing at first, and what changes the size nothing to these channels."""
    if isinstance(module, WanResidualBlock):
        nn.init.zeros_(module.conv2.weight)
        _bias(module.conv2)[:] = 0
    elif isinstance(module, WanAttentionBlock):
        nn.init.zeros_(module.proj.weight)
        _bias(module.proj)[:] = 0
    elif isinstance(module, WanResample):
        convs = [one for one in module.resample.modules() if isinstance(one, nn.Conv2d)]
        times = [module.time_conv] if module.mode == "downsample3d" else []
        for conv in (*convs, *times):
            conv.weight[used] = 0
            _bias(conv)[used] = 0


def _carry(conv: nn.Conv3d, sources: Sequence[int]) -> None:
    """Each value comes from its source in the same place, with both signs; the constant behind."""
    constant = 2 * len(sources)
    conv.weight[: constant + 1] = 0
    _bias(conv)[: constant + 1] = 0
    _bias(conv)[constant] = CONSTANT
    for value, source in enumerate(sources):
        for channel, sign in _signed(value):
            conv.weight[channel, source, -1, 1, 1] = sign


def _signed(value: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The two channels of a value."""
    return (2 * value, 1), (2 * value + 1, -1)


def _bias(conv: nn.Module) -> Tensor:
    bias = conv.bias
    assert isinstance(bias, Tensor)
    return bias


@dataclass(frozen=True)
class FilmAutoencoderTraining:
    """`cuts` are pairs of frames and films that the steps take in turn: single pictures cost little
    and teach what things look like, cuts of several frames how they move."""

    loop: LoopSettings
    cuts: tuple[tuple[int, int], ...] = ((1, 16), (5, 4), (9, 2))
    kl_weight: float = 1e-4
    gradient_weight: float = 1.0


def train_film_autoencoder(
    model: AutoencoderKLWan,
    films: SceneFilms,
    held_out: Sequence[Film],
    settings: FilmAutoencoderTraining,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains `model` in place and leaves it with its averaged weights; `held_out` are whole films,
    on which every checkpoint is measured (`eval_psnr`, in dB). Returns False where it was asked to
    stop before the last step."""
    device = training_device(device_name)
    training = Training(model, settings.loop, device)
    seed = settings.loop.seed
    evaluated = to_values(held_out).to(device)

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        frames, count = settings.cuts[step % len(settings.cuts)]
        drawn = films.draw(np.random.default_rng((seed, step)), count, frames)
        batch = sent(to_values(drawn), device)
        seen = posterior(model, batch)
        noise = noise_like(seen.mean, step_generator(seed, step, device))
        reconstructed = decoded(model, seen.mean + seen.std * noise)
        absolute = F.l1_loss(reconstructed, batch)
        edges = edge_loss(reconstructed, batch)
        kl = seen.kl().mean() / seen.mean[0].numel()
        loss = absolute + settings.gradient_weight * edges + settings.kl_weight * kl
        return loss, {"l1": absolute, "edges": edges, "kl": kl}

    def evaluate(averaged: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
        assert isinstance(averaged, AutoencoderKLWan)
        with fast_arithmetic(device):
            reconstructed = decoded(averaged, posterior(averaged, evaluated).mean)
        rows = [
            strip(film, SAMPLE_FRAMES, evaluated.shape[-1])
            for pair in zip(held_out, to_films(reconstructed, held_out[0].fps), strict=True)
            for film in pair
        ]
        sheet = Image.new("RGB", (rows[0].width, sum(row.height for row in rows)))
        for number, row in enumerate(rows):
            sheet.paste(row, (0, number * row.height))
        file = path.with_suffix(".png")
        sheet.save(file)
        return file, {"eval_psnr": psnr(reconstructed, evaluated)}

    finished = run_loop(training, work_dir, reporter, compute_loss, evaluate)
    training.adopt_ema_weights()
    return finished


def export_film_autoencoder(model: AutoencoderKLWan, films: Sequence[Film], folder: Path) -> None:
    """Measures mean and deviation of each channel of the latents of `films`, keeps them in the
    configuration, and saves the model."""
    with torch.no_grad(), fast_arithmetic(model.device):
        latents = posterior(model, to_values(films).to(model.device)).mean.float()
    channels = latents.transpose(0, 1).flatten(1)
    model.register_to_config(
        latents_mean=[round(float(one), 4) for one in channels.mean(dim=1)],
        latents_std=[round(float(one), 4) for one in channels.std(dim=1)],
    )
    model.save_pretrained(folder)
    forget_origins(folder)
