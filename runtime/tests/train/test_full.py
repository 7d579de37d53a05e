"""Training of all weights: what is learnt, reported and left, and that it is TRL's own."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora import config
from preferences import dpo_spec, feedback_rows, grpo_spec, kto_spec, preference_rows, prompt_rows
from serving import Serving, serve_spec
from tiny_model import write_tiny_gguf, write_tiny_model
from train_spec import finish, losses, questions, start, train_spec, when

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakehouse_runtime.protocol import TrainTextSpec
    from bakehouse_server import BakehouseServer

_DIGIT = {"type": "pattern", "pattern": "[0-9]", "weight": 1.0}
_RATE = {"learning_rate": 1e-3, "lora": None}


@pytest.fixture(autouse=True)
def float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL computes at other places than we do, which bfloat16 rounds otherwise."""
    monkeypatch.setattr(config, "has_bfloat16", lambda _: False)


def full_spec(
    server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any
) -> TrainTextSpec:
    """A run of all weights of a base that has a GGUF beside it."""
    from bakehouse_runtime.protocol import TrainTextSpec

    spec = train_spec(server, tmp_path, model, **(_RATE | parameters)).model_dump(mode="json")
    gguf = write_tiny_gguf(model, tmp_path / "tiny.gguf")
    spec["inputs"].append({"name": "base_gguf", "files": [server.add_input(gguf, "tiny.gguf")]})
    return TrainTextSpec.model_validate(spec)


def trained(spec: TrainTextSpec, base: Path, tmp_path: Path, file: str, steps: int) -> Any:
    """Our trainer after a run on all rows, which are taken in the order of the file."""
    from bakehouse_runtime.train.lora.trainer import build_trainer

    prepared = prepare_examples(
        tmp_path / file,
        spec.data,
        read_model_tokens(base),
        256,
        holds_out=False,
        objective=spec.parameters.objective,
    )
    trainer: Any = build_trainer(spec, base, tmp_path, prepared, [], "cpu", steps, [])
    trainer.args.train_sampling_strategy = "sequential"
    trainer.shuffle_dataset = False
    trainer.train()
    return trainer


def loaded(model: Path) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)


def tokenizer_of(model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)


def same_curves(ours: Any, trls: Any, *names: str, steps: int) -> None:
    points = [
        [[point[name] for name in names] for point in one.state.log_history[:-1]]
        for one in (ours, trls)
    ]
    assert len(points[0]) == steps
    for one, other in zip(*points, strict=True):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-5)


def asked(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def said(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def test_losses_are_those_of_trl_alone(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    pairs = questions()[:24]
    rows = "".join(f'{question},"{answer}"\n' for question, answer in pairs)
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")
    spec = train_spec(server, tmp_path, tied_model, epochs=2, **_RATE)
    spec = spec.model_copy(
        update={"data": spec.data.model_copy(update={"input_column": "q", "output_column": "a"})}
    )
    ours = trained(spec, tied_model, tmp_path, "rows.csv", 12)
    trls = SFTTrainer(
        loaded(tied_model),
        args=SFTConfig(
            **config.settings(spec, "cpu", tmp_path, 12, evaluates=False), shuffle_dataset=False
        ),
        train_dataset=Dataset.from_list(
            [{"prompt": asked(one), "completion": said(other)} for one, other in pairs]
        ),
        processing_class=tokenizer_of(tied_model),
    )
    trls.args.train_sampling_strategy = "sequential"
    trls.train()
    same_curves(ours, trls, "loss", "grad_norm", steps=12)
    assert ours.state.log_history[11]["loss"] < 0.8 * ours.state.log_history[0]["loss"]


def test_pairs_are_compared_with_the_base_as_trl_alone_does(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    rows = preference_rows()[:24]
    spec = dpo_spec(server, tmp_path, tied_model, rows, epochs=1, beta=0.3, **_RATE)
    ours = trained(spec, tied_model, tmp_path, "pairs.jsonl", 6)
    trls = DPOTrainer(
        loaded(tied_model),
        loaded(tied_model),
        args=DPOConfig(**config.settings(spec, "cpu", tmp_path, 6, evaluates=False), beta=0.3),
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": asked(row["prompt"]),
                    "chosen": said(row["chosen"]),
                    "rejected": said(row["rejected"]),
                }
                for row in rows
            ]
        ),
        processing_class=tokenizer_of(tied_model),
    )
    trls.args.train_sampling_strategy = "sequential"
    trls.train()
    same_curves(ours, trls, "loss", "rewards/margins", steps=6)
    # Against the trained model itself the margin would stay 0.
    assert ours.state.log_history[5]["rewards/margins"] > 0.1


def test_ratings_are_compared_with_the_base_as_trl_alone_does(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from datasets import Dataset
    from trl import KTOConfig, KTOTrainer

    rows = feedback_rows()[:24]
    spec = kto_spec(server, tmp_path, tied_model, rows, epochs=1, beta=0.3, **_RATE)
    ours = trained(spec, tied_model, tmp_path, "rated.jsonl", 6)
    plain = config.settings(spec, "cpu", tmp_path, 6, evaluates=False)
    trls = KTOTrainer(
        loaded(tied_model),
        loaded(tied_model),
        args=KTOConfig(**plain, beta=0.3),
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": asked(row["prompt"]),
                    "completion": said(row["completion"]),
                    "label": row["label"],
                }
                for row in rows
            ]
        ),
        processing_class=tokenizer_of(tied_model),
    )
    trls.train()
    same_curves(ours, trls, "loss", "kl", "rewards/margins", steps=6)
    assert ours.state.log_history[5]["rewards/margins"] > 0.1


def test_answers_are_compared_with_the_base_as_trl_alone_does(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    rows = prompt_rows()[:8]
    spec = grpo_spec(server, tmp_path, tied_model, [_DIGIT], rows, epochs=2, beta=0.3, **_RATE)
    ours = trained(spec, tied_model, tmp_path, "prompts.jsonl", 4)

    def digits(completions: list[str], **_: Any) -> list[float | None]:
        return [float(any("0" <= one <= "9" for one in text)) for text in completions]

    prompts = [
        tokenizer_of(tied_model).apply_chat_template(
            asked(row["prompt"]), tokenize=False, add_generation_prompt=True
        )
        for row in rows
    ]
    plain = config.settings(spec, "cpu", tmp_path, 4, evaluates=False)
    changes = {"per_device_train_batch_size": 32, "include_num_input_tokens_seen": "no"}
    trls = GRPOTrainer(
        loaded(tied_model),
        [digits],
        args=GRPOConfig(
            **(plain | changes),
            beta=0.3,
            num_generations=8,
            max_completion_length=6,
            shuffle_dataset=False,
        ),
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=tokenizer_of(tied_model),
    )
    trls.train()
    same_curves(ours, trls, "loss", "reward", "kl", steps=4)
    assert ours.state.log_history[3]["kl"] > 0


def test_a_run_leaves_a_whole_model_that_answers_as_it_was_trained(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from bakehouse_server import ASKING

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
    (answers,) = server.of_type("held_out_answers")
    assert all(row["base"] != row["tuned"] for row in answers["rows"])

    server.reports.clear()
    server.on_report = lambda _: None
    gguf = server.add_input(server.artefacts / "model-F16.gguf", "tiny.gguf")
    (tmp_path / "serve").mkdir()
    inputs = [{"name": "base_model", "files": [gguf]}]
    told = serve_spec(server, tmp_path / "serve", inputs) | {"adapters": []}
    serving = Serving(server, tmp_path / "serve", told)
    for row in answers["rows"]:
        response = ASKING.post(
            f"{serving.url}/v1/chat/completions",
            json={"messages": asked(row["question"]), "temperature": 0, "max_tokens": 64},
            timeout=300,
        )
        served = str(response.json()["choices"][0]["message"]["content"]).strip()
        assert served == row["tuned"].rstrip("…")
    serving.process.terminate()
    assert serving.process.wait(60) == 0


def test_a_killed_run_goes_on_with_the_same_losses_and_leaves_the_same_model(
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
    process = start(killed)
    when(server, "checkpoint", 8, lambda: os.kill(process.pid or 0, signal.SIGKILL))
    assert finish(process) == -signal.SIGKILL
    assert finish(start(killed)) == 0
    after = left()
    assert any("Continuing from" in report["line"] for report in server.of_type("log"))

    server.reports.clear()
    assert finish(start(spec("whole"))) == 0
    assert left() == after


def test_the_weights_of_the_lowest_loss_are_kept_as_the_base_stores_its_own(
    tmp_path: Path, tied_model: Path
) -> None:
    import torch

    from bakehouse_runtime.train.lora.best import Best, BestWeights

    model = loaded(tied_model)
    best = BestWeights(tmp_path / "best.safetensors", dtype=torch.bfloat16)
    for step, loss in [(8, 2.0), (16, 1.5), (24, 1.75)]:
        for weight in model.parameters():
            torch.nn.init.constant_(weight, step + 1 / 3)
        best.note(model, step, loss)
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
def test_a_gguf_of_another_model_is_not_filled(
    tmp_path: Path,
    tied_model: Path,
    spoil: Callable[[Path, Path], None] | None,
    message: str | None,
) -> None:
    from bakehouse_runtime.train.lora.whole_gguf import write_whole_gguf

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
        write_whole_gguf(source, base, tuned, target, "Loaves")
        assert target.exists()
        return
    with pytest.raises(PlainError, match=message):
        write_whole_gguf(source, base, tuned, target, "Loaves")
