"""Tests that a run without improvement ends early and keeps its best weights."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from bakehouse_runtime.data.examples import prepare_examples
from bakehouse_runtime.data.tokens import read_model_tokens
from bakehouse_runtime.errors import StoppedEarly
from bakehouse_runtime.train.lora.callback import TrainingCallback, evaluations_without_gain
from bakehouse_runtime.train.lora.checkpoints import last_checkpoint
from train_spec import LINEAR, finish, questions, start, train_spec

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_runtime.protocol import TrainTextSpec
    from bakehouse_server import BakehouseServer

# A learning rate so high that it soon forgets. An epoch has eight steps.
_FORGETFUL: dict[str, Any] = {"learning_rate": 0.1, "lr_scheduler": "constant", "warmup_ratio": 0}
_STOPPING = {"eval_steps": 3, "early_stopping_patience": 3}
_STEPS = 160


def forgetful(server: BakehouseServer, tmp_path: Path, model: Path) -> TrainTextSpec:
    return train_spec(server, tmp_path, model, epochs=20, **_FORGETFUL, **_STOPPING)


def evaluated_until(step: int) -> list[int]:
    """Returns the evaluated steps: each epoch, and every three steps."""
    return [one for one in range(1, step + 1) if one % 8 == 0 or one % 3 == 0]


def test_counts_evaluations_since_the_lowest_loss() -> None:
    def without_gain(*held_out: float) -> int:
        history = [{"step": at, "eval_loss": loss} for at, loss in enumerate(held_out)]
        return evaluations_without_gain([{"step": 0, "loss": 1.0}, *history])

    assert without_gain() == 0
    assert without_gain(3, 2, 1) == 0
    assert without_gain(3, 1, 2, 1) == 2
    assert without_gain(1, float("nan"), 2) == 2


def test_a_run_without_improvement_stops_early_and_keeps_the_best(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    assert finish(start(forgetful(server, tmp_path, tied_model))) == 0
    summary = server.reports[-1]["summary"]
    measured = {
        report["step"]: report["values"]["eval_loss"]
        for report in server.of_type("metrics")
        if "eval_loss" in report["values"]
    }
    steps = summary["steps"]
    assert steps < _STEPS
    assert sorted(measured) == [0, *evaluated_until(steps)]
    best = min(evaluated_until(steps), key=lambda step: measured[step])
    assert summary["best_step"] == best
    assert summary["eval_loss"] == measured[best]
    assert summary["stopped_early"] == 3
    assert len([step for step in evaluated_until(steps) if step > best]) == 3
    card = (server.artefacts / "README.md").read_text()
    stopped = f"{steps} of {_STEPS}, stopped early after 3 evaluations without gain"
    assert f"| Steps | {stopped} |" in card
    assert "| Evaluations | after each epoch and each 3 steps |" in card


class Listener:
    """A fake Reporter that requests a stop after a step."""

    def __init__(self, stop_after: int | None) -> None:
        self.stop_after = stop_after
        self.stop_requested = False
        self.eval_loss: dict[int, float] = {}

    def phase(self, phase: str) -> None:
        pass

    def progress(self, done: int, *_: Any) -> None:
        self.stop_requested = done == self.stop_after

    def metrics(self, step: int, values: dict[str, float]) -> None:
        if "eval_loss" in values:
            self.eval_loss[step] = values["eval_loss"]

    def checkpoint(self, step: int) -> None:
        pass


def test_a_resumed_run_stops_at_the_same_step(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    from bakehouse_runtime.train.lora.trainer import build_trainer

    spec = forgetful(server, tmp_path, tied_model)
    rows = "".join(f'{question},"{answer}"\n' for question, answer in questions())
    (tmp_path / "rows.csv").write_text(f"q,a\n{rows}")
    prepared = prepare_examples(
        tmp_path / "rows.csv", spec.data, read_model_tokens(tied_model), 256, holds_out=True
    )

    def live(folder: str, stop_after: int | None = None) -> tuple[int, dict[int, float]]:
        listener: Any = Listener(stop_after)
        callback = TrainingCallback(listener, 8, lambda _: None, eval_steps=3, patience=3)
        checkpoints = tmp_path / folder
        trainer = build_trainer(
            spec, tied_model, checkpoints, prepared, LINEAR, "cpu", _STEPS, [callback]
        )
        saved = last_checkpoint(checkpoints)
        with contextlib.suppress(StoppedEarly):
            trainer.train(resume_from_checkpoint=str(saved.path) if saved else None)
        return trainer.state.global_step, listener.eval_loss

    steps, measured = live("whole")
    assert sorted(measured) == evaluated_until(steps)
    # A stop between two evaluations, and a stop just before one.
    assert live("parts", 10)[0] == 10
    assert live("parts", 12)[0] == 12
    assert live("parts") == (steps, measured)
