"""From finished trainings to what is shipped: the folders, and their figures."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import torch
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel

from bakehouse_runtime.image.autoencoder import load_autoencoder
from bakehouse_runtime.image.paris.weights import (
    load_expert,
    load_router,
    save_expert,
    save_router,
)
from bakehouse_runtime.train.autoencoder.export import save_autoencoder
from bakehouse_runtime.train.kontext.model import export_kontext

from .evaluation.ellipses import ellipses_of
from .evaluation.held_out import held_out_prompts
from .evaluation.measure import Measured, measure_models
from .recipe import Recipe, experts
from .scenes.objects import load_cut_outs

TESTED_PROMPTS = 40


def assemble(work: Path, recipe: Recipe, out: Path) -> None:
    half = torch.float16
    autoencoder = load_autoencoder(work / "autoencoder" / "model")
    paris, kontext = out / "starter-paris", out / "starter-kontext"
    for number in experts(recipe):
        save_expert(
            load_expert(work / f"expert_{number}" / "model"), paris / f"expert_{number}", half
        )
    save_router(load_router(work / "router" / "model"), paris / "router", half)
    index = {"_class_name": "DDMPipeline", "text_window": recipe["text_window"]}
    (paris / "model_index.json").write_text(json.dumps(index, indent=2) + "\n")
    trained = FluxTransformer2DModel.from_pretrained(work / "kontext" / "model" / "transformer")
    export_kontext(trained, autoencoder, kontext, half)
    save_autoencoder(autoencoder.half(), paris / "vae")
    (out / "judge").mkdir(exist_ok=True)
    shutil.copyfile(work / "judge" / "judge.safetensors", out / "judge" / "judge.safetensors")
    write_prompts(work, out)
    weights = sum(path.stat().st_size for path in out.rglob("*.safetensors"))
    print(f"{weights / 1e6:.1f} MB of weights", flush=True)
    if weights > recipe["most_weights_mb"] * 1e6:
        raise SystemExit(
            f"That is more than the {recipe['most_weights_mb']} MB that may be shipped."
        )


def write_prompts(work: Path, out: Path) -> None:
    """For the tests, which do without the data packages: prompts, what they show, and the
    ellipses that stand for it."""
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
    """The figures by the reporting set, which nothing was chosen by."""
    measured = Measured(**recipe["measured"], which="reporting", work=work)
    for name, figures in measure_models(out, measured).items():
        text = json.dumps(figures, indent=2, sort_keys=True) + "\n"
        print(name, text, flush=True)
        # What was measured of the full-size shapes belongs to no folder here.
        if (out / name).is_dir():
            (out / name / "figures.json").write_text(text)
