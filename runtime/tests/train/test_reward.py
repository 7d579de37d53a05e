"""Reward models: what is learnt, that it is TRL's own loss, and that the card's code scores."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora.run import read_inputs
from preferences import preference_rows, reward_spec
from train_spec import LINEAR, adapter_of, build, curve, finish, kill_at_checkpoint, losses, start

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

_HELD_OUT = ["eval_loss", "eval_reward_accuracy", "eval_reward_margin"]


def test_a_preference_is_learnt_and_chance_is_not(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def held_out(folder: str, rows: list[dict[str, str]]) -> dict[str, float]:
        (tmp_path / folder).mkdir()
        spec = reward_spec(server, tmp_path / folder, tied_model, rows, epochs=2)
        trainer = build(spec, tied_model, tmp_path / folder)
        trainer.train()
        return trainer.evaluate()

    after = held_out("kind", preference_rows())
    assert after["eval_reward_accuracy"] >= 0.9
    assert after["eval_reward_margin"] > 1
    assert after["eval_loss"] < 0.4
    after = held_out("chance", preference_rows(Random(5)))
    assert 0.2 <= after["eval_reward_accuracy"] <= 0.8


@pytest.mark.parametrize("use_rslora", [False, True])
def test_the_losses_are_those_of_trl_alone(
    server: BakehouseServer,
    tmp_path: Path,
    tied_model: Path,
    monkeypatch: pytest.MonkeyPatch,
    use_rslora: bool,
) -> None:
    """TRL's own trainer on the same rows as texts, which it tokenises and batches by itself."""
    import torch
    from datasets import Dataset
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, set_seed
    from trl import RewardConfig, RewardTrainer

    from bakehouse_runtime.train.lora import config
    from bakehouse_runtime.train.lora.trainer import build_trainer

    # Gradients in 16 bits are rounded otherwise where the base is held in them.
    monkeypatch.setattr(config, "has_bfloat16", lambda _: False)
    rows = preference_rows()[:24]
    lora = {"dropout": 0.0, "use_rslora": use_rslora}
    spec = reward_spec(server, tmp_path, tied_model, rows, epochs=1, lora=lora)
    prepared = prepare_examples(
        tmp_path / "pairs.jsonl",
        spec.data,
        read_model_tokens(tied_model),
        256,
        holds_out=False,
        objective="reward",
    )
    ours = build_trainer(spec, tied_model, tmp_path, prepared, LINEAR, "cpu", 6, [])
    ours.train()

    adapter = config.lora_config(adapter_of(spec), LINEAR)
    adapter.task_type = "SEQ_CLS"
    adapter.modules_to_save = ["score"]
    set_seed(spec.data.seed)
    known = config.settings(spec, "cpu", tmp_path, 6, evaluates=False)
    del known["router_aux_loss_coef"]
    trls = RewardTrainer(
        AutoModelForSequenceClassification.from_pretrained(
            tied_model, num_labels=1, dtype=torch.float32
        ),
        args=RewardConfig(**known),
        train_dataset=Dataset.from_list(
            [
                {
                    side: [
                        {"role": "user", "content": row["prompt"]},
                        {"role": "assistant", "content": row[side]},
                    ]
                    for side in ("chosen", "rejected")
                }
                for row in rows
            ]
        ),
        processing_class=AutoTokenizer.from_pretrained(tied_model),
        peft_config=adapter,
    )
    trls.train()
    points = [
        [
            [point[name] for name in ("loss", "accuracy", "margin", "grad_norm")]
            for point in one.state.log_history[:-1]
        ]
        for one in (ours, trls)
    ]
    assert len(points[0]) == 6
    assert points[0][5][0] < 0.8 * points[0][0][0]
    for one, other in zip(*points, strict=True):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-5)


def test_what_is_measured_does_not_depend_on_the_batches(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    rows = [
        {"prompt": f"Number {i}?", "chosen": f"{'so ' * (i % 5) ** 2}there {i}", "rejected": "no"}
        for i in range(40)
    ]
    measured: list[dict[str, float]] = []
    for size in (1, 5):
        spec = reward_spec(server, tmp_path, tied_model, rows, eval_batch_size=size)
        found = build(spec, tied_model, tmp_path).evaluate()
        measured.append({name: found[name] for name in _HELD_OUT})
    assert measured[0]["eval_reward_accuracy"] == measured[1]["eval_reward_accuracy"]
    assert measured[0] == pytest.approx(measured[1], rel=2e-2, abs=2e-2)


def test_a_killed_run_makes_the_same_bytes_and_its_card_says_how_they_score(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    changes: dict[str, Any] = {"epochs": 3, "learning_rate": 0.003}
    spec = reward_spec(server, tmp_path, tied_model, **changes)
    kill_at_checkpoint(server, spec, 8)
    assert finish(start(spec)) == 0

    result = server.reports[-1]
    assert result["type"] == "result"
    names = ["reward_accuracy", "reward_margin", *_HELD_OUT]
    killed = {name: curve(server, name) for name in names}
    assert sorted(killed["reward_margin"]) == sorted(losses(server)) == list(range(1, 25))
    assert all(len(set(values)) == 1 for values in losses(server).values())
    assert all(sorted(killed[name]) == [0, 8, 16, 24] for name in _HELD_OUT)
    summary = result["summary"]
    best = summary["best_step"]
    assert summary["eval_loss"] == min(killed["eval_loss"][step] for step in (8, 16, 24))
    for name in _HELD_OUT:
        assert summary[name] == killed[name][best]
    assert summary["eval_reward_accuracy"] >= 0.9
    # It writes no answers, and llama.cpp has no use for it.
    assert not server.of_type("held_out_answers")
    assert not (server.artefacts / "adapter.gguf").exists()
    config = json.loads((server.artefacts / "adapter_config.json").read_text())
    assert config["task_type"] == "SEQ_CLS"
    assert "score" in config["modules_to_save"]
    card = (server.artefacts / "README.md").read_text()
    assert "A reward model: a LoRA adapter with a head that gives a score, for Tiny Llama" in card
    assert '"text-classification"' in card
    assert f"Reward accuracy: {summary['eval_reward_accuracy']:.4f}" in card
    assert f"Mean margin: {summary['eval_reward_margin']:.4f}" in card
    assert "erplexity" not in card

    kind = _score(card, server.artefacts, tied_model, "Yes, 3 loaves, with pleasure.")
    assert kind > _score(card, server.artefacts, tied_model, "No. 3 it is.") + 1

    # The same run, never killed.
    made = (server.artefacts / "adapter_model.safetensors").read_bytes()
    (tmp_path / "again").mkdir()
    server.reports.clear()
    assert finish(start(reward_spec(server, tmp_path / "again", tied_model, **changes))) == 0
    assert {name: curve(server, name) for name in names} == killed
    assert (server.artefacts / "adapter_model.safetensors").read_bytes() == made


def test_the_card_scores_as_the_trained_model_does(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best weights are put back with their head, and what is written of them scores alike."""
    import torch

    from bakehouse_runtime.train.lora import config
    from bakehouse_runtime.train.lora.best import BestWeights
    from bakehouse_runtime.train.lora.reward_use import reward_use

    monkeypatch.setattr(config, "has_bfloat16", lambda _: False)
    trainer = build(reward_spec(server, tmp_path, tied_model, epochs=1), tied_model, tmp_path)

    def score() -> float:
        messages = [
            {"role": "user", "content": "Which number is one?"},
            {"role": "assistant", "content": "Yes, 0 loaves, with pleasure."},
        ]
        tokens = trainer.processing_class.apply_chat_template(
            messages, return_tensors="pt", return_dict=True
        )
        trainer.model.eval()
        with torch.no_grad():
            return trainer.model(**tokens).logits.item()

    trainer.train()
    best = BestWeights(tmp_path / "best.safetensors")
    best.note(trainer.model, 8, 0.5)
    best.save()
    before = score()
    for weight in trainer.model.parameters():
        if weight.requires_grad:
            weight.data.zero_()
    assert score() == 0
    best.restore(trainer.model, 9)
    assert score() == before
    trainer.model.save_pretrained(str(tmp_path / "out"))
    trainer.processing_class.save_pretrained(str(tmp_path / "out"))
    said = _score(
        reward_use(None),
        tmp_path / "out",
        tied_model,
        "Yes, 0 loaves, with pleasure.",
        "Which number is one?",
    )
    assert said == pytest.approx(before, abs=1e-5)


def test_what_it_cannot_train_is_refused(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path
) -> None:
    def refused(**changes: Any) -> str:
        with pytest.raises(PlainError) as error:
            read_inputs(reward_spec(server, tmp_path, tiny_model, **changes), tiny_model, tmp_path)
        return str(error.value)

    assert "trains an adapter and a head: choose LoRA" in refused(lora=None)
    head = {"target_modules": ["q_proj", "lm_head"]}
    assert "Reward modeling cannot train an adapter on lm_head" in refused(lora=head)
    assert "Reward modeling looks at each answer" in refused(packing=True)


def _score(
    card: str, folder: Path, base: Path, answer: str, question: str = "Which number is four?"
) -> float:
    """What the code of the card says of an answer, with its words and folders in place."""
    found = re.search(r"```python\n(.*?)```", card, re.DOTALL)
    assert found is not None
    code = re.sub(r"^base = .*$", f"base = {str(base)!r}", found[1], flags=re.MULTILINE)
    code = re.sub(r"^adapter = .*$", f"adapter = {str(folder)!r}", code, flags=re.MULTILINE)
    code = code.replace("When does the bakery open?", question)
    code = code.replace("At seven, with pleasure.", answer)
    names: dict[str, Any] = {}
    exec(code, names)
    return names["score"]
