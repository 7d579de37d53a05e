"""Tests the files of a run, and its card."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.files import read_object, write_json
from bakehouse_runtime.protocol import TrainTextSpec
from bakehouse_runtime.train.lora.config import lora_config
from bakehouse_runtime.train.lora.export import export
from bakehouse_runtime.train.lora.model_card import _duration
from bakehouse_runtime.train.lora.outcome import Outcome
from prepared import prepare, write_pairs
from train_spec import adapter_of, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

OUTCOME = Outcome(
    train_loss=1.0,
    train_loss_end=0.5,
    eval_loss_base=2.0,
    eval_loss=0.6,
    eval_reward_base=None,
    eval_reward=None,
    eval_reward_accuracy=None,
    eval_reward_margin=None,
    best_step=2,
    tokens=100,
    steps=2,
    steps_total=2,
    stopped_early=None,
    seconds=840.0,
    device="CPU",
    modules=["q_proj"],
    warnings=["lm_head is left out."],
    history=[],
)


def exported(
    server: BakehouseServer,
    tmp_path: Path,
    model: Path,
    base: Path,
    sources: dict[str, Any] | None = None,
) -> tuple[list[str], str]:
    """Returns the warnings and the card of an untrained adapter."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    loaded: Any = AutoModelForCausalLM.from_pretrained(model)
    adapted: Any = get_peft_model(loaded, LoraConfig(r=2, target_modules=["q_proj"]))
    prepared = prepare(write_pairs(tmp_path, 10), model)
    out = tmp_path / "out"
    spec = train_spec(server, tmp_path, model)
    told = TrainTextSpec.model_validate(spec.model_dump() | {"sources": sources})
    warnings = export(adapted, told, {"base_model": base}, out, prepared, OUTCOME)
    return warnings, (out / "README.md").read_text()


def test_a_card_explains_how_to_load_the_adapter(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    warnings, card = exported(server, tmp_path, tied_model, tied_model)
    assert warnings == []
    assert (tmp_path / "out" / "adapter.gguf").exists()
    assert "; `adapter.gguf` loads with llama.cpp (`--lora`)." in card
    assert "| Duration of the training steps alone | 14 min |" in card


def test_a_card_omits_missing_files_and_explains_why(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    base = tmp_path / "base"
    shutil.copytree(tied_model, base)
    write_json(base / "config.json", read_object(base / "config.json") | {"model_type": "unheard"})
    [warning], card = exported(server, tmp_path, tied_model, base)
    assert not (tmp_path / "out" / "adapter.gguf").exists()
    assert "adapter.gguf" not in card
    assert "`adapter_model.safetensors` loads with PEFT on the base model." in card
    assert warning.startswith("The adapter cannot be served by llama.cpp: ")
    assert f"- lm_head is left out.\n- {warning}\n" in card


def test_card_metadata_follows_the_format_of_hubs(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from huggingface_hub import ModelCard
    from peft import PeftConfig

    from_hub = "HuggingFaceTB/SmolLM2-135M"
    sources = {
        "base_model": from_hub,
        "base_model_commit": "a" * 40,
        "dataset": "ada/facts",
        "dataset_commit": "b" * 40,
        "license": "apache-2.0",
        "license_name": None,
        "license_link": None,
    }
    _, text = exported(server, tmp_path, tied_model, tied_model, sources)
    card: Any = ModelCard.load(tmp_path / "out" / "README.md").data
    assert (card.base_model, card.datasets, card.license) == (
        from_hub,
        ["ada/facts"],
        "apache-2.0",
    )
    assert (card.library_name, card.pipeline_tag) == ("peft", "text-generation")
    assert "lora" in card.tags
    measured = [
        (one.metric_type, one.metric_value, one.dataset_type, one.dataset_revision)
        for one in card.eval_results
    ]
    assert measured == [
        ("loss", 0.6, "ada/facts", "b" * 40),
        ("perplexity", pytest.approx(1.8221188), "ada/facts", "b" * 40),
        ("loss", 2.0, "ada/facts", "b" * 40),
    ]
    assert f"- Base model: `{from_hub}` at commit `{'a' * 40}`" in text
    config = PeftConfig.from_pretrained(str(tmp_path / "out"))
    assert config.base_model_name_or_path == from_hub


def test_a_card_omits_private_sources(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from huggingface_hub import ModelCard
    from peft import PeftConfig

    sources = dict.fromkeys(
        [
            *("base_model", "base_model_commit", "dataset", "dataset_commit"),
            *("license", "license_name", "license_link"),
        ]
    )
    _, text = exported(server, tmp_path, tied_model, tied_model, sources)
    card: Any = ModelCard.load(tmp_path / "out" / "README.md").data
    assert (card.base_model, card.datasets) == (None, None)
    assert "- Base model:" not in text
    assert "- Dataset:" not in text
    assert "None" not in text
    config = PeftConfig.from_pretrained(str(tmp_path / "out"))
    assert config.base_model_name_or_path is None


@pytest.mark.parametrize("use_rslora", [False, True])
def test_llama_cpp_scales_the_adapter_like_peft(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, use_rslora: bool
) -> None:
    import torch
    from gguf import GGUFReader
    from peft import get_peft_model
    from transformers import AutoModelForCausalLM

    lora = {"r": 4, "alpha": 6.0, "use_rslora": use_rslora}
    spec = train_spec(server, tmp_path, tied_model, lora=lora)
    loaded: Any = AutoModelForCausalLM.from_pretrained(tied_model)
    adapted: Any = get_peft_model(loaded, lora_config(adapter_of(spec), ["v_proj"]))
    layer = adapted.base_model.model.model.layers[0].self_attn.v_proj
    torch.nn.init.normal_(layer.lora_B["default"].weight)
    prepared = prepare(write_pairs(tmp_path, 10), tied_model)
    assert (
        export(adapted, spec, {"base_model": tied_model}, tmp_path / "out", prepared, OUTCOME) == []
    )

    reader = GGUFReader(tmp_path / "out" / "adapter.gguf")
    tensors = {tensor.name: torch.tensor(tensor.data) for tensor in reader.tensors}
    a, b = (tensors[f"blk.0.attn_v.weight.lora_{part}"] for part in "ab")
    # As llama.cpp computes it.
    scale = float(reader.fields["adapter.lora.alpha"].contents()) / a.shape[0]
    assert scale == pytest.approx(3.0 if use_rslora else 1.5)
    torch.testing.assert_close(scale * (b @ a), layer.get_delta_weight("default"))
    card = (tmp_path / "out" / "README.md").read_text()
    assert ("rank-stabilized" in card) == use_rslora


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (840, "14 min"),
        (874, "14 min 34 s"),
        (7200, "2 h"),
        (7205, "2 h"),
        (7500, "2 h 5 min"),
    ],
)
def test_formats_a_duration_like_the_page_of_the_run(seconds: float, said: str) -> None:
    assert _duration(seconds) == said
