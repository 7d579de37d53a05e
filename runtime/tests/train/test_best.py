from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bakehouse_runtime.train.lora.best import Best, BestWeights
from train_spec import LINEAR, finish, start, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def adapted(model: Path, rank: int = 2, modules: tuple[str, ...] | list[str] = ("q_proj",)) -> Any:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(model)
    return get_peft_model(base, LoraConfig(r=rank, target_modules=list(modules)))


def fill(model: Any, value: float) -> None:
    for name, weight in model.named_parameters():
        if "lora_" in name:
            torch.nn.init.constant_(weight, value)


def filling(model: Any) -> set[float]:
    return {
        number
        for name, weight in model.named_parameters()
        if "lora_" in name
        for number in weight.flatten().tolist()
    }


def test_keeps_the_adapter_of_the_lowest_loss_over_restarts(
    tmp_path: Path, tiny_model: Path
) -> None:
    model = adapted(tiny_model)
    file = tmp_path / "best.safetensors"
    assert BestWeights(file).restore(model, 0) is None
    for step, loss in [(8, 2.0), (16, 1.5), (24, 1.75), (32, float("nan"))]:
        fill(model, step)
        # A new object each time, as after a restart of the run.
        best = BestWeights(file)
        best.record(model, step, loss)
        best.save()
    assert BestWeights(file).restore(model, 32) == Best(16, 1.5)
    assert filling(model) == {16.0}


def test_keeps_the_last_adapter_if_few_rows_are_held_out(tmp_path: Path, tiny_model: Path) -> None:
    model = adapted(tiny_model)
    best = BestWeights(tmp_path / "best.safetensors", chooses=False)
    for step, loss in [(8, 1.5), (16, 2.0)]:
        fill(model, step)
        best.record(model, step, loss)
        best.save()
    assert best.restore(model, 16) == Best(16, 2.0)
    assert filling(model) == {16.0}


def test_writes_the_best_adapter_only_with_a_checkpoint(tmp_path: Path, tiny_model: Path) -> None:
    model = adapted(tiny_model)
    best = BestWeights(tmp_path / "best.safetensors")
    for step, loss in [(8, 2.0), (16, 1.5), (24, 1.75)]:
        fill(model, step)
        best.record(model, step, loss)
    assert not best.file.exists()
    best.save()
    fill(model, 32)
    best.record(model, 32, 1.75)
    assert BestWeights(best.file).restore(model, 32) == Best(16, 1.5)
    assert filling(model) == {16.0}
    fill(model, 40)
    best.record(model, 40, 1.25)
    fill(model, 48)
    assert best.restore(model, 48) == Best(40, 1.25)
    assert filling(model) == {40.0}


def test_a_run_exports_the_adapter_of_its_lowest_held_out_loss(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from safetensors.torch import load_file

    spec = train_spec(server, tmp_path, tied_model, epochs=2)
    # An earlier attempt has stored weights with a loss so low that no later step reaches it.
    best = tmp_path / "work" / "best_adapter.safetensors"
    best.parent.mkdir(exist_ok=True)
    model = adapted(tied_model, rank=8, modules=LINEAR)
    fill(model, 0.5)
    earlier = BestWeights(best)
    earlier.record(model, 8, 0.25)
    earlier.save()
    assert finish(start(spec)) == 0
    summary = server.reports[-1]["summary"]
    assert (summary["best_step"], summary["steps"], summary["eval_loss"]) == (8, 16, 0.25)
    assert any("lowest at step 8:" in report["line"] for report in server.of_type("log"))
    card = (server.artefacts / "README.md").read_text()
    assert "| with this adapter | 0.2500 |" in card
    assert "| This adapter is of step | 8 |" in card
    exported = load_file(server.artefacts / "adapter_model.safetensors")
    assert all(bool((weight == 0.5).all()) for weight in exported.values())
