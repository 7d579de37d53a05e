"""Compares the answers of exported models with the served adapter's answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from gguf import GGUFReader
from safetensors.torch import load_file, save_file

from bakehouse_runtime.serve.convert_adapter import convert_adapter
from exporting import PROMPTS, answers, export, gguf_spec, spec_of
from tiny_model import write_tiny_gguf
from train_spec import finish, start, train_spec

if TYPE_CHECKING:
    from bakehouse_server import BakehouseServer


@pytest.fixture(scope="module")
def adapter(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a fine-tune of the tiny model, lm_head included."""
    from bakehouse_server import BakehouseServer

    folder = tmp_path_factory.mktemp("adapter")
    with BakehouseServer(folder / "artefacts") as server:
        modules = ["q_proj", "k_proj", "v_proj", "down_proj", "lm_head"]
        spec = train_spec(server, folder, tiny_model, lora={"target_modules": modules})
        assert finish(start(spec)) == 0
    return folder / "artefacts"


@pytest.fixture(scope="module")
def base(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the base, in both formats."""
    folder = tmp_path_factory.mktemp("base")
    for file in tiny_model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    write_tiny_gguf(tiny_model, folder / "tiny.gguf")
    return folder


@pytest.mark.parametrize("quantization", ["F16", pytest.param("Q8_0", marks=pytest.mark.soak)])
def test_gguf_answers_like_the_served_adapter_and_not_like_the_base(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path, quantization: str
) -> None:
    spec = gguf_spec(server, tmp_path, base, adapter, quantization=quantization)
    ran = export(spec, tmp_path)
    assert ran.returncode == 0, ran.stderr
    made = server.artefacts / "Loaves-F16.gguf"
    served = answers(spec, base / "tiny.gguf", adapter / "adapter.gguf")
    merged = answers(spec, made, None)
    equal = sum(one == other for one, other in zip(served, merged, strict=True))
    summary = server.of_type("result")[0]["summary"]
    assert (summary["prompts"], summary["equal_answers"]) == (len(PROMPTS), equal)
    if quantization == "F16":
        assert merged == served
    assert answers(spec, base / "tiny.gguf", None) != served
    card = (server.artefacts / "README.md").read_text()
    assert f"{quantization}, made with Bakehouse" in card
    assert ("word for word as the fine-tune does" in card) == (equal > 0)


def test_gguf_keeps_the_metadata_of_the_base(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path
) -> None:
    ran = export(gguf_spec(server, tmp_path, base, adapter, quantization="Q8_0"), tmp_path)
    assert ran.returncode == 0, ran.stderr
    before = GGUFReader(base / "tiny.gguf")
    after = GGUFReader(server.artefacts / "Loaves-F16.gguf")
    own = {"general.name", "general.file_type", "general.quantization_version"}
    for key, field in before.fields.items():
        if not key.startswith("GGUF.") and key not in own:
            assert after.fields[key].contents() == field.contents(), key
    assert after.fields["general.name"].contents() == "Loaves (GGUF F16)"
    assert after.fields["general.file_type"].contents() == 7
    kinds = {tensor.name: tensor.tensor_type.name for tensor in after.tensors}
    assert kinds["blk.0.attn_q.weight"] == kinds["token_embd.weight"] == "Q8_0"
    assert kinds["blk.0.attn_norm.weight"] == "F32"
    made = (server.artefacts / "Modelfile").read_text()
    assert made.startswith("FROM ./Loaves-F16.gguf\n")
    assert 'PARAMETER stop "<|im_end|>"' in made


def test_safetensors_load_and_compute_like_peft(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = spec_of(server, tmp_path, base, adapter, format="safetensors")
    ran = export(spec, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert not list(server.artefacts.glob("*.gguf"))
    tokens = AutoTokenizer.from_pretrained(server.artefacts)(PROMPTS[0], return_tensors="pt")
    plain = AutoModelForCausalLM.from_pretrained(base)
    with torch.inference_mode():
        untrained = plain(**tokens).logits
        tuned = PeftModel.from_pretrained(plain, str(adapter)).eval()(**tokens).logits
        merged = AutoModelForCausalLM.from_pretrained(server.artefacts)(**tokens).logits
    torch.testing.assert_close(merged, tuned, rtol=1e-3, atol=1e-3)
    assert not torch.allclose(merged, untrained, rtol=1e-2, atol=1e-2)
    summary = server.of_type("result")[0]["summary"]
    assert summary["equal_answers"] == summary["prompts"] == len(PROMPTS)


def test_rejects_an_adapter_of_another_base_in_one_sentence(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in adapter.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    weights = load_file(other / "adapter_model.safetensors")
    save_file(
        {
            name: torch.cat([one, one], dim=1) if "lora_A" in name else one
            for name, one in weights.items()
        },
        other / "adapter_model.safetensors",
    )
    for made in (
        gguf_spec(server, tmp_path, base, other),
        spec_of(server, tmp_path, base, other, format="safetensors"),
    ):
        server.reports.clear()
        assert export(made, tmp_path).returncode == 1
        assert "of another shape than the base's." in server.of_type("failed")[0]["message"]
        assert server.of_type("result") == []


@pytest.mark.parametrize("quantization", [pytest.param("F16", marks=pytest.mark.soak), "Q8_0"])
def test_converts_a_full_fine_tune_without_an_adapter(
    server: BakehouseServer, tmp_path: Path, base: Path, quantization: str
) -> None:
    # The base serves as the fine-tune, in both formats.
    spec = gguf_spec(server, tmp_path, base, base, quantization=quantization)
    spec["inputs"].pop()
    ran = export(spec, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert {file.name for file in server.artefacts.iterdir()} == {
        *("Loaves-F16.gguf", "Modelfile", "README.md", "generation_config.json")
    }
    served = answers(spec, base / "tiny.gguf", None)
    made = answers(spec, server.artefacts / "Loaves-F16.gguf", None)
    if quantization == "F16":
        assert made == served
    summary = server.of_type("result")[0]["summary"]
    assert summary["prompts"] == len(PROMPTS)
    assert summary["equal_answers"] == sum(a == b for a, b in zip(served, made, strict=True))
    card = (server.artefacts / "README.md").read_text()
    assert "adapter" not in card
    assert f"Loaves, as a GGUF in {quantization}, made with Bakehouse" in card


def test_reports_a_missing_comparison_without_prompts(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path
) -> None:
    ran = export(gguf_spec(server, tmp_path, base, adapter, prompts=[]), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "were not compared" in (server.artefacts / "README.md").read_text()


def test_a_stop_ends_the_export_without_a_result(
    server: BakehouseServer, tmp_path: Path, base: Path, adapter: Path
) -> None:
    def stop(report: dict[str, Any]) -> None:
        if report["type"] == "phase" and report["phase"] == "merging":
            server.command = "stop"

    server.on_report = stop
    assert export(gguf_spec(server, tmp_path, base, adapter), tmp_path).returncode == 0
    assert [report["type"] for report in server.reports[-1:]] == ["stopped"]
    assert server.of_type("result") == []


def test_conversion_matches_the_adapter_that_training_wrote(
    base: Path, adapter: Path, tmp_path: Path
) -> None:
    convert_adapter(adapter, base, tmp_path / "converted.gguf")
    assert (tmp_path / "converted.gguf").read_bytes() == (adapter / "adapter.gguf").read_bytes()
