"""Trains an adapter of user pictures on the starter Kontext, from the pictures to serving."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from safetensors.torch import load_file

from bakehouse_runtime.device import serving_dtype
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.lora import ChosenLora
from bakehouse_runtime.protocol import ValidatePicturesSpec
from bakehouse_runtime.validate_pictures import validate_pictures

from .test_runs import spec_file, train
from .tiny import write_tiny_kontext

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

ADAPTER = "pytorch_lora_weights.safetensors"
PROMPTS = [{"prompt": "zwk, a red ball", "seed": 7}, {"prompt": "a house", "seed": 8}]
TARGETS = ["attn.to_q", "attn.to_k", "attn.to_v", "attn.to_out.0", "proj_mlp", "ff.net.2"]
LORA = {"r": 8, "alpha": 8, "dropout": 0.1, "target_modules": TARGETS}


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """Four pictures of one style with caption files."""
    folder = tmp_path / "drawn"
    folder.mkdir()
    for number, colour in enumerate(("red", "green", "blue", "orange")):
        picture = Image.new("RGB", (48, 48), "white")
        ImageDraw.Draw(picture).ellipse((8, 8 + number, 40, 40), fill=colour)
        picture.save(folder / f"{colour}.png")
        (folder / f"{colour}.txt").write_text(f"a {colour} ball")
    return folder


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_tiny_kontext(tmp_path / "kontext")


def adapter_spec(
    tmp_path: Path, server: BakehouseServer, base: Path, drawn: Path, **parameters: Any
) -> Path:
    return spec_file(
        tmp_path, server, {"base_model": base, "dataset": drawn}, method="flux", lora=LORA,
        sample_prompts=PROMPTS, data={"metadata_path": None, "trigger_word": "zwk", "seed": 3},
        parameters={
            "steps": 30, "learning_rate": 0.01, "batch_size": 4, "checkpoint_every": 15,
        } | parameters,
    )  # fmt: skip


def pixels(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path))


def same_weights(one: Path, other: Path) -> bool:
    """Returns whether two files hold the same tensors; safetensors orders metadata arbitrarily."""
    weights, others = load_file(one), load_file(other)
    return weights.keys() == others.keys() and all(
        torch.equal(others[name], tensor) for name, tensor in weights.items()
    )


def test_checkpoint_samples_match_the_served_adapter(
    tmp_path: Path, server: BakehouseServer, base: Path, drawn: Path
) -> None:
    assert train(adapter_spec(tmp_path, server, base, drawn)) == 0
    told = server.of_type("samples")
    assert [report["step"] for report in told] == [0, 15, 30]
    assert told[-1]["pictures"] == [
        {"path": f"samples/step-00000030/{number}.png", "width": 32, "height": 32}
        for number in (1, 2)
    ]
    # The untrained first samples have no adapter, and the last checkpoint is the result.
    assert "adapter" not in told[0]
    result, last = server.artefacts / ADAPTER, server.artefacts / told[-1]["adapter"]
    assert same_weights(last, result)
    device = torch.device("cpu")
    served = KontextPipeline.from_folder(base, device, serving_dtype("cpu"))
    for number, wanted in enumerate(PROMPTS, start=1):
        for scale, step, adapter in (
            (1.0, 30, ADAPTER),
            (1.0, 15, told[1]["adapter"]),
            (0.0, 0, ADAPTER),
        ):
            lora = ChosenLora(f"{adapter} {scale}", server.artefacts / adapter, scale)
            request = KontextRequest(wanted["prompt"], wanted["seed"], lora=lora)
            [picture] = served.generate([request])
            sample = server.artefacts / f"samples/step-{step:08d}/{number}.png"
            assert (np.asarray(picture.media) == pixels(sample)).all(), (number, scale)
    before, after = (server.artefacts / f"samples/{name}/1.png" for name in ("before", "after"))
    assert (pixels(before) != pixels(after)).any()
    card = (server.artefacts / "README.md").read_text()
    assert 'instance_prompt: "zwk"' in card
    assert "| zwk, a red ball | 7 | ![before](samples/before/1.png)" in card


def test_loss_falls_on_few_pictures(
    tmp_path: Path, server: BakehouseServer, base: Path, drawn: Path
) -> None:
    spec = adapter_spec(
        tmp_path, server, base, drawn,
        steps=60, gradient_accumulation_steps=2, batch_size=8, caption_dropout=0,
    )  # fmt: skip
    assert train(spec) == 0
    losses = [
        report["values"]["trained_loss"]
        for report in server.of_type("metrics")
        if "trained_loss" in report["values"]
    ]
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.soak
def test_a_stopped_run_ends_with_the_same_adapter(
    tmp_path: Path, server: BakehouseServer, base: Path, drawn: Path
) -> None:
    def stop_at(step: int) -> None:
        def watch(report: dict[str, Any]) -> None:
            if report["type"] == "checkpoint" and report["step"] >= step:
                server.command = "stop"

        server.on_report = watch

    spec = adapter_spec(tmp_path, server, base, drawn, checkpoint_every=6)
    assert train(spec) == 0
    whole = (server.artefacts / ADAPTER).rename(tmp_path / "whole.safetensors")
    work = tmp_path / "work"
    # A kill leaves earlier checkpoints; nothing else is needed.
    for path in (work / "checkpoints").glob("*"):
        path.unlink()
    stop_at(6)
    assert train(spec) == 0
    assert server.of_type("stopped")
    server.command, server.on_report = "continue", lambda _: None
    assert train(spec) == 0
    assert same_weights(server.artefacts / ADAPTER, whole)


def test_validation_reports_how_training_reads_the_pictures(
    tmp_path: Path, base: Path, drawn: Path
) -> None:
    (drawn / "red.png").write_bytes(b"no picture")
    spec = ValidatePicturesSpec.model_validate(
        {
            "base_model_dir": str(base),
            "weights_bytes": {"transformer": 2_000_000, "vae": 200_000},
            "dataset_dir": str(drawn),
            "data": {"metadata_path": None, "trigger_word": None, "seed": 1},
            "parameters": {
                "steps": 30, "learning_rate": 0.01, "batch_size": 4, "checkpoint_every": 15,
            },
            "lora_rank": 4,
        }
    )  # fmt: skip
    report = validate_pictures(spec)
    assert report.critical_errors == []
    assert (report.pictures_total, report.pictures_kept) == (4, 3)
    [left_out] = report.left_out
    assert left_out.file == "red.png"
    assert left_out.message == "red.png is not a picture that can be read."
    [size] = report.sizes
    assert (size.width, size.height, size.count) == (32, 32, 3)
    assert report.samples[0].caption == "a blue ball"
    (drawn / "green.png").unlink()
    assert validate_pictures(spec).critical_errors == [
        "The dataset has too few pictures: 2 of its 3 pictures can be trained on, and it takes 3 "
        "at least."
    ]
    for path in drawn.iterdir():
        path.unlink()
    [error] = validate_pictures(spec).critical_errors
    assert error.startswith("The dataset has no pictures: add PNG, JPEG or WebP files")
    json.loads(report.model_dump_json())
