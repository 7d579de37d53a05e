"""Measures seconds and memory per picture, for the starter models and the published shapes."""

from __future__ import annotations

import multiprocessing
import re
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from PIL import Image

from bakehouse_runtime.image.flux.family import DISTILLED_GUIDANCE, Flux
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.paris.model import Expert, ExpertShape, Router, RouterShape
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_runtime.image.sentence_encoder import FULL_SIZE_WINDOW
from bakehouse_runtime.image.text import TextStates

# Measured on as many cores as a small laptop has.
THREADS = 2
# The autoencoder and the text window of the published Paris.
FULL_SIZE_CHANNELS = (128, 256, 512, 512)
CLIP_WINDOW = 77
# Latents of a picture of 1024 px in FLUX.1 Kontext, and the memory for its 12 billion weights and
# one picture.
FLUX_LATENT_SIDE = 128
FLUX_GPU_BYTES = 32e9
FLUX_STEPS = 20


def paris_cost(folder: Path) -> dict[str, float]:
    """Returns seconds and memory of one picture with top-1 routing; run it in a fresh process."""
    torch.set_num_threads(THREADS)
    paris = ParisPipeline.from_folder(folder, torch.device("cpu"))
    seconds = seconds_a_picture(paris)
    return {"seconds_a_picture_top1": seconds, "peak_memory_mb": peak_memory_mb()}


def kontext_cost(folder: Path) -> dict[str, float]:
    """Returns seconds and memory of one edit with the settings of the figures, and seconds of one
    picture from text alone, without guidance; run it in a fresh process."""
    torch.set_num_threads(THREADS)
    kontext = KontextPipeline.from_folder(folder, torch.device("cpu"))
    picture = Image.new("RGB", (kontext.side, kontext.side), "orange")
    edit = KontextRequest("make it blue", 1, picture=picture)
    from_text = KontextRequest("an apple", 1, guidance=1.0)
    seconds = {
        "seconds_an_edit": _seconds(lambda: kontext.generate([edit])),
        "seconds_a_picture": _seconds(lambda: kontext.generate([from_text])),
    }
    return seconds | {"peak_memory_mb": peak_memory_mb()}


def peak_memory_mb() -> float:
    """Returns the peak memory of this process."""
    # On Linux getrusage includes the parent's peak; the status file covers only this process.
    status = Path("/proc/self/status")
    if status.exists():
        peak = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert peak is not None
        return int(peak[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def in_fresh_process(measure: Callable[[Path], dict[str, float]], folder: Path) -> dict[str, float]:
    """Runs `measure` in a fresh process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as process:
        return process.submit(measure, folder).result()


def seconds_a_picture(paris: ParisPipeline) -> float:
    """Returns the seconds of one picture with top-1 routing, after a warm-up."""
    request = ParisRequest("a red apple", 1, strategy="top1", k=1)
    return _seconds(lambda: paris.generate([request]))


def _seconds(draw: Callable[[], object]) -> float:
    """Returns the seconds of the second call; the first one warms up."""
    draw()
    started = time.perf_counter()
    draw()
    return time.perf_counter() - started


def measure_full_size_paris(cuda: torch.device) -> dict[str, float]:
    """Returns seconds and GPU memory of one picture of the published shape with random weights,
    without its CLIP."""
    torch.cuda.reset_peak_memory_stats(cuda)
    paris = random_paris(ExpertShape(), RouterShape(), FULL_SIZE_CHANNELS, cuda)
    seconds = seconds_a_picture(paris)
    peak = torch.cuda.max_memory_allocated(cuda)
    return {"seconds_a_picture_top1": seconds, "peak_gpu_memory_mb": peak / 1e6}


def random_flux(device: torch.device) -> FluxTransformer2DModel:
    """Returns the transformer of FLUX.1 Kontext with random weights in bfloat16."""
    with torch.device("meta"):
        transformer = FluxTransformer2DModel(guidance_embeds=True).bfloat16()
    transformer.to_empty(device=device)
    for weight in transformer.parameters():
        torch.nn.init.normal_(weight, std=0.02)
    return transformer.eval()


@torch.no_grad()
def seconds_of_flux_steps(
    transformer: FluxTransformer2DModel, latent_side: int, window: int
) -> float:
    """Returns the seconds of all transformer steps of one edit, with distilled guidance, after a
    warm-up edit."""
    config, weight = transformer.config, next(transformer.parameters())

    def random(*size: int) -> torch.Tensor:
        return torch.randn(1, *size, device=weight.device, dtype=weight.dtype)

    condition = random(config["in_channels"] // 4, latent_side, latent_side)
    text = TextStates(
        random(window, config["joint_attention_dim"]), random(config["pooled_projection_dim"])
    )
    one = torch.ones(1, device=weight.device, dtype=weight.dtype)

    def edit() -> torch.Tensor:
        latents = condition
        for _ in range(FLUX_STEPS):
            step = Flux.velocity(
                transformer, latents, one, text, condition, DISTILLED_GUIDANCE * one
            )
            latents = latents - step / FLUX_STEPS
        # Waits for the GPU, which runs asynchronously.
        return latents.cpu()

    return _seconds(edit)


def measure_full_size_flux(cuda: torch.device) -> dict[str, float]:
    """Returns seconds and GPU memory of the transformer in one edit, with random weights."""
    torch.cuda.reset_peak_memory_stats(cuda)
    seconds = seconds_of_flux_steps(random_flux(cuda), FLUX_LATENT_SIDE, FULL_SIZE_WINDOW)
    peak = torch.cuda.max_memory_allocated(cuda)
    return {"seconds_an_edit": seconds, "peak_gpu_memory_mb": peak / 1e6}


class RandomText:
    def __init__(self, window: int, size: int) -> None:
        self.window, self.size = window, size
        self._device = torch.device("cpu")

    def to(self, device: torch.device) -> None:
        self._device = device

    def length(self, prompt: str) -> int:
        return len(prompt)

    def encode(self, prompts: list[str]) -> TextStates:
        return TextStates(torch.randn(len(prompts), self.window, self.size, device=self._device))


def random_paris(
    expert: ExpertShape,
    router: RouterShape,
    autoencoder_channels: Sequence[int],
    device: torch.device,
) -> ParisPipeline:
    """Returns a Paris of random weights in bfloat16, as large and as slow as a trained one of its
    shape."""
    levels = len(autoencoder_channels)
    blocks: dict[str, Any] = {
        "block_out_channels": tuple(autoencoder_channels),
        "down_block_types": ("DownEncoderBlock2D",) * levels,
        "up_block_types": ("UpDecoderBlock2D",) * levels,
    }
    with device:
        autoencoder = AutoencoderKL(
            **blocks,
            layers_per_block=2,
            norm_num_groups=min(32, autoencoder_channels[0]),
            latent_channels=expert.latent_channels,
            sample_size=expert.latent_side * 2 ** (levels - 1),
        )
        experts = [Expert(expert).bfloat16() for _ in range(router.experts)]
        text = RandomText(CLIP_WINDOW, expert.text_size)
        return ParisPipeline(experts, Router(router).bfloat16(), autoencoder, text, device)
