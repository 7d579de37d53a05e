"""Measures the pictures per second of the product's adapter training or of a plain loop.

    PYTHONPATH=runtime/src python runtime/bench/train_pictures.py --run ours|bare --model DIR

Both train the same LoRA on the same encoded pictures with the same batches, in the fastest dtype
of the machine. Prints one number as JSON; it excludes the first steps, which allocate memory.
`./bakehouse bench` runs both alternately, each in the environment that it has in real use.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from PIL import Image, ImageDraw

from bakehouse_runtime.protocol import TrainFluxSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

WARM_UP_STEPS = 4
STEPS = 40
BATCH = 4
RANK = 16
SIDE = 128
PICTURES = 20
MODULES = ["attn.to_q", "attn.to_k", "attn.to_v", "attn.to_out.0", "proj_mlp", "ff.net.2"]
RATE = 2e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--run", choices=["ours", "bare"], required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        drawn = draw_pictures(Path(folder) / "drawn")
        side = {"ours": ours, "bare": bare}[options.run]
        print(json.dumps(side(options.model, drawn, Path(folder))))


def draw_pictures(folder: Path) -> Path:
    """Writes pictures with caption files, and returns their folder."""
    folder.mkdir()
    for number in range(PICTURES):
        picture = Image.new("RGB", (SIDE, SIDE), "white")
        corner = 10 + 2 * number
        ImageDraw.Draw(picture).ellipse((corner, 20, corner + 50, 90), fill="orange")
        picture.save(folder / f"{number}.png")
        (folder / f"{number}.txt").write_text(f"an orange ball, number {number}")
    return folder


class Clock:
    """A fake reporter that measures the time, and requests a stop after the last step."""

    started = 0.0
    seconds = 0.0
    stop_requested = False

    def metrics(self, step: int, _: Mapping[str, float]) -> None:
        if step == WARM_UP_STEPS:
            self.started = time.perf_counter()
        elif step == WARM_UP_STEPS + STEPS:
            self.seconds = time.perf_counter() - self.started
            self.stop_requested = True

    def phase(self, *_: Any, **__: Any) -> None: ...

    def progress(self, *_: Any, **__: Any) -> None: ...

    def log(self, line: str) -> None: ...

    def checkpoint(self, step: int) -> None: ...

    def samples(self, written: Path) -> None: ...


def ours(model: Path, drawn: Path, folder: Path) -> float:
    """Measures the product's training as in a run, before its first checkpoint."""
    from bakehouse_runtime.device import use_all_cores
    from bakehouse_runtime.image.training.device import training_device
    from bakehouse_runtime.train.diffusion.networks import open_encoders
    from bakehouse_runtime.train.diffusion.run import (
        encode_pictures,
        read_pictures,
        training_settings,
    )
    from bakehouse_runtime.train.diffusion.train import train_network

    use_all_cores()
    spec, clock = specification(), Clock()
    reporter: Any = clock
    opened = open_encoders(spec, model, folder, training_device("auto"))
    pictures = read_pictures(spec, drawn, opened.family, reporter)
    encoded = encode_pictures(spec, pictures, opened.family, folder / "latents", reporter)
    assert encoded is not None
    train_network(
        opened.family,
        opened.open_network().network,
        encoded.trained,
        encoded.measured,
        training_settings(spec, encoded),
        folder,
        reporter,
    )
    return BATCH * STEPS / clock.seconds


def bare(model: Path, drawn: Path, _: Path) -> float:
    """Measures a script written after Diffusers' LoRA example for FLUX. It encodes latents and
    texts once, and stores frozen weights in bfloat16 if the machine supports it."""
    from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
    from diffusers.pipelines.flux.pipeline_flux import FluxPipeline
    from peft import LoraConfig

    from bakehouse_runtime.device import has_bfloat16
    from bakehouse_runtime.image.flux.load import load_flux_encoders

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    is_narrow = has_bfloat16(device.type)  # pyright: ignore[reportArgumentType]
    dtype = torch.bfloat16 if is_narrow else torch.float32
    encoders: Any = load_flux_encoders(model, device).family
    latents, pooled, states = encode(encoders, drawn, device)

    transformer: Any = FluxTransformer2DModel.from_pretrained(
        model / "transformer", torch_dtype=dtype
    )
    transformer.to(device).requires_grad_(False)
    transformer.add_adapter(LoraConfig(r=RANK, lora_alpha=RANK, target_modules=MODULES))
    trained = [weight for weight in transformer.parameters() if weight.requires_grad]
    for weight in trained:
        weight.data = weight.data.float()
    optimizer = torch.optim.AdamW(trained, lr=RATE)
    side = latents.shape[-1]
    pack: Any = FluxPipeline._pack_latents
    ids: Any = FluxPipeline._prepare_latent_image_ids(
        BATCH, side // 2, side // 2, device, torch.float32
    )
    text_ids = torch.zeros(states.shape[1], 3, device=device)
    guidance = torch.full((BATCH,), 1.0, device=device)

    def step() -> None:
        rows = torch.randint(len(latents), (BATCH,), device=device)
        clean = latents[rows]
        noise = torch.randn_like(clean)
        t = torch.sigmoid(torch.randn(BATCH, device=device))
        mixed = (1 - t[:, None, None, None]) * clean + t[:, None, None, None] * noise
        with torch.autocast(device.type, torch.bfloat16, enabled=is_narrow):
            predicted = transformer(
                hidden_states=pack(mixed, BATCH, clean.shape[1], side, side),
                timestep=t,
                guidance=guidance if transformer.config.guidance_embeds else None,
                pooled_projections=pooled[rows],
                encoder_hidden_states=states[rows],
                txt_ids=text_ids,
                img_ids=ids,
                return_dict=False,
            )[0]
        wanted = pack(noise - clean, BATCH, clean.shape[1], side, side)
        torch.nn.functional.mse_loss(predicted.float(), wanted).backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()

    for _step in range(WARM_UP_STEPS):
        step()
    _wait_for(device)
    started = time.perf_counter()
    for _step in range(STEPS):
        step()
    _wait_for(device)
    return BATCH * STEPS / (time.perf_counter() - started)


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def encode(family: Any, drawn: Path, device: torch.device) -> tuple[Any, Any, Any]:
    """Returns latents, pooled vectors and token states of the pictures and their captions."""
    paths = sorted(drawn.glob("*.png"))
    latents = family.encode([Image.open(path).convert("RGB") for path in paths]).to(device)
    texts = family.text([path.with_suffix(".txt").read_text() for path in paths])
    return latents, texts.pooled.to(device), texts.tokens.to(device)


def specification() -> TrainFluxSpec:
    """Returns a spec as the server writes it. The first checkpoint is after the measured steps."""
    steps = 10 * STEPS
    return TrainFluxSpec.model_validate(
        {
            "protocol": 1,
            "workload_id": "bench",
            "server": {"base_url": "http://none", "token": "t"},
            "work_dir": "bench",
            "inputs_dir": "bench",
            "inputs": [],
            "kind": "train",
            "method": "flux",
            "title": "bench",
            "base_model_title": "bench",
            "dataset_title": "bench",
            "device": "auto",
            "data": {"metadata_path": None, "seed": 42},
            "parameters": {
                "steps": steps,
                "learning_rate": RATE,
                "batch_size": BATCH,
                "checkpoint_every": steps,
            },
            "lora": {"r": RANK, "alpha": RANK, "dropout": 0, "target_modules": MODULES},
        }
    )


if __name__ == "__main__":
    main()
