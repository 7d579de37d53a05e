"""Turns finished trainings into the shipped folders and their figures."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.files import read_object
from bakehouse_runtime.image.autoencoder import load_autoencoder
from bakehouse_runtime.image.flux.load import TRUE_GUIDANCE
from bakehouse_runtime.image.paris.weights import (
    BASE,
    load_expert,
    load_router,
    save_difference,
    save_expert,
    save_router,
)
from bakehouse_runtime.image.training.latent_cache import LatentCache

from .autoencoder import save_autoencoder
from .evaluation.cluster_losses import cluster_losses
from .evaluation.ellipses import ellipses_of
from .evaluation.held_out import held_out_prompts
from .evaluation.measure import Measured, measure_models
from .flux import export_kontext
from .recipe import Recipe, experts
from .scenes.objects import load_cut_outs
from .steps import one_row_in_fifty
from .videos.release import assemble_wan

DECODER = "decoder"
TESTED_PROMPTS = 40
# The dtype of shipped weights.
HALF = torch.float16


# The last training of each starter.
LAST = {"starter-paris": "router", "starter-kontext": "kontext", "starter-wan": "wan"}
# Starters with the picture autoencoder; a new decoder changes all of them.
OF_PICTURES = ("starter-paris", "starter-kontext")


def has_model(work: Path, step: str) -> bool:
    """Returns whether this training is finished in the work folder."""
    return (work / step / "model").exists()


def changed_models(work: Path) -> list[str]:
    """Returns the starters with a finished training in this work folder; the others stay as
    shipped."""
    polished = OF_PICTURES if has_model(work, DECODER) else ()
    return [name for name, step in LAST.items() if name in polished or has_model(work, step)]


def assemble(work: Path, recipe: Recipe, out: Path) -> None:
    """Writes the shipped folders of the models that were trained in this work folder. Raises
    PlainError if the weights exceed the limit."""
    if has_model(work, LAST["starter-paris"]):
        _assemble_paris(work, recipe, out / "starter-paris")
    if has_model(work, LAST["starter-kontext"]):
        _assemble_kontext(work, recipe, out / "starter-kontext")
    for name in changed_models(work):
        if name in OF_PICTURES:
            save_autoencoder(load_autoencoder(_released(work)).half(), out / name / "vae")
    if has_model(work, LAST["starter-wan"]):
        assemble_wan(work, recipe, out / "starter-wan", HALF)
    if (work / "judge" / "judge.safetensors").exists():
        (out / "judge").mkdir(exist_ok=True)
        shutil.copyfile(work / "judge" / "judge.safetensors", out / "judge" / "judge.safetensors")
    write_prompts(work, out)
    weights = sum(path.stat().st_size for path in out.rglob("*.safetensors"))
    print(f"{weights / 1e6:.1f} MB of weights", flush=True)
    if weights > recipe["most_weights_mb"] * 1e6:
        raise PlainError(
            f"The weights take {weights / 1e6:.1f} MB, which is more than the "
            f"{recipe['most_weights_mb']} that may be shipped."
        )


def _released(work: Path) -> Path:
    """Returns the autoencoder, with the polished decoder if there is one."""
    step = DECODER if has_model(work, DECODER) else "autoencoder"
    return work / step / "model"


def _assemble_paris(work: Path, recipe: Recipe, paris: Path) -> None:
    # Writes the experts as differences from the shipped base, including its rounding.
    save_expert(load_expert(work / "base" / "model"), paris / BASE, HALF)
    base = load_expert(paris / BASE)
    # An expert of an earlier release could be counted or loaded in place of a new one.
    for folder in paris.glob("expert_*"):
        shutil.rmtree(folder)
    for number in experts(recipe):
        expert = load_expert(work / f"expert_{number}" / "model")
        folder = paris / f"expert_{number}"
        save_difference(expert, base, folder, recipe["expert"]["rank"], HALF)
    save_router(load_router(work / "router" / "model"), paris / "router", HALF)
    shutil.copyfile(work / "clusters" / "summary.json", paris / "clusters.json")
    index = {
        "_class_name": "DDMPipeline",
        "text_window": recipe["text_window"],
        "guidance_interval": recipe["guidance_interval"],
        **recipe["defaults"]["starter-paris"],
    }
    (paris / "model_index.json").write_text(json.dumps(index, indent=2) + "\n")


def _assemble_kontext(work: Path, recipe: Recipe, kontext: Path) -> None:
    autoencoder = load_autoencoder(work / "autoencoder" / "model")
    trained = FluxTransformer2DModel.from_pretrained(work / "kontext" / "model" / "transformer")
    export_kontext(trained, autoencoder, kontext, HALF)
    index = read_object(kontext / "model_index.json") | {TRUE_GUIDANCE: True}
    index |= recipe["defaults"]["starter-kontext"]
    (kontext / "model_index.json").write_text(json.dumps(index, indent=2, sort_keys=True) + "\n")


def measure_clusters(work: Path, recipe: Recipe, paris: Path) -> dict[str, float]:
    cache = LatentCache(work / "latents")
    base = load_expert(paris / BASE)
    trained = [load_expert(paris / f"expert_{number}").float() for number in experts(recipe)]
    clusters = np.load(work / "clusters" / "clusters.npy")
    _, held_out = one_row_in_fifty(len(cache))
    return cluster_losses(trained, base.float(), cache, clusters, held_out)


def write_prompts(work: Path, out: Path) -> None:
    """Writes prompts with their objects and ellipses, for tests without the data packages."""
    cut_outs = load_cut_outs(work / "packages")
    fixed = [
        {
            "prompt": prompt.text,
            "seed": prompt.seed,
            "objects": [thing.cut_out for thing in prompt.scene.things],
            "ground": asdict(prompt.scene.ground),
            "ellipses": [asdict(one) for one in ellipses_of(prompt.scene, cut_outs)],
        }
        for prompt in held_out_prompts(cut_outs, TESTED_PROMPTS, "reporting")
    ]
    (out / "judge" / "prompts.json").write_text(json.dumps(fixed, indent=1) + "\n")


def measure(work: Path, recipe: Recipe, out: Path) -> None:
    """Measures the models that were trained in this work folder on the reporting set, which no
    choice was based on; experts also on the held-out rows of their clusters."""
    measured = Measured(**recipe["measured"], which="reporting", work=work)
    found = measure_models(out, measured, changed_models(work))
    if has_model(work, LAST["starter-paris"]):
        found["starter-paris"] |= measure_clusters(work, recipe, out / "starter-paris")
    elif "starter-paris" in found:
        # A decoder does not change them.
        before = read_object(out / "starter-paris" / "figures.json")
        found["starter-paris"] |= {name: before[name] for name in before if "_loss_" in name}
    for name, figures in found.items():
        text = json.dumps(figures, indent=2, sort_keys=True) + "\n"
        print(name, text, flush=True)
        # Figures of full-size shapes have no folder here.
        if (out / name).is_dir():
            (out / name / "figures.json").write_text(text)
