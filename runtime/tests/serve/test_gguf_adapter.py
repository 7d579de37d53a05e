from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gguf import GGUFReader

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.gguf_adapter import (
    _ARCHITECTURES,
    gguf_obstacle,
    rotary_rows,
    write_gguf_adapter,
)

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
}


def pair(module: str, rows: int, columns: int, rank: int = 3) -> dict[str, Any]:
    values = np.random.default_rng(len(module))
    return {
        f"base_model.model.{module}.lora_A.weight": values.random((rank, columns), np.float32),
        f"base_model.model.{module}.lora_B.weight": values.random((rows, rank), np.float32),
    }


def write(path: Path, tensors: dict[str, Any], **config: Any) -> dict[str, Any]:
    write_gguf_adapter(path, tensors, 16.0, CONFIG | config)
    return {tensor.name: tensor.data for tensor in GGUFReader(path).tensors}


def test_writes_llama_cpps_names_and_a_complete_header(tmp_path: Path) -> None:
    path = tmp_path / "adapter.gguf"
    down = pair("model.layers.1.mlp.down_proj", 8, 12)
    written = write(path, down | pair("lm_head", 20, 8))
    assert set(written) == {
        "blk.1.ffn_down.weight.lora_a",
        "blk.1.ffn_down.weight.lora_b",
        "output.weight.lora_a",
        "output.weight.lora_b",
    }
    np.testing.assert_array_equal(written["blk.1.ffn_down.weight.lora_a"], down[min(down)])
    np.testing.assert_array_equal(written["blk.1.ffn_down.weight.lora_b"], down[max(down)])
    fields = GGUFReader(path).fields
    for key, value in {
        "general.architecture": "llama",
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 16.0,
    }.items():
        assert fields[key].contents() == value


def test_reorders_q_and_k_of_llama(tmp_path: Path) -> None:
    q, k = (pair(f"model.layers.0.self_attn.{name}_proj", 8, 4) for name in "qk")
    written = write(tmp_path / "adapter.gguf", q | k)
    np.testing.assert_array_equal(
        written["blk.0.attn_q.weight.lora_b"], rotary_rows(q[max(q)], heads=2)
    )
    np.testing.assert_array_equal(
        written["blk.0.attn_k.weight.lora_b"], rotary_rows(k[max(k)], heads=1)
    )
    np.testing.assert_array_equal(written["blk.0.attn_q.weight.lora_a"], q[min(q)])


@pytest.mark.parametrize(
    ("family", "name", "reordered"),
    [
        ("mistral", "llama", True),
        ("mixtral", "llama", True),
        ("granite", "granite", True),
        ("smollm3", "smollm3", True),
        ("arcee", "arcee", True),
        ("olmo", "olmo", True),
        ("olmo2", "olmo2", False),
        ("qwen2", "qwen2", False),
        ("qwen3", "qwen3", False),
        ("gemma3_text", "gemma3", False),
        ("cohere", "command-r", False),
    ],
)
def test_reorders_rows_for_the_families_whose_converter_does(
    tmp_path: Path, family: str, name: str, reordered: bool
) -> None:
    q = pair("model.layers.0.self_attn.q_proj", 8, 4)
    path = tmp_path / "adapter.gguf"
    written = write(path, q, model_type=family)
    rows = rotary_rows(q[max(q)], heads=2) if reordered else q[max(q)]
    np.testing.assert_array_equal(written["blk.0.attn_q.weight.lora_b"], rows)
    assert GGUFReader(path).fields["general.architecture"].contents() == name


def test_llama_cpp_knows_every_family_of_the_table() -> None:
    for family in _ARCHITECTURES:
        q_proj = "model.layers.0.self_attn.q_proj"
        module = q_proj.replace("q_proj", "qkv_proj") if family == "phi3" else q_proj
        assert gguf_obstacle([module], CONFIG | {"model_type": family}) is None


def test_rotary_order_interleaves_the_halves_of_each_head() -> None:
    rows = np.arange(8, dtype=np.float32).reshape(8, 1)
    assert rotary_rows(rows, heads=2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert rotary_rows(rows, heads=1)[:, 0].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


def test_rejects_families_and_modules_unknown_to_llama_cpp(tmp_path: Path) -> None:
    # llama.cpp knows falcon, but rearranges it in a way that an adapter would have to follow.
    for family in ("sourdough", "falcon"):
        with pytest.raises(PlainError, match=f"how llama.cpp stores the model family {family}"):
            write(tmp_path / "a.gguf", pair("lm_head", 4, 4), model_type=family)
    with pytest.raises(PlainError, match=r"no place for model\.strange\."):
        write(tmp_path / "b.gguf", pair("model.strange", 4, 4))
