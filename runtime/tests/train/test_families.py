"""Trains adapters on tiny models of today's families: the targets, the estimates, and the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.base_model import (
    LoraTargets,
    TargetError,
    adapted,
    lora_targets,
    read_base_model,
    trainable_parameters,
    trained_modules,
)
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.export.merge_adapter import load_with_adapter, save_merged
from bakehouse_runtime.files import read_object, write_json
from bakehouse_runtime.gguf_adapter import gguf_obstacle
from bakehouse_runtime.train.lora import load
from bakehouse_runtime.train.lora.config import lora_config
from bakehouse_runtime.train.lora.load import encoder_names, load_base
from references.families import write_family
from train_spec import adapter_of, curve, finish, start, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

_ALL = ["all-linear"]


@pytest.mark.parametrize(
    "family", ["llama", "qwen3", "qwen3_moe", "phi3", "gemma3", "qwen3_5", "mistral3", "gpt_oss"]
)
def test_all_linear_targets_the_modules_that_peft_targets(
    server: BakehouseServer, tmp_path: Path, family: str
) -> None:
    from peft import LoraConfig, get_peft_model

    base = write_family(tmp_path / "base", family)
    described = read_base_model(base)
    targets = lora_targets(described, _ALL)
    lora = adapter_of(train_spec(server, tmp_path, base, lora={"target_modules": _ALL}))
    model = load_base(base, "auto")
    encoders = tuple(encoder_names(model))
    ours: Any = get_peft_model(model, lora_config(lora, targets.modules, encoders))
    own: Any = get_peft_model(load_base(base, "auto"), LoraConfig(target_modules="all-linear"))
    expected = [name for name in own.targeted_module_names if not name.startswith(encoders)]
    assert sorted(ours.targeted_module_names) == sorted(expected) != []
    trained, _ = ours.get_nb_trainable_parameters()
    assert trained == trainable_parameters(described, targets.modules, lora)


def test_free_names_must_match_a_linear_module(tmp_path: Path) -> None:
    base = read_base_model(write_family(tmp_path, "phi3"))
    free = ["qkv_proj", "mlp.gate_up_proj", "layers.1.mlp.down_proj"]
    assert lora_targets(base, free) == LoraTargets(free, [])
    usual = lora_targets(base, ["q_proj", "o_proj"])
    assert usual == LoraTargets(["o_proj"], ["The base model has no modules named q_proj."])
    has = r"It has: down_proj, gate_up_proj, o_proj, qkv_proj\. Choose from these"
    for wrong in ("unheard", "embed_tokens", "proj"):
        with pytest.raises(TargetError, match=rf"no linear module named {wrong}\. {has}"):
            lora_targets(base, ["qkv_proj", wrong])
    with pytest.raises(TargetError, match=rf"none of the chosen target modules\. {has}"):
        lora_targets(base, ["q_proj"])


def test_experts_stay_as_they_are_with_all_linear(tmp_path: Path) -> None:
    base = read_base_model(write_family(tmp_path, "qwen3_moe"))
    targets = lora_targets(base, _ALL)
    assert targets.modules == ["k_proj", "o_proj", "q_proj", "v_proj"]
    assert targets.warnings == ["The experts of this mixture model stay as they are."]


@pytest.mark.parametrize(
    ("family", "gpus"),
    [
        ("gemma3", 1),
        pytest.param("gemma3", 2, marks=pytest.mark.soak),
        ("qwen3_5", 1),
        pytest.param("qwen3_5", 2, marks=pytest.mark.soak),
    ],
)
def test_a_multimodal_base_trains_its_language_model_only(
    server: BakehouseServer, tmp_path: Path, family: str, gpus: int
) -> None:
    from safetensors import safe_open

    base = write_family(tmp_path / "base", family)
    lora = {"target_modules": _ALL}
    spec = train_spec(server, tmp_path, base, lora=lora, epochs=2, learning_rate=0.003)
    assert finish(start(spec.model_copy(update={"gpus": gpus}))) == 0
    losses = curve(server, "eval_loss")
    assert losses[max(losses)] < 0.95 * losses[0]
    with safe_open(server.artefacts / "adapter_model.safetensors", "np") as adapter:
        names = list(adapter.keys())
    # vLLM and Transformers have these names in the whole model.
    prefix = "base_model.model.model.language_model.layers."
    assert names != [] and all(name.startswith(prefix) for name in names)


def test_a_full_fine_tune_of_a_multimodal_base_keeps_its_encoders(
    server: BakehouseServer, tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file

    base = write_family(tmp_path / "base", "gemma3")
    spec = train_spec(server, tmp_path, base, lora=None, epochs=1, learning_rate=0.001)
    assert finish(start(spec)) == 0
    before, after = (load_file(path / "model.safetensors") for path in (base, server.artefacts))
    assert set(before) == set(after)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {name for name in before if name.startswith("language_model.")}
    described = read_base_model(base)
    trained = trainable_parameters(described, [], None)
    assert trained == sum(before[name].numel() for name in changed) < described.parameters


def test_a_base_in_mxfp4_is_dequantized_to_be_trained_and_exported(
    server: BakehouseServer, tmp_path: Path
) -> None:
    import torch

    base = write_family(tmp_path / "base", "gpt_oss")
    model = load_base(base, "auto")
    described = read_base_model(base)
    assert described.is_mxfp4
    assert described.parameters == sum(weight.numel() for weight in model.parameters())
    spec = train_spec(server, tmp_path, base, lora={"target_modules": _ALL}, epochs=2)
    assert finish(start(spec)) == 0
    losses = curve(server, "eval_loss")
    assert losses[max(losses)] < losses[0]

    out = tmp_path / "out"
    out.mkdir()
    adapted = load_with_adapter(base, server.artefacts)
    words = torch.arange(10, 50)[None]
    with torch.inference_mode():
        expected = adapted(words).logits
        save_merged(adapted, base, out)
        merged = load_base(out, "auto")
        torch.testing.assert_close(merged(words).logits, expected, rtol=1e-3, atol=1e-3)
    assert "quantization_config" not in read_object(out / "config.json")
    with pytest.raises(PlainError, match="QLoRA cannot load a base in MXFP4: choose LoRA"):
        trained_modules(described, spec.parameters.model_copy(update={"load_in_4bit": True}))


def test_other_quantized_bases_are_refused(tmp_path: Path) -> None:
    base = write_family(tmp_path, "llama")
    config = read_object(base / "config.json")
    write_json(base / "config.json", config | {"quantization_config": {"quant_method": "fp8"}})
    with pytest.raises(PlainError, match=r"quantized \(fp8\)\. Upload the unquantized weights"):
        read_base_model(base)


@pytest.mark.parametrize(
    ("family", "generation", "dtype", "expected"),
    [
        ("llama", 9, "bfloat16", "flash_attention_3"),
        ("llama", 8, "bfloat16", "flash_attention_2"),
        ("llama", 7, "float16", None),
        ("llama", 9, "float32", None),
        ("gemma3", 8, "bfloat16", {"text_config": "flash_attention_2"}),
        # Its own kernels would be downloaded from a hub.
        ("gpt_oss", 9, "bfloat16", None),
    ],
)
def test_chooses_the_installed_flash_attention_that_fits_gpu_and_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
    generation: int,
    dtype: str,
    expected: Any,
) -> None:
    import torch
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(write_family(tmp_path, family))
    assert load._attention(config, getattr(torch, dtype)) is None, "without a GPU"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (generation, 0))
    assert load._attention(config, getattr(torch, dtype)) is None, "without kernels"
    for name in ("is_flash_attn_2_available", "is_flash_attn_3_available"):
        monkeypatch.setattr(load, name, lambda: True)
    assert load._attention(config, getattr(torch, dtype)) == expected


def test_uses_sdpa_on_a_cpu(tmp_path: Path) -> None:
    model = load_base(write_family(tmp_path, "gemma3"), "auto")
    assert model.config.get_text_config()._attn_implementation == "sdpa"


def test_llama_cpp_loads_adapters_of_a_multimodal_base(
    server: BakehouseServer, tmp_path: Path
) -> None:
    from gguf import GGUFReader

    base = write_family(tmp_path / "base", "gemma3")
    described, config = read_base_model(base), read_object(base / "config.json")
    assert gguf_obstacle(adapted(described, ["q_proj"]), config) is None
    spec = train_spec(server, tmp_path, base, lora={"target_modules": ["q_proj"]}, epochs=1)
    assert finish(start(spec)) == 0
    reader = GGUFReader(server.artefacts / "adapter.gguf")
    assert reader.fields["general.architecture"].contents() == "gemma3"
    assert {tensor.name for tensor in reader.tensors} == {
        f"blk.{layer}.attn_q.weight.lora_{part}" for layer in (0, 1) for part in "ab"
    }
    other = write_family(tmp_path / "other", "qwen3_5")
    obstacle = gguf_obstacle([], read_object(other / "config.json")) or ""
    assert obstacle.endswith("the model family qwen3_5_text.")
