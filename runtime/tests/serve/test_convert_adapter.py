from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from gguf import GGUFReader
from safetensors.torch import save_file

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.gguf_adapter import write_gguf_adapter
from bakehouse_runtime.serve.convert_adapter import convert_adapter

if TYPE_CHECKING:
    from pathlib import Path

BASE = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
}
MODULE = "base_model.model.model.layers.1.self_attn.q_proj"


def tensors() -> dict[str, torch.Tensor]:
    numbers = torch.Generator().manual_seed(1)
    return {
        f"{MODULE}.lora_A.weight": torch.rand(4, 8, generator=numbers),
        f"{MODULE}.lora_B.weight": torch.rand(8, 4, generator=numbers),
    }


def convert(
    folder: Path, content: dict[str, torch.Tensor] | None = None, **config: Any
) -> GGUFReader:
    adapter, base, out = folder / "adapter", folder / "base", folder / "out.gguf"
    for made in (adapter, base):
        made.mkdir()
    (base / "config.json").write_text(json.dumps(BASE))
    whole = {"peft_type": "LORA", "r": 4, "lora_alpha": 16} | config
    (adapter / "adapter_config.json").write_text(json.dumps(whole))
    save_file(content or tensors(), adapter / "adapter_model.safetensors")
    convert_adapter(adapter, base, out)
    return GGUFReader(out)


def test_matches_the_adapter_that_training_writes(tmp_path: Path) -> None:
    trained = tmp_path / "trained.gguf"
    write_gguf_adapter(trained, {name: t.numpy() for name, t in tensors().items()}, 16.0, BASE)
    convert(tmp_path)
    assert (tmp_path / "out.gguf").read_bytes() == trained.read_bytes()


def test_bfloat16_keeps_its_values(tmp_path: Path) -> None:
    halves = {name: tensor.bfloat16() for name, tensor in tensors().items()}
    written = {tensor.name: tensor.data for tensor in convert(tmp_path, halves).tensors}
    np.testing.assert_array_equal(
        written["blk.1.attn_q.weight.lora_a"], halves[f"{MODULE}.lora_A.weight"].float().numpy()
    )


@pytest.mark.parametrize(("config", "alpha"), [({}, 16.0), ({"use_rslora": True}, 32.0)])
def test_scales_alpha_like_peft(tmp_path: Path, config: dict[str, Any], alpha: float) -> None:
    assert convert(tmp_path, **config).fields["adapter.lora.alpha"].contents() == alpha


@pytest.mark.parametrize(
    "config",
    [{"use_dora": True}, {"peft_type": "IA3"}, {"rank_pattern": {"q": 2}}, {"r": None}, {"r": "4"}],
)
def test_rejects_adapters_that_llama_cpp_would_apply_differently(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    with pytest.raises(PlainError):
        convert(tmp_path, **config)


@pytest.mark.parametrize(
    "name",
    ["base_model.model.lm_head.weight", "model.layers.1.self_attn.q_proj.lora_A.weight", "x"],
)
def test_names_a_tensor_unknown_to_llama_cpp(tmp_path: Path, name: str) -> None:
    with pytest.raises(PlainError, match=name):
        convert(tmp_path, {name: torch.zeros(2, 2)})


def test_rejects_a_wrong_shape(tmp_path: Path) -> None:
    odd = {f"{MODULE}.lora_B.weight": torch.zeros(3, 4)}
    with pytest.raises(PlainError, match="does not fit"):
        convert(tmp_path, odd)


def test_rejects_a_file_that_is_no_safetensors(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"r": 4, "lora_alpha": 16}')
    (tmp_path / "adapter_model.safetensors").write_bytes(b"?" * 32)
    with pytest.raises(PlainError, match="no safetensors file"):
        convert_adapter(tmp_path, tmp_path, tmp_path / "out.gguf")
