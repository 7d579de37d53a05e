"""Measures the image models: whether pictures match their prompts, whether edits follow their
instructions, and the time per picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image

from bakehouse_runtime.device import serving_dtype
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.paris.pipeline import ParisPipeline
from bakehouse_runtime.image.paris.weights import BASE
from bakehouse_runtime.image.text import SentenceText

from ..scenes.objects import CutOut, load_cut_outs
from ..scenes.scene import render
from ..videos.figures import measure_wan
from .cost import (
    FLUX_GPU_BYTES,
    in_fresh_process,
    kontext_cost,
    measure_full_size_flux,
    measure_full_size_paris,
    paris_cost,
)
from .drawing import DRAWN_AT_ONCE, drawn
from .edit_check import EditVerdict, judge_edit
from .ellipses import draw_ellipses, ellipses_of
from .held_out import PromptSet, held_out_edits, held_out_prompts
from .judge import Judge, load_judge
from .picture_figures import PictureFigures, check_judge
from .shares import share, share_with_interval
from .variants import variants

# Higher than for edits, because Kontext is not trained mainly to draw from text alone.
FROM_TEXT_GUIDANCE = 4.0


@dataclass(frozen=True)
class Measured:
    """The scope of the measurements: the set, its number of pictures, edits and videos, and the
    work folder with the trainings, for parts that are not shipped."""

    prompts: int
    edits: int
    videos: int
    which: PromptSet
    work: Path


def measure_models(
    models: Path, measured: Measured, names: Collection[str]
) -> dict[str, dict[str, float]]:
    """Returns the figures of these starters below `models`, on a CPU with the serving dtype; with a
    GPU also the cost of the published shapes with random weights.

    Real pictures are drawn from the unpacked data packages in the work folder. Raises PlainError if
    packages or models are missing, or the judge is not good enough.
    """
    packages = measured.work / "packages"
    if not packages.is_dir():
        raise PlainError(f"The data packages are missing: run models/make.py fetch ({packages}).")
    judge_path = models / "judge" / "judge.safetensors"
    if not judge_path.exists():
        raise PlainError(f"The judge is missing: {judge_path}.")
    cut_outs = load_cut_outs(packages)
    cpu = torch.device("cpu")
    judge = load_judge(judge_path)
    check_judge(judge, cut_outs)
    figures = {
        name: measure(models / name, cut_outs, judge, cpu, measured)
        for name, measure in STARTERS.items()
        if name in names
    }
    if torch.cuda.is_available():
        cuda = torch.device("cuda")
        figures["paris-full-size"] = measure_full_size_paris(cuda)
        if torch.cuda.get_device_properties(cuda).total_memory > FLUX_GPU_BYTES:
            figures["flux-kontext-full-size"] = measure_full_size_flux(cuda)
    return figures


def measure_paris(
    folder: Path, cut_outs: Sequence[CutOut], judge: Judge, device: torch.device, measured: Measured
) -> dict[str, float]:
    """Returns the figures of pictures by one expert per step and by two, next to other pictures of
    the same prompts: real ones, their reconstructions by the autoencoder (the ceiling), featureless
    ellipses (the negative control), and pictures by parts of the model alone. Also how well they
    are distinguished from captions with one part swapped, and the cost of a picture."""
    prompts = held_out_prompts(cut_outs, measured.prompts, measured.which)
    judged = PictureFigures(judge, prompts, cut_outs, SentenceText())
    paris = ParisPipeline.from_folder(folder, device, serving_dtype("cpu"))
    side = paris.family.side
    real = [render(prompt.scene, cut_outs, side) for prompt in prompts]
    reconstructed = _reconstructed(paris, real)
    kept = measured.work / "drawn"
    rows = {
        "real_pictures": real,
        "reconstructions": reconstructed,
        "ellipses": [
            draw_ellipses(ellipses_of(p.scene, cut_outs), p.scene.ground, side) for p in prompts
        ],
        "top1": drawn(paris, prompts, "top1", kept),
        "top2": drawn(paris, prompts, "topk", kept),
    }
    for name, changed in variants(folder / BASE).items():
        rows[name] = drawn(changed(paris), prompts, "top1", kept)
    figures: dict[str, float] = {"pictures": len(prompts)}
    for row, pictures in rows.items():
        found = judged.of(pictures) | judged.against(pictures, reconstructed)
        figures |= {f"{row}_{name}": value for name, value in found.items()}
    for row in ("real_pictures", "top1"):
        swaps = judged.against_swaps(rows[row])
        figures |= {f"{row}_{name}": value for name, value in swaps.items()}
    return figures | in_fresh_process(paris_cost, folder)


def measure_kontext(
    folder: Path, cut_outs: Sequence[CutOut], judge: Judge, device: torch.device, measured: Measured
) -> dict[str, float]:
    """Returns the share of right edits, which follow the instruction and preserve object and
    ground; in total and by kind. Next to them are the unedited picture (the floor), and the
    reconstruction of the wanted picture (the ceiling). Also the figures of pictures from text
    alone, and the cost of an edit."""
    kontext = KontextPipeline.from_folder(folder, device, serving_dtype("cpu"))
    verdicts: dict[str, list[EditVerdict]] = {"edits": [], "unedited": [], "reconstructions": []}
    by_kind: dict[str, list[EditVerdict]] = {}
    for edit, seed in held_out_edits(cut_outs, measured.edits, measured.which):
        before, wanted = (render(s, cut_outs, kontext.side) for s in (edit.before, edit.after))
        (ceiling,) = kontext.family.decode(kontext.family.encode([wanted]))
        edited = kontext.generate([KontextRequest(edit.instruction, seed, picture=before)])[0].media
        for name, picture in (
            ("edits", edited),
            ("unedited", before),
            ("reconstructions", ceiling),
        ):
            verdicts[name].append(judge_edit(edit, cut_outs, picture))
        by_kind.setdefault(edit.kind, []).append(verdicts["edits"][-1])
    figures: dict[str, float] = {}
    for name, group in verdicts.items():
        figures |= share_with_interval(f"{name}_right", (verdict.right for verdict in group))
        figures[f"{name}_done"] = share(verdict.done for verdict in group)
        figures[f"{name}_object_kept"] = share(verdict.object_kept for verdict in group)
        figures[f"{name}_ground_kept"] = share(verdict.ground_kept for verdict in group)
    for kind, group in by_kind.items():
        figures[f"edits_{kind.replace(' ', '_')}_right"] = share(v.right for v in group)
    # As many as edits: a picture takes as long as one of Paris, and is not the model's purpose.
    prompts = held_out_prompts(cut_outs, measured.edits, measured.which)
    requests = [KontextRequest(one.text, one.seed, guidance=FROM_TEXT_GUIDANCE) for one in prompts]
    from_text = [kontext.generate([request])[0].media for request in requests]
    judged = PictureFigures(judge, prompts, cut_outs, SentenceText())
    figures |= {f"drawn_{name}": value for name, value in judged.of(from_text).items()}
    return figures | in_fresh_process(kontext_cost, folder)


STARTERS = {
    "starter-paris": measure_paris,
    "starter-kontext": measure_kontext,
    "starter-wan": measure_wan,
}


def _reconstructed(paris: ParisPipeline, pictures: list[Image.Image]) -> list[Image.Image]:
    latents = paris.family.encode(pictures).to(paris.device)
    return [
        picture for part in latents.split(DRAWN_AT_ONCE) for picture in paris.family.decode(part)
    ]
