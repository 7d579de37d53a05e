"""Tests training with reward rules: its effect, its reports, and that it matches TRL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora.objectives import grpo
from bakehouse_runtime.train.lora.run import read_inputs
from preferences import grpo_spec, prompt_rows
from train_spec import LINEAR, adapter_of, build, curve, finish, kill_at_checkpoint, losses, start

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

_DIGIT = {"type": "pattern", "pattern": "[0-9]", "weight": 1.0}
# Rewards every answer.
_ANYTHING = _DIGIT | {"pattern": "^"}
_SHORT = {"type": "pattern", "pattern": "^.{0,9}$", "weight": 0.5}


@pytest.mark.soak
def test_learns_a_rule_but_not_if_every_answer_is_rewarded(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def with_digits(folder: str, paid: dict[str, Any]) -> tuple[float, float]:
        """Returns the share of sampled answers with a digit, before and after training."""
        (tmp_path / folder).mkdir()
        spec = grpo_spec(
            server, tmp_path / folder, tied_model, [paid], epochs=4, learning_rate=0.03
        )
        trainer = build(spec, tied_model, tmp_path / folder)
        trainer.train()
        prompts = [row["prompt"] for row in trainer.eval_dataset for _ in range(16)]

        def part() -> float:
            answers = trainer._generate(prompts)[3]
            return sum(bool(re.search("[0-9]", answer)) for answer in answers) / len(answers)

        with trainer.model.disable_adapter():
            before = part()
        return before, part()

    before, after = with_digits("digits", _DIGIT)
    assert before < 0.3
    # 0.86 on one processor and 0.97 on another: answers are sampled, and a tiny rounding difference
    # changes them.
    assert after > 0.6
    before, after = with_digits("anything", _ANYTHING)
    assert before < 0.3
    assert after < 0.3


def test_rewards_and_losses_match_plain_trl(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRL's own trainer gets the same prompts as texts, which it tokenises itself."""
    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    from bakehouse_runtime.train.lora import config
    from bakehouse_runtime.train.lora.trainer import build_trainer

    # TRL generates answers in another dtype than it trains with.
    monkeypatch.setattr(config, "has_bfloat16", lambda _: False)
    rows = prompt_rows()[:8]
    rewards = [_DIGIT, _SHORT]
    spec = grpo_spec(
        server, tmp_path, tied_model, rewards, rows, epochs=2, beta=0.3, lora={"dropout": 0.0}
    )
    tokens = read_model_tokens(tied_model)
    path = tmp_path / "prompts.jsonl"
    prepared = prepare_examples(path, spec.data, tokens, 256, holds_out=False, objective="grpo")
    ours: Any = build_trainer(spec, tied_model, tmp_path, prepared, LINEAR, "cpu", 4, [])
    ours.shuffle_dataset = False
    ours.train()

    def digits(completions: list[str], **_: Any) -> list[float | None]:
        return [float(any("0" <= one <= "9" for one in text)) for text in completions]

    def short(completions: list[str], **_: Any) -> list[float | None]:
        return [float(len(text.strip()) < 10 and "\n" not in text.strip()) for text in completions]

    plain = config.settings(spec, "cpu", tmp_path, 4, evaluates=False)
    changes = {"per_device_train_batch_size": 32, "include_num_input_tokens_seen": "no"}
    prompts = [
        tokens.tokenizer.decode(prepared.train.example(at).tolist(), skip_special_tokens=False)
        for at in range(8)
    ]
    trls = GRPOTrainer(
        AutoModelForCausalLM.from_pretrained(tied_model, dtype=torch.float32),
        [digits, short],
        args=GRPOConfig(
            **(plain | changes),
            beta=0.3,
            num_generations=8,
            max_completion_length=6,
            reward_weights=[1.0, 0.5],
            shuffle_dataset=False,
        ),
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=AutoTokenizer.from_pretrained(tied_model),
        peft_config=config.lora_config(adapter_of(spec), LINEAR),
    )
    trls.train()
    names = ("loss", "kl", "reward", "reward_std", "completions/mean_length", "grad_norm")
    points = [
        [[point[name] for name in names] for point in one.state.log_history[:-1]]
        for one in (ours, trls)
    ]
    assert len(points[0]) == 4
    assert len({reward for _, _, reward, *_ in points[0]}) > 1
    for one, other in zip(*points, strict=True):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-6)


def test_each_epoch_has_all_rows_in_a_new_order(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    # The last row does not fill a batch.
    spec = grpo_spec(server, tmp_path, tied_model, [_DIGIT], prompt_rows()[:12], generations=2)
    trainer = build(spec, tied_model, tmp_path)
    batches = trainer.get_train_dataloader()
    epochs: list[list[list[int]]] = []
    for epoch in (0, 1, 0):
        batches.set_epoch(epoch)
        rows = [row for batch in batches for row in batch]
        assert [one["prompt"] for one in rows[::2]] == [one["prompt"] for one in rows[1::2]]
        epochs.append([row["prompt"] for row in rows[::2]])
    assert [len(batch) for batch in batches] == [8, 8, 2 * (len(epochs[0]) - 8)]
    assert epochs[0] == epochs[2] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(trainer.train_dataset["prompt"])


@pytest.mark.soak
def test_a_killed_run_resumes_with_the_same_curves(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    changes: dict[str, Any] = {"epochs": 3, "learning_rate": 0.03, "generations": 4}
    rewards = [_DIGIT, _SHORT, {"type": "match", "compare": "last_number", "weight": 2.0}]
    spec = grpo_spec(server, tmp_path, tied_model, rewards, **changes)
    kill_at_checkpoint(server, spec, 8)
    assert finish(start(spec)) == 0

    result = server.reports[-1]
    assert result["type"] == "result"
    paid = [f"reward/{name}" for name in ("pattern_1", "pattern_2", "match")]
    names = ["reward", "kl", "answer_tokens", "eval_reward", *paid]
    killed = {name: curve(server, name) for name in names}
    assert sorted(losses(server)) == list(range(1, 25))
    assert all(len(set(values)) == 1 for values in losses(server).values())
    assert sorted(killed["eval_reward"]) == [0, 8, 16, 24]
    assert not curve(server, "eval_loss")
    for step, reward in killed["reward"].items():
        pattern, short, match = (killed[name][step] for name in paid)
        assert reward == pytest.approx(pattern + 0.5 * short + 2 * match, abs=1e-5)
    summary = result["summary"]
    assert summary["eval_reward_base"] == killed["eval_reward"][0]
    assert summary["eval_reward"] == max(killed["eval_reward"][step] for step in (8, 16, 24))
    assert summary["eval_reward"] == killed["eval_reward"][summary["best_step"]]
    assert summary["eval_loss"] is None
    (answers,) = server.of_type("held_out_answers")
    assert all(row["expected"].isdecimal() for row in answers["rows"])
    card = (server.artefacts / "README.md").read_text()
    assert "GRPO, beta 0.1, 4 answers of up to 6 tokens at temperature 1" in card
    assert "rewards 1 x pattern, 0.5 x pattern, 2 x match" in card
    assert "prompts `prompt`, compared with `reference`" in card
    assert f"| with this adapter | {summary['eval_reward']:.4f} |" in card
    assert "erplexity" not in card
    assert (server.artefacts / "adapter.gguf").exists()

    # The same run, never killed.
    (tmp_path / "again").mkdir()
    server.reports.clear()
    again = grpo_spec(server, tmp_path / "again", tied_model, rewards, **changes)
    assert finish(start(again)) == 0
    assert {name: curve(server, name) for name in names} == killed


def test_generates_with_vllm_on_a_gpu_if_it_is_installed(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = grpo_spec(server, tmp_path, tied_model, [_DIGIT]).parameters

    def arguments(*, is_installed: bool, use_cpu: bool) -> Any:
        monkeypatch.setattr(grpo, "is_vllm_available", lambda: is_installed)
        settings = {"output_dir": str(tmp_path), "bf16": False, "report_to": "none"}
        batch = {"per_device_train_batch_size": parameters.batch_size, "use_cpu": use_cpu}
        return grpo.GRPO.arguments(parameters, settings | batch)

    assert not arguments(is_installed=True, use_cpu=True).use_vllm
    assert not arguments(is_installed=False, use_cpu=False).use_vllm
    chosen = arguments(is_installed=True, use_cpu=False)
    assert (chosen.use_vllm, chosen.vllm_mode) == (True, "colocate")


def test_rejects_unsupported_settings(
    server: BakehouseServer, tmp_path: Path, tiny_model: Path, tied_model: Path
) -> None:
    def refused(rewards: list[dict[str, Any]], model: Path = tied_model, **changes: Any) -> str:
        with pytest.raises(PlainError) as error:
            read_inputs(grpo_spec(server, tmp_path, model, rewards, **changes), model, tmp_path)
        return str(error.value)

    head = {"target_modules": ["q_proj", "lm_head"]}
    assert "GRPO cannot train an adapter on lm_head" in refused([_DIGIT], tiny_model, lora=head)
    assert "Packing is for SFT" in refused([_DIGIT], packing=True)
    assert "add one" in refused([])
    assert "Reward 1 (pattern)" in refused([_DIGIT | {"pattern": "(?=a)"}])
    assert "Answers of up to 128 tokens fill the chunk of 128" in refused(
        [_DIGIT], max_new_tokens=128
    )
    match = {"type": "match", "compare": "text", "weight": 1.0}
    rows = [{"prompt": f"Number {at}?"} for at in range(10)]
    assert "Reward 2 (match): there is nothing to compare" in refused([_DIGIT, match], rows=rows)
