"""`train SPEC.json` of each picture method, against a server of this test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image

from bakehouse_runtime.cli import main
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.kontext.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.paris.weights import load_expert, load_router
from bakehouse_runtime.image.training.dataset import (
    CUTS,
    PictureExamples,
    read_captioned_pictures,
)
from bakehouse_runtime.train.kontext.model import export_kontext
from bakehouse_server import BakehouseServer

from .conftest import TINY_EXPERT
from .test_kontext_pipeline import tiny_transformer


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    rows = []
    for number, colour in enumerate(("red", "green", "blue", "orange")):
        for kind, size in (("plain", (40, 40)), ("wide", (60, 30))):
            name = f"{kind}-{colour}.png"
            Image.new("RGB", size, colour).save(folder / name)
            rows.append({"file_name": name, "text": f"a {kind} {colour} field number {number}"})
    (folder / "metadata.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


def spec_file(
    tmp_path: Path, server: BakehouseServer, inputs: dict[str, Path], **fields: Any
) -> Path:
    offered = [server.add_folder(name, folder) for name, folder in inputs.items()]
    spec = {
        **server.workload(tmp_path, offered),
        "kind": "train",
        "title": "My pictures",
        "base_model_title": "A tiny model",
        "dataset_title": "Fields",
        "data": {"metadata_path": "metadata.jsonl", "seed": 1},
        "parameters": {
            "steps": 6,
            "learning_rate": 0.01,
            "batch_size": 4,
            "checkpoint_every": 3,
        },
        "device": "cpu",
        **fields,
    }
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    return path


def test_an_expert_is_fine_tuned(
    tmp_path: Path, server: BakehouseServer, dataset: Path, paris_folder: Path
) -> None:
    inputs = {"base_model": paris_folder, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="paris", part="expert", expert=3)
    assert main(["train", str(spec)]) == 0
    phases = [report["phase"] for report in server.of_type("phase")]
    assert phases == [
        "pulling inputs", "reading data", "encoding pictures", "encoding captions", "training",
        "saving", "uploading",
    ]  # fmt: skip
    assert [report["step"] for report in server.of_type("checkpoint")] == [3, 6]
    result = server.artefacts
    sheets = sorted(path.name for path in (result / "samples").iterdir())
    assert sheets == ["step-00000003.png", "step-00000006.png"]
    tuned, base = load_expert(result / "expert_3"), load_expert(paris_folder / "expert_3")
    assert tuned.shape == base.shape
    assert not torch.equal(tuned.text_proj.weight, base.text_proj.weight)
    assert "Expert 3 of a Paris" in (result / "README.md").read_text()
    assert server.of_type("result")[-1]["summary"]["steps"] == 6


def test_clusters_then_an_expert_and_the_router_on_them(
    tmp_path: Path, dataset: Path, paris_folder: Path
) -> None:
    inputs = {"base_model": paris_folder, "dataset": dataset}

    def run(part: str, expert: int | None) -> Path:
        folder = tmp_path / part
        folder.mkdir()
        with BakehouseServer(folder / "artefacts") as server:
            spec = spec_file(folder, server, inputs, method="paris", part=part, expert=expert)
            assert main(["train", str(spec)]) == 0
        return folder / "artefacts"

    inputs["clusters"] = run("clusters", None)
    numbers = json.loads((inputs["clusters"] / "clusters.json").read_text())["clusters"]
    assert len(numbers) == 8 * CUTS
    assert load_router(run("router", None) / "router").shape.experts == 8
    assert load_expert(run("expert", 0) / "expert_0").shape == TINY_EXPERT


def test_an_autoencoder_is_tuned(
    tmp_path: Path, server: BakehouseServer, dataset: Path, paris_folder: Path
) -> None:
    inputs = {"base_model": paris_folder, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="autoencoder", freeze_encoder=True)
    assert main(["train", str(spec)]) == 0
    before = AutoencoderKL.from_pretrained(paris_folder / "vae")
    after = AutoencoderKL.from_pretrained(server.artefacts / "vae")
    assert after.config["scaling_factor"] == before.config["scaling_factor"]
    assert torch.equal(after.encoder.conv_in.weight, before.encoder.conv_in.weight)
    assert not torch.equal(after.decoder.conv_in.weight, before.decoder.conv_in.weight)


@pytest.fixture
def edits(tmp_path: Path) -> Path:
    """Twenty edits of one kind: a field of some colour becomes black."""
    folder = tmp_path / "edits"
    folder.mkdir()
    Image.new("RGB", (32, 32), "black").save(folder / "after.png")
    rows = []
    for number in range(20):
        shade = tuple(int(part) for part in np.random.default_rng(number).integers(40, 255, 3))
        Image.new("RGB", (32, 32), shade).save(folder / f"{number}.png")
        rows.append({"file_name": "after.png", "source": f"{number}.png", "text": "make it black"})
    (folder / "metadata.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


LORA = {"r": 4, "alpha": 4, "dropout": 0, "target_modules": ["to_q", "to_k", "to_v", "proj_mlp"]}


def test_kontext_learns_an_adapter_that_loads_and_changes_the_picture(
    tmp_path: Path, server: BakehouseServer, edits: Path, autoencoder: AutoencoderKL
) -> None:
    base = tmp_path / "kontext"
    export_kontext(tiny_transformer(), autoencoder, base, torch.float32)
    inputs = {"base_model": base, "dataset": edits}
    spec = spec_file(tmp_path, server, inputs, method="kontext", lora=LORA)
    assert main(["train", str(spec)]) == 0
    kontext = KontextPipeline.from_folder(base, torch.device("cpu"))
    shown, request = Image.new("RGB", (32, 32), "red"), KontextRequest("make it black", 1, steps=2)
    before = np.asarray(kontext.edit(shown, request))
    kontext.load_adapter(server.artefacts / "pytorch_lora_weights.safetensors", "mine")
    assert (np.asarray(kontext.edit(shown, request)) != before).any()
    kontext.unload_adapters()
    assert (np.asarray(kontext.edit(shown, request)) == before).all()


def test_kontext_trains_all_weights(
    tmp_path: Path, server: BakehouseServer, dataset: Path, autoencoder: AutoencoderKL
) -> None:
    base = tmp_path / "kontext"
    export_kontext(tiny_transformer(), autoencoder, base, torch.float32)
    inputs = {"base_model": base, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="kontext", lora=None)
    assert main(["train", str(spec)]) == 0
    tuned = KontextPipeline.from_folder(server.artefacts, torch.device("cpu"))
    assert tuned.draw(KontextRequest("a plain red field", 1, steps=2)).size == (32, 32)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"part": "expert", "expert": None}, "The spec does not say which expert to train."),
        ({"part": "expert", "expert": 9}, "expert_9/diffusion_pytorch_model.safetensors of the"),
        ({"part": "router", "expert": None}, "The spec has no input clusters."),
        ({"part": "expert", "expert": 0, "device": "cuda"}, "has no cuda device"),
    ],
)
def test_what_is_wrong_with_a_run_is_reported(
    tmp_path: Path,
    server: BakehouseServer,
    dataset: Path,
    paris_folder: Path,
    fields: dict[str, Any],
    message: str,
) -> None:
    inputs = {"base_model": paris_folder, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="paris", **fields)
    assert main(["train", str(spec)]) == 1
    assert message in server.of_type("failed")[-1]["message"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("{", "Line 1 of metadata.jsonl is not JSON."),
        ("\n[1]", "Line 2 of metadata.jsonl is not an object."),
        ('{"file_name": "plain-red.png"}', "Line 1 of metadata.jsonl has no text."),
        ('{"text": "a field"}', "Line 1 of metadata.jsonl has no file_name."),
        (
            '{"file_name": "../x.png", "text": "a"}',
            "names ../x.png, which is outside of the dataset",
        ),
        (
            '{"file_name": "plain-red.png", "text": "a"}\n'
            '{"file_name": "plain-red.png", "text": "a", "source": "plain-blue.png"}',
            "Some lines of metadata.jsonl have a source and some have none.",
        ),
        ("", "The dataset has no captioned picture"),
    ],
)
def test_metadata_that_cannot_be_used_is_named(dataset: Path, lines: str, message: str) -> None:
    (dataset / "metadata.jsonl").write_text(lines)
    with pytest.raises(PlainError) as raised:
        read_captioned_pictures(dataset, "metadata.jsonl")
    assert message in str(raised.value)


def test_pictures_with_text_files_need_no_metadata(dataset: Path) -> None:
    with pytest.raises(PlainError, match="no captioned picture"):
        read_captioned_pictures(dataset, None)
    (dataset / "wide-red.txt").write_text("a red field\n")
    (found,) = read_captioned_pictures(dataset, None)
    assert (found.path.name, found.text, found.source) == ("wide-red.png", "a red field", None)


def test_a_file_that_is_no_picture_is_named(dataset: Path) -> None:
    (dataset / "plain-red.png").write_bytes(b"no picture")
    pictures = read_captioned_pictures(dataset, "metadata.jsonl")
    with pytest.raises(PlainError, match=r"plain-red\.png is not a picture that can be read\."):
        PictureExamples(pictures, 32, seed=1)[0]
    (dataset / "plain-red.png").unlink()
    with pytest.raises(PlainError, match=r"The picture plain-red\.png is missing\."):
        PictureExamples(pictures, 32, seed=1)[0]
