"""The figures of the image models: does a picture fit its prompt, does an edit do what it says,
how long does a picture take."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image

from ...errors import PlainError
from ..autoencoder import decode_latents, encode_pictures, load_autoencoder
from ..kontext.pipeline import KontextPipeline, KontextRequest
from ..paris.model import Expert, ExpertShape, Router, RouterShape
from ..paris.pipeline import ParisPipeline, ParisRequest
from ..paris.sampling import Strategy
from ..pictures import to_pictures
from ..scenes.objects import CutOut, load_cut_outs
from ..scenes.scene import render
from ..text import SentenceText, TextStates
from .edit_check import EditVerdict, judge_edit
from .judge import Judge, caption_ranks, judge_input, load_judge
from .scenes import Prompt, held_out_edits, held_out_prompts

STEPS = 20
GUIDANCE = 4.0
DRAWN_AT_ONCE = 20
# The autoencoder and the text window of the published Paris.
FULL_SIZE_CHANNELS = (128, 256, 512, 512)
CLIP_WINDOW = 77


@dataclass(frozen=True)
class Fit:
    """The share of pictures whose own caption is the nearest, or among the five nearest."""

    top1: float
    top5: float


class PromptFit:
    """Ranks pictures against a fixed list of captions."""

    def __init__(self, judge: Judge, prompts: Sequence[Prompt], sentences: SentenceText) -> None:
        self.judge = judge
        self.vectors = sentences.sentences([prompt.text for prompt in prompts])

    @torch.no_grad()
    def of(self, pictures: Sequence[Image.Image]) -> Fit:
        """One picture a caption, in the captions' order."""
        ranks = caption_ranks(self.judge(judge_input(pictures), self.vectors))
        return Fit(float((ranks < 1).float().mean()), float((ranks < 5).float().mean()))


def measure_models(models: Path, packages: Path, count: int) -> dict[str, dict[str, float]]:
    """The figures of `starter-paris` and `starter-kontext` below `models`, on a CPU; where there is
    a GPU also the speed of the published shape there, with random weights.

    `packages` holds the unpacked data packages, from which the real pictures are drawn. Raises
    PlainError where packages or models are missing.
    """
    if not packages.is_dir():
        raise PlainError(f"The data packages are missing: run models/make.py fetch ({packages}).")
    judge_path = models / "judge" / "judge.safetensors"
    if not judge_path.exists():
        raise PlainError(f"The judge is missing: {judge_path}.")
    cut_outs = load_cut_outs(packages)
    cpu = torch.device("cpu")
    judge = load_judge(judge_path)
    figures = {
        "starter-paris": measure_paris(models / "starter-paris", cut_outs, judge, cpu, count),
        "starter-kontext": measure_kontext(models / "starter-kontext", cut_outs, cpu, count),
    }
    if torch.cuda.is_available():
        cuda = torch.device("cuda")
        full_size = random_paris(ExpertShape(), RouterShape(), FULL_SIZE_CHANNELS, cuda)
        figures["paris-full-size"] = {
            "seconds_a_picture_top1": seconds_a_picture(full_size),
            "peak_gpu_memory_mb": torch.cuda.max_memory_allocated() / 1e6,
        }
    return figures


def measure_paris(
    folder: Path, cut_outs: Sequence[CutOut], judge: Judge, device: torch.device, count: int
) -> dict[str, float]:
    """Fit of `count` pictures to their prompts for every routing and two guidances, of untrained
    models (the floor) and of real pictures through the autoencoder (the ceiling); seconds."""
    prompts = held_out_prompts(cut_outs, count)
    fit = PromptFit(judge, prompts, SentenceText())
    paris = ParisPipeline.from_folder(folder, device)
    side = int(paris.autoencoder.config["sample_size"])
    real = [render(prompt.scene, cut_outs, side) for prompt in prompts]
    figures = _figures("real_pictures", fit.of(real))
    figures |= _figures("reconstructions", fit.of(_reconstructed(paris, real)))
    figures |= _figures("untrained", fit.of(_drawn(_untrained(paris), prompts, "top1", GUIDANCE)))
    for strategy in ("top1", "topk", "full"):
        pictures = _drawn(paris, prompts, strategy, GUIDANCE)
        figures |= _figures({"topk": "top2"}.get(strategy, strategy), fit.of(pictures))
    figures |= _figures("top1_guidance_1", fit.of(_drawn(paris, prompts, "top1", 1.0)))
    figures["seconds_a_picture_top1"] = seconds_a_picture(paris)
    figures["peak_memory_mb"] = peak_memory_mb()
    return figures


def measure_kontext(
    folder: Path, cut_outs: Sequence[CutOut], device: torch.device, count: int
) -> dict[str, float]:
    """The share of `count` edits that do what they say, that keep the rest, and that do both; in
    all and by kind. The picture itself, unedited, and its reconstruction are the floor and the
    ceiling."""
    kontext = KontextPipeline.from_folder(folder, device)
    verdicts: dict[str, list[EditVerdict]] = {}
    autoencoder = load_autoencoder(folder / "vae")
    for edit, seed in held_out_edits(cut_outs, count):
        before, wanted = (render(s, cut_outs, kontext.side) for s in (edit.before, edit.after))
        request = KontextRequest(edit.instruction, seed, STEPS, true_guidance=2.5)
        (ceiling,) = to_pictures(
            decode_latents(autoencoder, encode_pictures(autoencoder, [wanted])).numpy()
        )
        for name, picture in (
            ("edits", kontext.edit(before, request)),
            ("reconstructions", ceiling),
        ):
            verdict = judge_edit(before, wanted, picture)
            verdicts.setdefault(name, []).append(verdict)
            if name == "edits":
                verdicts.setdefault(f"edits_{edit.kind.replace(' ', '_')}", []).append(verdict)
    figures = {}
    for name, group in verdicts.items():
        figures[f"{name}_right"] = sum(v.done and v.kept for v in group) / len(group)
        figures[f"{name}_done"] = sum(v.done for v in group) / len(group)
        figures[f"{name}_kept"] = sum(v.kept for v in group) / len(group)
    started = time.perf_counter()
    kontext.draw(KontextRequest("a red apple", 1, STEPS))
    figures["seconds_a_picture"] = time.perf_counter() - started
    return figures


def peak_memory_mb() -> float:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kibibytes, macOS bytes.
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)


def _figures(name: str, fit: Fit) -> dict[str, float]:
    return {f"{name}_top1": fit.top1, f"{name}_top5": fit.top5}


def _drawn(
    paris: ParisPipeline, prompts: Sequence[Prompt], strategy: Strategy, guidance: float
) -> list[Image.Image]:
    requests = [
        ParisRequest(prompt.text, prompt.seed, STEPS, guidance, strategy, k=2) for prompt in prompts
    ]
    return [
        drawn.picture
        for start in range(0, len(requests), DRAWN_AT_ONCE)
        for drawn in paris.generate(requests[start : start + DRAWN_AT_ONCE])
    ]


def _reconstructed(paris: ParisPipeline, pictures: list[Image.Image]) -> list[Image.Image]:
    latents = encode_pictures(paris.autoencoder, pictures).to(paris.device)
    return to_pictures(decode_latents(paris.autoencoder, latents).cpu().numpy())


def _untrained(paris: ParisPipeline) -> ParisPipeline:
    experts = []
    for number, trained in enumerate(paris.experts):
        expert = Expert(trained.shape)
        expert.initialise(number)
        experts.append(expert)
    router = Router(paris.router.shape)
    router.initialise(0)
    return ParisPipeline(experts, router, paris.autoencoder, paris.text_encoder, paris.device)


def seconds_a_picture(paris: ParisPipeline) -> float:
    """Seconds for one picture by top-1 routing, after one that warms up."""
    request = ParisRequest("a red apple", 1, STEPS, GUIDANCE, "top1", 1)
    paris.generate([request])
    started = time.perf_counter()
    paris.generate([request])
    return time.perf_counter() - started


class RandomText:
    """Stands for a text encoder where only its size matters."""

    def __init__(self, window: int, size: int) -> None:
        self.window, self.size = window, size
        self._device = torch.device("cpu")

    def to(self, device: torch.device) -> None:
        self._device = device

    def encode(self, prompts: list[str]) -> TextStates:
        return TextStates(torch.randn(len(prompts), self.window, self.size, device=self._device))


def random_paris(
    expert: ExpertShape,
    router: RouterShape,
    autoencoder_channels: Sequence[int],
    device: torch.device,
) -> ParisPipeline:
    """A Paris of random weights in bfloat16, as large and as slow as a trained one of its shape."""
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
