"""Compares merged models of today's families with their bases and adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.export.merge_adapter import load_with_adapter, save_merged
from bakehouse_runtime.files import read_object, write_json
from bakehouse_runtime.train.lora.load import encoder_names, load_base
from references.families import write_family

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = torch.arange(10, 50)[None]


def _logits(model: Any) -> torch.Tensor:
    with torch.inference_mode():
        return model.eval()(_WORDS).logits


def _write_adapter(base: Path, adapter: Path, **changed: Any) -> None:
    torch.manual_seed(3)
    config = LoraConfig(**{"r": 4, "target_modules": ["o_proj", "down_proj"]} | changed)
    model: Any = get_peft_model(load_base(base, "auto"), config)
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1)
    model.save_pretrained(str(adapter))


@pytest.mark.parametrize("use_dora", [False, True])
@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3", "qwen3_5"])
def test_a_merged_model_has_the_bases_names_and_the_adapters_logits(
    tmp_path: Path, family: str, use_dora: bool
) -> None:
    from safetensors.torch import load_file

    base, adapter, out = (tmp_path / name for name in ("base", "adapter", "out"))
    write_family(base, family)
    _write_adapter(base, adapter, use_dora=use_dora)
    out.mkdir()
    save_merged(load_with_adapter(base, adapter), base, out)

    before, after = (load_file(folder / "model.safetensors") for folder in (base, out))
    assert {name: one.shape for name, one in after.items()} == {
        name: one.shape for name, one in before.items()
    }
    assert read_object(out / "config.json") == read_object(base / "config.json")
    changed = [name for name in before if not torch.equal(before[name], after[name])]
    assert all(name.endswith(("o_proj.weight", "down_proj.weight")) for name in changed)
    adapted = PeftModel.from_pretrained(load_base(base, "auto"), str(adapter))
    torch.testing.assert_close(
        _logits(load_base(out, "auto")), _logits(adapted), rtol=1e-3, atol=1e-3
    )
    assert not torch.allclose(_logits(adapted), _logits(load_base(base, "auto")), atol=1e-2)


def test_a_large_model_is_saved_in_shards_in_its_stored_dtype(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file

    from bakehouse_runtime.export import merge_adapter

    base, adapter, out = (tmp_path / name for name in ("base", "adapter", "out"))
    write_family(base, "gemma3")
    load_base(base, torch.bfloat16).save_pretrained(base)
    _write_adapter(base, adapter)
    out.mkdir()
    monkeypatch.setattr(merge_adapter, "_SHARD", "100KB")
    save_merged(load_with_adapter(base, adapter), base, out)
    index = read_object(out / "model.safetensors.index.json")
    assert set(index["weight_map"].values()) == {file.name for file in out.glob("*.safetensors")}
    merged = {k: v for file in out.glob("*.safetensors") for k, v in load_file(file).items()}
    assert {one.dtype for one in merged.values()} == {torch.bfloat16}
    assert set(merged) == set(load_file(base / "model.safetensors")) == set(index["weight_map"])


def test_an_adapter_of_another_model_is_refused(tmp_path: Path) -> None:
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    write_family(base, "llama")
    write_family(tmp_path / "other", "gemma3")
    _write_adapter(tmp_path / "other", adapter)
    with pytest.raises(PlainError, match=r"has no place for model\.language_model\.layers\.0"):
        load_with_adapter(base, adapter)
    config = read_object(adapter / "adapter_config.json")
    write_json(adapter / "adapter_config.json", config | {"target_modules": ["unheard"]})
    with pytest.raises(PlainError, match="does not fit the base model"):
        load_with_adapter(base, adapter)


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("llama", []),
        ("gemma3", ["model.vision_tower", "model.multi_modal_projector"]),
        ("qwen3_5", ["model.visual"]),
    ],
)
def test_names_the_encoders_of_a_multimodal_base(
    tmp_path: Path, family: str, names: list[str]
) -> None:
    assert encoder_names(load_base(write_family(tmp_path, family), "auto")) == names
