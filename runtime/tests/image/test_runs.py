"""Runs `train SPEC.json` of each picture method against a fake server."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from PIL import Image
from safetensors.torch import load_file

from bakehouse_runtime.cli import main
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.flux.family import Flux
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.paris.weights import load_expert
from bakehouse_runtime.image.text import TextStates
from bakehouse_runtime.image.training.device import frozen_dtype
from bakehouse_runtime.protocol import LoraSpec
from bakehouse_runtime.train.diffusion.adapter import add_adapter, save_adapter
from bakehouse_runtime.train.diffusion.networks import check_memory
from bakehouse_server import BakehouseServer

from .tiny import tiny_autoencoder, tiny_transformer, write_tiny_kontext


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


def train(spec: Path) -> int:
    """Runs `pull SPEC.json` and `train SPEC.json` like the command line."""
    pulled = main(["pull", "--cache", str(spec.with_name("cache")), str(spec)])
    return pulled or main(["train", str(spec)])


def test_fine_tunes_an_expert(
    tmp_path: Path, server: BakehouseServer, dataset: Path, paris_folder: Path
) -> None:
    inputs = {"base_model": paris_folder, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="paris", expert=3)
    assert train(spec) == 0
    phases = [report["phase"] for report in server.of_type("phase")]
    assert phases == [
        "pulling inputs", "loading encoders", "reading data", "encoding pictures",
        "encoding captions", "loading model", "training", "saving", "uploading",
    ]  # fmt: skip
    free = [report["phase"] for report in server.of_type("phase") if not report["counted"]]
    assert free == ["saving", "uploading"]
    assert [report["step"] for report in server.of_type("checkpoint")] == [3, 6]
    result = server.artefacts
    sheets = sorted(path.name for path in (result / "samples").iterdir())
    assert sheets == ["step-00000003.png", "step-00000006.png"]
    tuned, base = load_expert(result / "expert_3"), load_expert(paris_folder / "expert_3")
    assert tuned.shape == base.shape
    assert not torch.equal(tuned.text_proj.weight, base.text_proj.weight)
    assert "Expert 3 of a Paris" in (result / "README.md").read_text()
    assert server.of_type("result")[-1]["summary"]["steps"] == 6


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


def load_adapter(transformer: FluxTransformer2DModel, folder: Path) -> None:
    """Loads an adapter as Diffusers' pipelines do."""
    weights, alphas, metadata = FluxKontextPipeline.lora_state_dict(
        str(folder), return_alphas=True, return_lora_metadata=True, local_files_only=True
    )
    FluxKontextPipeline.load_lora_into_transformer(
        weights, alphas, transformer, adapter_name="mine", metadata=metadata
    )


LORA = {"r": 4, "alpha": 4, "dropout": 0, "target_modules": ["to_q", "to_k", "to_v", "proj_mlp"]}


def test_kontext_trains_an_adapter_that_loads_and_changes_the_picture(
    tmp_path: Path, server: BakehouseServer, edits: Path
) -> None:
    base = tmp_path / "kontext"
    write_tiny_kontext(base)
    inputs = {"base_model": base, "dataset": edits}
    spec = spec_file(tmp_path, server, inputs, method="flux", lora=LORA)
    assert train(spec) == 0
    kontext = KontextPipeline.from_folder(base, torch.device("cpu"))
    request = KontextRequest("make it black", 1, 2, picture=Image.new("RGB", (32, 32), "red"))

    def edited() -> np.ndarray:
        return np.asarray(kontext.generate([request])[0].media)

    before = edited()
    load_adapter(kontext.transformer, server.artefacts)
    assert (edited() != before).any()
    kontext.transformer.unload_lora()
    assert (edited() == before).all()


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_saved_adapter_computes_the_same_as_the_trained_one(
    tmp_path: Path, dropout: float
) -> None:
    base = tmp_path / "kontext"
    write_tiny_kontext(base)
    trained = tiny_transformer()
    lora = LoraSpec(r=4, alpha=16, dropout=dropout, target_modules=["to_q", "proj_mlp"])
    add_adapter(trained, lora, seed=1)
    for name, weight in trained.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1)
    save_adapter(Flux(tiny_autoencoder(), None), trained, tmp_path)
    kontext = KontextPipeline.from_folder(base, torch.device("cpu"))
    plain = copy.deepcopy(kontext.transformer)
    load_adapter(kontext.transformer, tmp_path)
    text = TextStates(torch.randn(1, 3, 384), torch.randn(1, 384))
    inputs = torch.randn(1, 4, 4, 4), torch.ones(1), text
    with torch.no_grad():
        wanted, loaded, without = (
            Flux.velocity(transformer, *inputs, None, torch.ones(1))
            for transformer in (trained.eval(), kontext.transformer, plain)
        )
    torch.testing.assert_close(loaded, wanted)
    assert not torch.allclose(without, wanted, atol=1e-2)


def test_frozen_weights_are_16_bits_only_with_autocast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = torch.device("cuda")
    for bfloat16, dtype in ((True, torch.bfloat16), (False, torch.float32)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_, found=bfloat16, **__: found)
        assert frozen_dtype(gpu) == dtype
    assert frozen_dtype(torch.device("cpu")) == torch.float32


def test_kontext_full_fine_tune_uses_float32_and_keeps_the_stored_dtype(
    tmp_path: Path, server: BakehouseServer, dataset: Path
) -> None:
    base = tmp_path / "kontext"
    write_tiny_kontext(base, torch.float16)
    (base / "figures.json").write_text("{}")
    inputs = {"base_model": base, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="flux", lora=None)
    assert train(spec) == 0
    assert not (server.artefacts / "figures.json").exists(), "those are the base's"
    configs = [path.read_text() for path in server.artefacts.rglob("config.json")]
    assert len(configs) == 2
    assert not any(str(tmp_path) in config for config in configs)
    checkpoint = next(tmp_path.rglob("step-00000006.pt"))
    weights = torch.load(checkpoint, weights_only=True)["weights"]
    assert {weight.dtype for weight in weights.values()} == {torch.float32}
    written = load_file(server.artefacts / "transformer/diffusion_pytorch_model.safetensors")
    assert {weight.dtype for weight in written.values()} == {torch.float16}
    tuned = KontextPipeline.from_folder(server.artefacts, torch.device("cpu"))
    [generated] = tuned.generate([KontextRequest("a plain red field", 1, steps=2)])
    assert generated.media.size == (32, 32)


def test_rejects_a_full_fine_tune_of_a_model_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=80e9)
    )
    check_memory(3_900_000_000, torch.device("cuda"))
    with pytest.raises(PlainError, match="takes 238 GB of GPU memory, but this GPU has 80 GB"):
        check_memory(11_901_408_320, torch.device("cuda"))
    check_memory(11_901_408_320, torch.device("cpu"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"expert": 9}, "expert_9/diffusion_pytorch_model.safetensors of the"),
        ({"expert": 0, "device": "cuda"}, "has no cuda device"),
    ],
)
def test_reports_faults_of_a_run(
    tmp_path: Path,
    server: BakehouseServer,
    dataset: Path,
    paris_folder: Path,
    fields: dict[str, Any],
    message: str,
) -> None:
    inputs = {"base_model": paris_folder, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="paris", **fields)
    assert train(spec) == 1
    assert message in server.of_type("failed")[-1]["message"]


def test_truncates_captions_to_the_window(
    tmp_path: Path, server: BakehouseServer, dataset: Path, paris_folder: Path
) -> None:
    with (dataset / "metadata.jsonl").open("a") as file:
        row = {"file_name": "missing.png", "text": "cat " * 40}
        file.write("\n" + json.dumps(row))
    Image.new("RGB", (40, 40), "pink").save(dataset / "long.png")
    with (dataset / "metadata.jsonl").open("a") as file:
        file.write("\n" + json.dumps({"file_name": "long.png", "text": "cat " * 40}))
    inputs = {"base_model": paris_folder, "dataset": dataset}
    spec = spec_file(tmp_path, server, inputs, method="paris", expert=3)
    assert train(spec) == 0
    lines = [report["line"] for report in server.of_type("log")]
    assert lines == ["Left out: The picture missing.png is missing."]
