"""Tests a full fine-tune: its effect, its reports and files, and that it matches TRL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora import config
from references.alone import COMPARED, both, loaded
from serving import require_served_as_trained
from tiny_model import write_tiny_gguf, write_tiny_model
from train_spec import finish, kill_at_checkpoint, losses, start, train_spec, with_base_gguf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakehouse_runtime.protocol import Objective, TrainTextSpec
    from bakehouse_server import BakehouseServer

_RATE = {"learning_rate": 1e-3, "lora": None}


@pytest.fixture(autouse=True)
def float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL computes the loss at other positions than our trainers, and bfloat16 would round the sums
    differently."""
    monkeypatch.setattr(config, "has_bfloat16", lambda _: False)


def full_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any
) -> TrainTextSpec:
    """Returns a full fine-tune of a base with a GGUF."""
    spec = train_spec(server, tmp_path, model, **(_RATE | parameters))
    return with_base_gguf(server, tmp_path, spec, model)


@pytest.mark.parametrize("objective", COMPARED)
def test_losses_match_plain_trl(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, objective: Objective
) -> None:
    pair = both(server, tmp_path, tied_model, objective, **_RATE)
    names, steps = COMPARED[objective]
    pair.assert_same(*names, steps=steps)
    history = pair.ours.state.log_history
    if objective == "sft":
        assert history[-2]["loss"] < 0.8 * history[0]["loss"]
    # With the trained model itself as the reference, these would stay 0.
    elif objective == "grpo":
        assert history[-2]["kl"] > 0
    else:
        assert history[-2]["rewards/margins"] > 0.1


def test_a_run_exports_a_whole_model_that_answers_as_trained(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = full_spec(server, tmp_path, tied_model, epochs=12)
    kept: list[int] = []
    checkpoints = tmp_path / "work" / "checkpoints"
    server.on_report = lambda report: (
        kept.append(len(list(checkpoints.glob("checkpoint-*/whole.json"))))
        if report["type"] == "progress"
        else None
    )
    assert finish(start(spec)) == 0

    assert {file.name for file in server.artefacts.iterdir()} == {
        "README.md",
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "model-F16.gguf",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert max(kept) == 1
    for name in ("config.json", "generation_config.json", "tokenizer.json"):
        assert (server.artefacts / name).read_text() == (tied_model / name).read_text()
    summary = server.reports[-1]["summary"]
    assert summary["eval_loss"] < 0.5 * summary["eval_loss_base"]
    assert "target_modules" not in summary
    card = (server.artefacts / "README.md").read_text()
    assert "A full fine-tune of Tiny Llama, trained on Loaves" in card
    assert "`model-F16.gguf` loads with llama.cpp" in card
    assert "| Trained | all weights of the base model, in float32 |" in card
    assert "LoRA" not in card
    assert "adapter" not in card
    server.on_report = lambda _: None
    require_served_as_trained(server, tmp_path / "serve", server.artefacts / "model-F16.gguf")


@pytest.mark.soak
def test_a_killed_run_resumes_with_the_same_losses_and_model(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def spec(folder: str) -> TrainTextSpec:
        (tmp_path / folder).mkdir()
        return train_spec(server, tmp_path / folder, tied_model, epochs=3, **_RATE)

    def left() -> tuple[Any, ...]:
        found = {step: set(values) for step, values in losses(server).items()}
        (answers,) = server.of_type("held_out_answers")
        return found, answers["rows"], (server.artefacts / "model.safetensors").read_bytes()

    killed = spec("killed")
    kill_at_checkpoint(server, killed, 8)
    assert finish(start(killed)) == 0
    after = left()
    assert any("Continuing from" in report["line"] for report in server.of_type("log"))

    server.reports.clear()
    assert finish(start(spec("whole"))) == 0
    assert left() == after


def test_keeps_the_weights_of_the_lowest_loss_in_the_bases_dtype(
    tmp_path: Path, tied_model: Path
) -> None:
    import torch

    from bakehouse_runtime.train.lora.best import Best, BestWeights

    model = loaded(tied_model)
    best = BestWeights(tmp_path / "best.safetensors", dtype=torch.bfloat16)
    for step, loss in [(8, 2.0), (16, 1.5), (24, 1.75)]:
        for weight in model.parameters():
            torch.nn.init.constant_(weight, step + 1 / 3)
        best.record(model, step, loss)
        best.save()
    assert best.file.stat().st_size < 2.2 * sum(one.numel() for one in model.parameters())
    again = BestWeights(best.file, dtype=torch.bfloat16)
    assert again.restore(model, 24) == Best(16, 1.5)
    rounded = torch.tensor(16 + 1 / 3, dtype=torch.bfloat16).item()
    assert {number for one in model.parameters() for number in one.flatten().tolist()} == {rounded}


def other_weights(folder: Path, model: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(model / "model.safetensors")
    name = "model.layers.1.self_attn.q_proj.weight"
    weights[name] = weights[name].flip(0).contiguous()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def other_family(folder: Path, model: Path) -> None:
    config_of = json.loads((model / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config_of | {"num_hidden_layers": 1}))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (other_weights, "other weights than its safetensors in blk.1.attn_q.weight"),
        (other_family, "llama.cpp has no place for model.layers.1"),
        (None, None),
    ],
)
def test_rejects_a_gguf_of_another_model(
    tmp_path: Path,
    tied_model: Path,
    spoil: Callable[[Path, Path], None] | None,
    message: str | None,
) -> None:
    from bakehouse_runtime.train.lora.whole_gguf import write_full_gguf

    base = tmp_path / "base"
    base.mkdir()
    for file in tied_model.iterdir():
        (base / file.name).write_bytes(file.read_bytes())
    if spoil:
        spoil(base, tied_model)
    source = write_tiny_gguf(tied_model, tmp_path / "base.gguf")
    tuned = write_tiny_model(tmp_path / "tuned", tied=True)
    target = tmp_path / "tuned.gguf"
    if message is None:
        write_full_gguf(source, base, tuned, target, "Loaves")
        assert target.exists()
        return
    with pytest.raises(PlainError, match=message):
        write_full_gguf(source, base, tuned, target, "Loaves")
