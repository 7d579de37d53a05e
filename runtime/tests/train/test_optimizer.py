"""Tests the effects of the optimiser's settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.train.lora import config
from train_spec import LINEAR, finish, kill_at_checkpoint, losses, questions, start, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer

_RATE = 0.01
_STEPS = 16


def trained(server: BakehouseServer, tmp_path: Path, model: Path, **parameters: Any) -> Any:
    """Returns a trainer after two epochs of eight steps."""
    from bakehouse_runtime.train.lora.trainer import build_trainer

    rows = "".join(f'{question},"{answer}"\n' for question, answer in questions())
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")
    spec = train_spec(server, tmp_path, model, epochs=2, learning_rate=_RATE, **parameters)
    prepared = prepare_examples(
        tmp_path / "rows.csv", spec.data, read_model_tokens(model), 256, holds_out=True
    )
    trainer = build_trainer(spec, model, tmp_path, prepared, LINEAR, "cpu", _STEPS, [])
    trainer.train()
    return trainer


@pytest.mark.parametrize(
    ("device", "found", "said"),
    [
        ("cpu", object(), "8-bit AdamW needs a GPU"),
        ("cuda", None, "8-bit AdamW needs bitsandbytes"),
        ("cuda", object(), None),
    ],
)
def test_8_bit_adam_needs_a_gpu_and_bitsandbytes(
    server: BakehouseServer,
    tmp_path: Path,
    tied_model: Path,
    monkeypatch: pytest.MonkeyPatch,
    device: Any,
    found: object,
    said: str | None,
) -> None:
    monkeypatch.setattr(config, "find_spec", lambda _: found)
    monkeypatch.setattr(config, "has_bfloat16", lambda _: True)
    spec = train_spec(server, tmp_path, tied_model, optimizer="adamw_8bit")
    if said is None:
        chosen = config.settings(spec, device, tmp_path, 1, evaluates=False)
        assert chosen["optim"] == "adamw_bnb_8bit"
        return
    with pytest.raises(PlainError, match=said):
        config.settings(spec, device, tmp_path, 1, evaluates=False)


def points(trainer: Any, name: str) -> list[float]:
    return [point[name] for point in trainer.state.log_history if "loss" in point]


@pytest.mark.parametrize(
    ("lr_scheduler", "share"),
    [
        ("cosine", lambda part: (1 + math.cos(math.pi * part)) / 2),
        ("linear", lambda part: 1 - part),
        ("constant", lambda _: 1),
    ],
)
def test_the_learning_rate_warms_up_and_follows_its_schedule(
    server: BakehouseServer, tmp_path: Path, tied_model: Path, lr_scheduler: str, share: Any
) -> None:
    trainer = trained(server, tmp_path, tied_model, lr_scheduler=lr_scheduler, warmup_ratio=0.25)
    rising = [_RATE * step / 4 for step in range(4)]
    falling = [_RATE * share(step / 12) for step in range(12)]
    assert points(trainer, "learning_rate") == pytest.approx([*rising, *falling])


def test_clips_gradients_and_decays_weights_as_requested(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def size(**optimizer: Any) -> tuple[float, list[float]]:
        trainer = trained(server, tmp_path, tied_model, lora={"dropout": 0.0}, **optimizer)
        weights = [weight for name, weight in trainer.model.named_parameters() if "lora_" in name]
        return sum(weight.norm().item() for weight in weights), points(trainer, "loss")

    usual, losses = size()
    assert size(warmup_ratio=0.03, weight_decay=0, max_grad_norm=1)[1] == losses
    decayed, others = size(weight_decay=1)
    assert decayed < usual
    assert others != losses
    # Adam's steps do not depend on the size of gradients unless they are almost zero.
    clipped, _ = size(max_grad_norm=1e-9)
    assert clipped < usual
    assert size(max_grad_norm=0)[1] == size(max_grad_norm=1000)[1] != losses


@pytest.mark.soak
def test_a_killed_run_resumes_with_the_same_losses_and_rates(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    def spec(folder: str) -> Any:
        (tmp_path / folder).mkdir()
        noise = {"neftune_noise_alpha": 5, "weight_decay": 0.1, "max_grad_norm": 0.5}
        schedule = {"lr_scheduler": "linear", "warmup_ratio": 0.25}
        return train_spec(server, tmp_path / folder, tied_model, epochs=3, **noise, **schedule)

    def rates() -> dict[int, float]:
        return {
            report["step"]: report["values"]["learning_rate"]
            for report in server.of_type("metrics")
            if "learning_rate" in report["values"]
        }

    killed = spec("killed")
    kill_at_checkpoint(server, killed, 8)
    assert finish(start(killed)) == 0
    found = {step: set(values) for step, values in losses(server).items()}, rates()
    assert sorted(found[0]) == list(range(1, 25))
    assert all(len(values) == 1 for values in found[0].values())

    server.reports.clear()
    assert finish(start(spec("whole"))) == 0
    assert ({step: set(values) for step, values in losses(server).items()}, rates()) == found


def test_adds_noise_to_embeddings_only_in_training(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    quiet = points(trained(server, tmp_path, tied_model), "loss")
    noisy = trained(server, tmp_path, tied_model, neftune_noise_alpha=5)
    assert points(noisy, "loss") != quiet
    assert noisy.evaluate()["eval_loss"] == noisy.evaluate()["eval_loss"]
