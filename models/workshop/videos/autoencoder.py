"""Trains and writes the video autoencoder: Diffusers' `AutoencoderKLWan`, which scales down eight
times in each direction and four times in time."""

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

from bakehouse_runtime.image.model_files import remove_local_paths
from bakehouse_runtime.image.training.device import fast_arithmetic, sent, training_device
from bakehouse_runtime.image.training.loop import (
    LoopSettings,
    Training,
    TrainingReporter,
    run_loop,
    step_generator,
)
from bakehouse_runtime.image.training.random_draws import noise_like
from bakehouse_runtime.image.video import Video, strip, to_values, to_videos
from bakehouse_runtime.image.wan.autoencoder import decoded, posterior

from ..autoencoder import edge_loss, psnr
from .examples import SceneVideos

SAMPLE_FRAMES = 9


@dataclass(frozen=True)
class VideoAutoencoderShape:
    """A picture is first split into `patch` x `patch` blocks; each level but the last halves width,
    height and the number of frames, except the first frame."""

    width: int = 40
    multiples: tuple[int, ...] = (1, 1, 1)
    # Layers per level, in addition to a decoder's first one.
    layers: int = 0
    latent_channels: int = 8
    patch: int = 2


def build_video_autoencoder(shape: VideoAutoencoderShape, seed: int) -> AutoencoderKLWan:
    """Returns an untrained model."""
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


# A constant in extra channels, which makes normalisation of the others almost linear.
CONSTANT = 16.0
# The initial log-variance of the latents.
QUIET = -5.0


@torch.no_grad()
def start_from_block_colours(model: AutoencoderKLWan, shape: VideoAutoencoderShape) -> None:
    """Initialises the weights so that the first three latents are the mean colour of their block of
    pixels, which the decoder paints: from random weights it takes hundreds of steps until any
    colour is right. Each value uses two channels with opposite signs, since silu(x) - silu(-x) = x;
    the averaging shortcuts of the blocks do the rest. Unused channels start at random."""
    values, blocks, latents = 3 * shape.patch**2, shape.patch**2, shape.latent_channels
    used = slice(0, 2 * values + 1)
    for module in model.modules():
        _silence(module, used)
    _carry(model.encoder.conv_in, range(values))
    # Patches hold all values of one colour before the next; latents have one value per colour.
    _carry(model.decoder.conv_in, [value // blocks for value in range(values)])
    # The normalisation divides channels by this.
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
    """Makes blocks start as the identity, and resampling add nothing to these channels."""
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
    """Copies each value from its source at the same place, with both signs, followed by the
    constant."""
    constant = 2 * len(sources)
    conv.weight[: constant + 1] = 0
    _bias(conv)[: constant + 1] = 0
    _bias(conv)[constant] = CONSTANT
    for value, source in enumerate(sources):
        for channel, sign in _signed(value):
            conv.weight[channel, source, -1, 1, 1] = sign


def _signed(value: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Returns the two channels of a value and their signs."""
    return (2 * value, 1), (2 * value + 1, -1)


def _bias(conv: nn.Module) -> Tensor:
    bias = conv.bias
    assert isinstance(bias, Tensor)
    return bias


@dataclass(frozen=True)
class VideoAutoencoderTraining:
    """`cuts` are pairs of frames and videos that the steps alternate between: single pictures are
    cheap and teach appearance, several frames teach motion."""

    loop: LoopSettings
    cuts: tuple[tuple[int, int], ...] = ((1, 16), (5, 4), (9, 2))
    kl_weight: float = 1e-4
    gradient_weight: float = 1.0


def train_video_autoencoder(
    model: AutoencoderKLWan,
    videos: SceneVideos,
    held_out: Sequence[Video],
    settings: VideoAutoencoderTraining,
    work_dir: Path,
    reporter: TrainingReporter,
    device_name: str = "auto",
) -> bool:
    """Trains `model` in place and leaves it with its averaged weights; every checkpoint is measured
    on the whole videos `held_out` (`eval_psnr`, in dB). Returns False if it was stopped before the
    last step."""
    device = training_device(device_name)
    training = Training(model, settings.loop, device)
    seed = settings.loop.seed
    evaluated = to_values(held_out).to(device)

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        frames, count = settings.cuts[step % len(settings.cuts)]
        drawn = videos.draw(np.random.default_rng((seed, step)), count, frames)
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
            strip(video, SAMPLE_FRAMES, evaluated.shape[-1])
            for pair in zip(held_out, to_videos(reconstructed, held_out[0].fps), strict=True)
            for video in pair
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


def export_video_autoencoder(
    model: AutoencoderKLWan, videos: Sequence[Video], folder: Path
) -> None:
    """Saves the model, with mean and deviation of each channel of the latents of `films` in its
    configuration."""
    with torch.no_grad(), fast_arithmetic(model.device):
        latents = posterior(model, to_values(videos).to(model.device)).mean.float()
    channels = latents.transpose(0, 1).flatten(1)
    model.register_to_config(
        latents_mean=[round(float(one), 4) for one in channels.mean(dim=1)],
        latents_std=[round(float(one), 4) for one in channels.std(dim=1)],
    )
    model.save_pretrained(folder)
    remove_local_paths(folder)
