"""Tests training on preferences: its effect, its reports, and that it matches TRL's loss."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora.run import read_inputs
from preferences import dpo_spec, preference_rows
from train_spec import LINEAR, adapter_of, build, curve, finish, kill_at_checkpoint, losses, start

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

_HELD_OUT = ["eval_loss", "eval_reward_accuracy", "eval_reward_margin"]


def test_learns_a_preference_but_not_random_pairs(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def held_out(folder: str, rows: list[dict[str, str]]) -> tuple[dict[str, float], Any]:
        (tmp_path / folder).mkdir()
        spec = dpo_spec(server, tmp_path / folder, tied_model, rows, epochs=2)
        trainer = build(spec, tied_model, tmp_path / folder)
        before = trainer.evaluate()
        trainer.train()
        return before, trainer.evaluate()

    before, after = held_out("kind", preference_rows())
    assert before["eval_loss"] == pytest.approx(math.log(2))
    assert before["eval_reward_accuracy"] == 0
    assert after["eval_reward_accuracy"] >= 0.9
    assert after["eval_reward_margin"] > 0
    _, after = held_out("chance", preference_rows(Random(5)))
    assert 0.2 <= after["eval_reward_accuracy"] <= 0.8


@pytest.mark.parametrize("sft_weight", [0.0, 0.5])
def test_losses_match_plain_trl(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, sft_weight: float
) -> None:
    """TRL's own trainer gets the same rows as texts, which it tokenises and batches itself."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import DPOConfig, DPOTrainer

    from bakehouse_runtime.train.lora.config import lora_config, settings
    from bakehouse_runtime.train.lora.trainer import build_trainer

    rows = preference_rows()[:24]
    lora = {"dropout": 0.0}
    spec = dpo_spec(
        server, tmp_path, tied_model, rows, epochs=1, beta=0.3, sft_weight=sft_weight, lora=lora
    )
    prepared = prepare_examples(
        tmp_path / "pairs.jsonl",
        spec.data,
        read_model_tokens(tied_model),
        256,
        holds_out=False,
        objective="dpo",
    )
    ours = build_trainer(spec, tied_model, tmp_path, prepared, LINEAR, "cpu", 6, [])
    ours.train()

    losses = {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 0.5]} if sft_weight else {}
    trls = DPOTrainer(
        AutoModelForCausalLM.from_pretrained(tied_model),
        args=DPOConfig(**settings(spec, "cpu", tmp_path, 6, evaluates=False), beta=0.3, **losses),
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": [{"role": "user", "content": row["prompt"]}],
                    "chosen": [{"role": "assistant", "content": row["chosen"]}],
                    "rejected": [{"role": "assistant", "content": row["rejected"]}],
                }
                for row in rows
            ]
        ),
        processing_class=AutoTokenizer.from_pretrained(tied_model),
        peft_config=lora_config(adapter_of(spec), LINEAR),
    )
    trls.train()
    points = [
        [(point["loss"], point["rewards/margins"]) for point in one.state.log_history[:-1]]
        for one in (ours, trls)
    ]
    assert len(points[0]) == 6
    assert points[0][5][0] < 0.8 * points[0][0][0]
    for one, other in zip(*points, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("sft_weight", [0.0, 0.5])
def test_measurements_do_not_depend_on_the_batches(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, sft_weight: float
) -> None:
    # Long answers have other losses than short ones.
    rows = [
        {"prompt": f"Number {i}?", "chosen": f"{'so ' * (i % 5) ** 2}there {i}", "rejected": "no"}
        for i in range(40)
    ]
    measured: list[dict[str, float]] = []
    for size in (1, 5):
        spec = dpo_spec(
            server, tmp_path, tied_model, rows, eval_batch_size=size, sft_weight=sft_weight
        )
        trainer = build(spec, tied_model, tmp_path)
        for name, weight in trainer.model.named_parameters():
            if "lora_B" in name:
                weight.data.fill_(0.01)
        found = trainer.evaluate()
        assert not any("dpo_loss" in name or "sft_loss" in name for name in found)
        measured.append({name: found[name] for name in _HELD_OUT})
    assert measured[0] == pytest.approx(measured[1], rel=5e-3, abs=5e-3)


@pytest.mark.soak
def test_a_killed_run_resumes_with_the_same_curves(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = dpo_spec(server, tmp_path, tied_model, epochs=3, learning_rate=0.001)
    kill_at_checkpoint(server, spec, 8)
    assert finish(start(spec)) == 0

    result = server.reports[-1]
    assert result["type"] == "result"
    names = ["reward_accuracy", "reward_margin", *_HELD_OUT]
    killed = {name: curve(server, name) for name in names}
    assert sorted(killed["reward_margin"]) == sorted(losses(server)) == list(range(1, 25))
    assert all(len(set(values)) == 1 for values in losses(server).values())
    for name in _HELD_OUT:
        assert sorted(killed[name]) == [0, 8, 16, 24]
    assert killed["eval_loss"][0] == pytest.approx(math.log(2))
    summary = result["summary"]
    assert summary["eval_loss_base"] == pytest.approx(math.log(2))
    best = summary["best_step"]
    assert summary["eval_loss"] == killed["eval_loss"][best]
    assert summary["eval_reward_accuracy"] == killed["eval_reward_accuracy"][best] >= 0.9
    (answers,) = server.of_type("held_out_answers")
    assert answers["rows"][0]["expected"].startswith("Yes, ")
    card = (server.artefacts / "README.md").read_text()
    assert "| Objective | DPO, beta 0.1 |" in card
    assert "question `prompt`, better answer `chosen`, worse answer `rejected`" in card
    assert f"Reward accuracy: {summary['eval_reward_accuracy']:.4f}" in card
    assert '"dpo"' in card
    assert "erplexity" not in card
    assert (server.artefacts / "adapter.gguf").exists()

    # The same run, never killed.
    (tmp_path / "again").mkdir()
    server.reports.clear()
    again = dpo_spec(server, tmp_path / "again", tied_model, epochs=3, learning_rate=0.001)
    assert finish(start(again)) == 0
    assert {name: curve(server, name) for name in names} == killed


def test_a_non_finite_loss_ends_a_run_with_a_remedy(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from bakehouse_runtime.train.lora.callback import TrainingCallback

    trainer = build(
        dpo_spec(server, tmp_path, tied_model, learning_rate=1e38), tied_model, tmp_path
    )
    trainer.add_callback(TrainingCallback(MagicMock(stop_requested=False), 8, lambda _: None))
    with pytest.raises(PlainError, match=r"at step 2; a smaller learning rate than 1e\+38"):
        trainer.train()


def test_rejects_an_adapter_on_lm_head(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path
) -> None:
    lora = {"target_modules": ["q_proj", "lm_head"]}
    spec = dpo_spec(server, tmp_path, tiny_model, lora=lora)
    with pytest.raises(PlainError, match="DPO cannot train an adapter on lm_head: leave it out"):
        read_inputs(spec, tiny_model, tmp_path)
