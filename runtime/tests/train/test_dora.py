"""Tests DoRA: its losses match PEFT's, and the merged model equals the trained one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.train.lora import config
from references.alone import COMPARED, COMPARED_ADAPTERS, both, loaded
from serving import require_served_as_trained
from train_spec import LINEAR, finish, kill_at_checkpoint, losses, start, train_spec, with_base_gguf

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.protocol import Objective, TrainTextSpec
    from bakehouse_server import BakehouseServer

_DORA = {"use_dora": True}


@pytest.fixture
def float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL computes the loss at other positions than our trainers, and bfloat16 would round the sums
    differently."""
    monkeypatch.setattr(config, "has_bfloat16", lambda _: False)


def dora_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any
) -> TrainTextSpec:
    """Returns a DoRA run on a base with a GGUF."""
    lora = _DORA | parameters.pop("lora", {})
    spec = train_spec(server, tmp_path, model, lora=lora, **parameters)
    return with_base_gguf(server, tmp_path, spec, model)


@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("objective", COMPARED_ADAPTERS)
def test_losses_match_plain_peft(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, objective: Objective
) -> None:
    from peft import LoraConfig

    # With dropout DoRA multiplies by the base twice; TRL disables dropout when it compares.
    dropout = 0.05 if objective == "sft" else 0.0

    def pair(use_dora: bool) -> Any:
        adapter = LoraConfig(
            r=8,
            lora_alpha=16,
            lora_dropout=dropout,
            use_dora=use_dora,
            target_modules=LINEAR,
            task_type="CAUSAL_LM",
        )
        lora = {"dropout": dropout} | _DORA
        return both(server, tmp_path, tied_model, objective, adapter, lora=lora)

    names, steps = COMPARED[objective]
    same = pair(use_dora=True)
    same.assert_same(*names, steps=steps)
    magnitudes = [
        weight for name, weight in same.ours.model.named_parameters() if "magnitude" in name
    ]
    assert len(magnitudes) == 2 * len(LINEAR)
    with pytest.raises(AssertionError):
        pair(use_dora=False).assert_same(*names, steps=steps)


def test_a_run_exports_a_merged_model_and_its_adapter(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    assert finish(start(dora_spec(server, tmp_path, tied_model, epochs=12))) == 0
    left = server.artefacts
    assert {file.relative_to(left).as_posix() for file in left.rglob("*") if file.is_file()} == {
        "README.md",
        "adapter/adapter_config.json",
        "adapter/adapter_model.safetensors",
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "model-F16.gguf",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    summary = server.reports[-1]["summary"]
    assert summary["eval_loss"] < 0.5 * summary["eval_loss_base"]
    assert summary["target_modules"] == ", ".join(LINEAR)
    card = (left / "README.md").read_text()
    assert "A DoRA fine-tune of Tiny Llama, trained on Loaves" in card
    assert "| DoRA | rank 8, alpha 16, dropout 0.05 |" in card
    assert '(`subfolder="adapter"`)' in card
    require_served_as_trained(server, tmp_path / "serve", left / "model-F16.gguf")


def test_the_merged_model_matches_peft_with_the_adapter(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path
) -> None:
    import torch
    from peft import PeftConfig, PeftModel

    lora = {"target_modules": ["q_proj", "down_proj", "lm_head"]}
    spec = train_spec(server, tmp_path, tiny_model, epochs=4, lora=lora | _DORA)
    assert finish(start(spec)) == 0
    words = torch.arange(40)[None]

    def logits(model: Any) -> torch.Tensor:
        with torch.no_grad():
            return model.eval()(words).logits

    folder = str(server.artefacts)
    adapted = PeftModel.from_pretrained(loaded(tiny_model), folder, subfolder="adapter")
    merged = logits(loaded(server.artefacts))
    torch.testing.assert_close(merged, logits(adapted), rtol=1e-4, atol=1e-4)
    # The magnitudes matter.
    plain: Any = PeftConfig.from_pretrained(folder, subfolder="adapter")
    plain.use_dora = False
    undirected = PeftModel.from_pretrained(
        loaded(tiny_model), folder, subfolder="adapter", config=plain
    )
    assert (merged - logits(undirected)).abs().max() > 0.01


@pytest.mark.soak
def test_a_killed_run_resumes_with_the_same_losses_and_bytes(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def spec(folder: str) -> TrainTextSpec:
        (tmp_path / folder).mkdir()
        return train_spec(server, tmp_path / folder, tied_model, epochs=3, lora=_DORA)

    def left() -> tuple[Any, ...]:
        found = {step: set(values) for step, values in losses(server).items()}
        (answers,) = server.of_type("held_out_answers")
        weights = [file.read_bytes() for file in sorted(server.artefacts.rglob("*.safetensors"))]
        assert len(weights) == 2
        return found, answers["rows"], weights

    killed = spec("killed")
    kill_at_checkpoint(server, killed, 8)
    assert finish(start(killed)) == 0
    after = left()
    assert any("Continuing from" in report["line"] for report in server.of_type("log"))

    server.reports.clear()
    assert finish(start(spec("whole"))) == 0
    assert left() == after


def test_keeps_the_magnitudes_of_the_lowest_loss(tmp_path: Path, tied_model: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model

    from bakehouse_runtime.train.lora.best import Best, BestWeights

    adapter = LoraConfig(r=2, use_dora=True, target_modules=["q_proj"], task_type="CAUSAL_LM")
    model: Any = get_peft_model(loaded(tied_model), adapter)
    magnitudes = [one for name, one in model.named_parameters() if "magnitude" in name]
    assert len(magnitudes) == 2
    best = BestWeights(tmp_path / "best.safetensors")
    for step, loss in [(8, 2.0), (16, 1.5), (24, 1.75)]:
        for weight in magnitudes:
            torch.nn.init.constant_(weight, step)
        best.record(model, step, loss)
        best.save()
    assert BestWeights(best.file).restore(model, 24) == Best(16, 1.5)
    assert {number for one in magnitudes for number in one.tolist()} == {16.0}
