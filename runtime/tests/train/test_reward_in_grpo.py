"""GRPO that is paid by a reward model: what the policy learns, and that the scores are its own."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.rewards.models import RewardModel
from bakehouse_runtime.rewards.rules import Answer
from bakehouse_runtime.train.lora.run import read_inputs
from preferences import grpo_spec, reward_spec
from train_spec import build, questions

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

_MODEL = {"type": "model", "model": "reward_1", "weight": 1.0}
_LETTERS = "abcdefghijklmnopqrstuvwxyz "


def _digit_rows(coin: Random | None = None) -> list[dict[str, Any]]:
    """Four pairs of answers to each of forty questions, words of no meaning, of which those with
    digits are better; with a coin by chance alone."""
    draw = Random(1)
    rows: list[dict[str, Any]] = []
    for question, _ in questions() * 4:
        plain = "".join(draw.choices(_LETTERS, k=draw.randint(3, 9))).strip() or "a"
        at = draw.randint(0, len(plain))
        pair = [f"{plain[:at]}{draw.randint(0, 99)}{plain[at:]}", plain]
        if coin is not None and coin.random() < 0.5:
            pair.reverse()
        rows.append({"prompt": question, "chosen": pair[0], "rejected": pair[1]})
    return rows


def _reward_model(
    server: BakehouseServer, folder: Path, base: Path, rows: list[dict[str, Any]]
) -> float:
    """Trains one into the inputs of a run; returns its accuracy on held-out pairs."""
    folder.mkdir()
    trainer = build(reward_spec(server, folder, base, rows, epochs=3), base, folder)
    trainer.train()
    inputs = folder / "inputs"
    trainer.model.save_pretrained(str(inputs / "reward_1"))
    trainer.processing_class.save_pretrained(str(inputs / "reward_1"))
    (inputs / "reward_1_base").symlink_to(base)
    return trainer.evaluate()["eval_reward_accuracy"]


def _policy(
    server: BakehouseServer, folder: Path, base: Path, rewards: list[dict[str, Any]], **changes: Any
) -> Any:
    spec = grpo_spec(server, folder, base, rewards, **changes)
    spec = spec.model_copy(update={"inputs_dir": str(folder / "inputs")})
    return build(spec, base, folder)


def test_a_policy_learns_what_its_reward_model_prefers_and_of_a_shuffled_one_it_does_not(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def with_digits(name: str, coin: Random | None) -> tuple[float, float, float]:
        """The accuracy of the reward model; and the part of answers with a digit, by the base and
        after."""
        folder = tmp_path / name
        accuracy = _reward_model(server, folder, tied_model, _digit_rows(coin))
        trainer = _policy(server, folder, tied_model, [_MODEL], epochs=4, learning_rate=0.03)
        trainer.train()
        prompts = [row["prompt"] for row in trainer.eval_dataset for _ in range(16)]

        def part() -> float:
            answers = trainer._generate(prompts)[3]
            return sum(any(map(str.isdecimal, answer)) for answer in answers) / len(answers)

        with trainer.model.disable_adapter():
            before = part()
        return accuracy, before, part()

    accuracy, before, after = with_digits("digits", None)
    assert accuracy >= 0.9
    assert before < 0.3
    assert after > 0.6
    accuracy, before, after = with_digits("chance", Random(5))
    assert 0.2 <= accuracy <= 0.8
    assert after < 0.5


def test_its_scores_are_the_logits_of_its_head(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    """Whatever shares a batch, and in a run as by Transformers and PEFT alone."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from bakehouse_runtime.train.lora.objectives.scores import load_scores

    folder = tmp_path / "run"
    _reward_model(server, folder, tied_model, _digit_rows())
    files = RewardModel(folder / "inputs" / "reward_1", tied_model)
    spec = grpo_spec(server, folder, tied_model, [_MODEL])
    before = torch.get_rng_state()
    scores = load_scores(files, spec, "cpu")
    assert torch.equal(before, torch.get_rng_state())
    question = {"role": "user", "content": "Which number is one?"}
    asked = json.dumps({"messages": [question], "tools": []})
    texts = ["17 loaves", "none", "a longer answer without any of them"]
    answers = [Answer(text, None, asked) for text in texts]

    tokenizer: Any = AutoTokenizer.from_pretrained(files.adapter)
    base: Any = AutoModelForSequenceClassification.from_pretrained(
        tied_model, num_labels=1, dtype=torch.float32
    )
    base.config.pad_token_id = tokenizer.pad_token_id
    model: Any = PeftModel.from_pretrained(base, files.adapter).eval()
    alone = []
    for text in texts:
        messages = [question, {"role": "assistant", "content": text}]
        tokens = tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True)
        with torch.no_grad():
            alone.append(model(**tokens).logits.item())
    assert scores(answers) == pytest.approx(alone, abs=1e-4)
    assert scores(answers[:1]) == pytest.approx(alone[:1], abs=1e-4)
    assert len({round(one, 2) for one in alone}) == 3


def test_of_several_rewards_each_is_weighed_and_a_model_that_is_none_is_refused(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    folder = tmp_path / "run"
    _reward_model(server, folder, tied_model, _digit_rows())
    digit = {"type": "pattern", "pattern": "[0-9]", "weight": 0.5}
    rewards = [_MODEL | {"weight": 2.0}, digit]
    trainer = _policy(server, folder, tied_model, rewards, epochs=1)
    trainer.train()
    points = [point for point in trainer.state.log_history if "loss" in point]
    assert len(points) == 8
    for point in points:
        paid = 2 * point["rewards/model/mean"] + 0.5 * point["rewards/pattern/mean"]
        assert point["reward"] == pytest.approx(paid, abs=1e-4)

    def refused() -> str:
        with pytest.raises(PlainError) as error:
            _policy(server, folder, tied_model, [digit, _MODEL])
        return str(error.value)

    (folder / "inputs" / "reward_1" / "tokenizer.json").unlink()
    assert "Reward 2 (reward model): it cannot be read. " in refused()
    config = folder / "inputs" / "reward_1" / "adapter_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"task_type": "CAUSAL_LM"}))
    assert "Reward 2 (reward model): it is no adapter with a head" in refused()
    spec = grpo_spec(server, folder, tied_model, [_MODEL])
    with pytest.raises(PlainError, match="it is no adapter with a head"):
        read_inputs(spec, tied_model, folder)
