"""Tests training on rated answers: its effect, its reports, and that it matches TRL's loss."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora.run import read_inputs
from preferences import feedback_rows, kto_spec
from train_spec import LINEAR, adapter_of, build, curve, finish, kill_at_checkpoint, losses, start

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

_HELD_OUT = ["eval_loss", "eval_reward_accuracy", "eval_reward_margin"]


def test_learns_ratings_but_not_random_ones(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def held_out(folder: str, rows: list[dict[str, Any]]) -> tuple[dict[str, float], Any]:
        (tmp_path / folder).mkdir()
        spec = kto_spec(server, tmp_path / folder, tied_model, rows, epochs=2)
        trainer = build(spec, tied_model, tmp_path / folder)
        before = trainer.evaluate()
        trainer.train()
        return before, trainer.evaluate()

    before, after = held_out("kind", feedback_rows())
    assert before["eval_loss"] == 0.5
    assert before["eval_reward_accuracy"] == before["eval_reward_margin"] == 0
    assert after["eval_loss"] < 0.45
    assert after["eval_reward_accuracy"] >= 0.9
    assert after["eval_reward_margin"] > 0.2
    _, after = held_out("chance", feedback_rows(Random(5)))
    assert 0.2 <= after["eval_reward_accuracy"] <= 0.8


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.5, 0.5)])
def test_losses_match_plain_trl(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, weights: tuple[float, float]
) -> None:
    """TRL's own trainer gets the same rows as texts, which it tokenises and batches itself."""
    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import KTOConfig, KTOTrainer

    from bakehouse_runtime.train.lora.config import lora_config, settings
    from bakehouse_runtime.train.lora.trainer import build_trainer

    rows = feedback_rows()[:24]
    # This answer is the longest, and exceeds the chunk when it is paired with another question.
    rows[3]["completion"] = "No, " * 30
    rows[4]["prompt"] = "Please? " * 30
    weighed = dict(zip(("desirable_weight", "undesirable_weight"), weights, strict=True))
    spec = kto_spec(
        server, tmp_path, tied_model, rows, epochs=2, beta=0.3, lora={"dropout": 0.0}, **weighed
    )
    prepared = prepare_examples(
        tmp_path / "rated.jsonl",
        spec.data,
        read_model_tokens(tied_model),
        256,
        holds_out=False,
        objective="kto",
    )
    ours = build_trainer(spec, tied_model, tmp_path, prepared, LINEAR, "cpu", 12, [])
    # TRL supports no other order.
    ours.args.train_sampling_strategy = "sequential"
    ours.train()

    plain = settings(spec, "cpu", tmp_path, 12, evaluates=False)
    trls = KTOTrainer(
        AutoModelForCausalLM.from_pretrained(tied_model, dtype=torch.float32),
        args=KTOConfig(**(plain | {"max_length": 128}), beta=0.3, **weighed),
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": [{"role": "user", "content": row["prompt"]}],
                    "completion": [{"role": "assistant", "content": row["completion"]}],
                    "label": row["label"],
                }
                for row in rows
            ]
        ),
        processing_class=AutoTokenizer.from_pretrained(tied_model),
        peft_config=lora_config(adapter_of(spec), LINEAR),
    )
    trls.train()
    names = ("loss", "kl", "rewards/chosen", "rewards/rejected", "rewards/margins")
    points = [
        [[point[name] for name in names if name in point] for point in one.state.log_history[:-1]]
        for one in (ours, trls)
    ]
    assert len(points[0]) == 12
    assert points[0][11][0] < 0.9 * points[0][0][0]
    for one, other in zip(*points, strict=True):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.5, 0.5)])
def test_measures_trls_loss_independent_of_the_batches(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, weights: tuple[float, float]
) -> None:
    # Long answers have other losses than short ones.
    rows = [
        {
            "prompt": f"Number {i}?",
            "completion": f"{'so ' * (i % 5) ** 2}there {i}",
            "label": i % 3 == 0,
        }
        for i in range(40)
    ]
    weighed = dict(zip(("desirable_weight", "undesirable_weight"), weights, strict=True))
    measured: list[dict[str, float]] = []
    for size in (1, 5, 8):
        spec = kto_spec(server, tmp_path, tied_model, rows, eval_batch_size=size, **weighed)
        trainer = build(spec, tied_model, tmp_path)
        for name, weight in trainer.model.named_parameters():
            if "lora_B" in name:
                weight.data.fill_(0.01)
        found = trainer.evaluate()
        # The accuracy is not compared: rounding decides between two answers with equal gains.
        measured.append({name: found[name] for name in ("eval_loss", "eval_reward_margin")})
    assert measured[0] == pytest.approx(measured[1], rel=5e-3, abs=5e-3)
    # All held-out rows in one batch, as TRL computes it.
    import torch

    (batch,) = trainer.get_eval_dataloader()
    trainer.model.eval()
    with torch.no_grad(), trainer.compute_loss_context_manager():
        loss = float(trainer.compute_loss(trainer.model, batch))
    assert measured[2]["eval_loss"] == pytest.approx(loss, abs=1e-6)
    margin = trainer._metrics["eval"]["rewards/margins"][-1]
    assert measured[2]["eval_reward_margin"] == pytest.approx(margin, abs=1e-5)


def test_cuts_answers_to_other_questions_at_the_end_of_the_chunk(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    rows = feedback_rows()
    for at, row in enumerate(rows):
        row["prompt" if at % 2 else "completion"] = f"{at} " + "so " * 25
    trainer = build(kto_spec(server, tmp_path, tied_model, rows), tied_model, tmp_path)
    batch = trainer.data_collator([trainer.train_dataset[at] for at in range(8)])
    assert batch["KL_input_ids"].shape[1] == 128
    assert int(batch["KL_completion_mask"].sum(1).min()) > 0


@pytest.mark.soak
def test_a_killed_run_resumes_with_the_same_curves(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    changes: dict[str, Any] = {"epochs": 3, "learning_rate": 0.003, "undesirable_weight": 1.5}
    spec = kto_spec(server, tmp_path, tied_model, **changes)
    kill_at_checkpoint(server, spec, 16)
    assert finish(start(spec)) == 0

    result = server.reports[-1]
    assert result["type"] == "result"
    names = ["reward_margin", *_HELD_OUT]
    killed = {name: curve(server, name) for name in names}
    assert sorted(losses(server)) == list(range(1, 49))
    assert all(len(set(values)) == 1 for values in losses(server).values())
    for name in _HELD_OUT:
        assert sorted(killed[name]) == [0, 16, 32, 48]
    assert killed["eval_loss"][0] == 0.625
    summary = result["summary"]
    best = summary["best_step"]
    assert summary["eval_loss"] == killed["eval_loss"][best]
    assert summary["eval_reward_accuracy"] == killed["eval_reward_accuracy"][best] >= 0.9
    (answers,) = server.of_type("held_out_answers")
    assert answers["rows"]
    assert all(row["expected"].startswith("Yes, ") for row in answers["rows"])
    card = (server.artefacts / "README.md").read_text()
    assert "| Objective | KTO, beta 0.1, good answers x 1, bad ones x 1.5 |" in card
    assert "question `prompt`, answer `completion`, good or bad by `label`" in card
    assert f"Reward accuracy: {summary['eval_reward_accuracy']:.4f}" in card
    assert '"kto"' in card
    assert "erplexity" not in card
    assert (server.artefacts / "adapter.gguf").exists()

    # The same run, never killed.
    (tmp_path / "again").mkdir()
    server.reports.clear()
    assert finish(start(kto_spec(server, tmp_path / "again", tied_model, **changes))) == 0
    assert {name: curve(server, name) for name in names} == killed


def test_a_non_finite_loss_ends_a_run_with_a_remedy(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from bakehouse_runtime.train.lora.callback import TrainingCallback

    spec = kto_spec(server, tmp_path, tied_model, learning_rate=1e38)
    trainer = build(spec, tied_model, tmp_path)
    trainer.add_callback(TrainingCallback(MagicMock(stop_requested=False), 16, lambda _: None))
    with pytest.raises(PlainError, match=r"a smaller learning rate than 1e\+38"):
        trainer.train()


def test_rejects_unsupported_settings(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path, tied_model: Path
) -> None:
    lora = {"target_modules": ["q_proj", "lm_head"]}
    spec = kto_spec(server, tmp_path, tiny_model, lora=lora)
    with pytest.raises(PlainError, match="KTO cannot train an adapter on lm_head: leave it out"):
        read_inputs(spec, tiny_model, tmp_path)
    spec = kto_spec(server, tmp_path, tied_model, batch_size=1)
    with pytest.raises(PlainError, match="choose a batch size of at least 2"):
        build(spec, tied_model, tmp_path)
