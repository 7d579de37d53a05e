"""A training of one linear layer, the smallest example of the loop. Light to import."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bakehouse_runtime.image.training.loop import LoopSettings, Training, run_loop


class Recorder:
    """A reporter that stores every report, and requests a stop after `stop_after` checks: one check
    before each step and one at each checkpoint."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.reports: list[tuple[str, object]] = []
        self.stop_after = stop_after
        self._stop_checks = 0

    @property
    def stop_requested(self) -> bool:
        self._stop_checks += 1
        return self.stop_after is not None and self._stop_checks > self.stop_after

    def phase(self, phase: str) -> None:
        self.reports.append(("phase", phase))

    def progress(
        self, done: float, total: float, unit: str, remaining_seconds: float | None = None
    ) -> None:
        self.reports.append(("progress", (done, total, unit)))

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        self.reports.append(("metrics", (step, dict(values))))

    def log(self, line: str) -> None:
        self.reports.append(("log", line))

    def checkpoint(self, step: int) -> None:
        self.reports.append(("checkpoint", step))

    def samples(self, written: Path) -> None:
        self.reports.append(("samples", written))

    def of(self, kind: str) -> list[Any]:
        return [value for name, value in self.reports if name == kind]

    def curve(self, name: str) -> list[float]:
        return [values[name] for _, values in self.of("metrics") if name in values]


SETTINGS = LoopSettings(
    steps=12, learning_rate=0.01, seed=3, warmup_steps=2, report_every=2, checkpoint_every=4
)


def line_training(settings: LoopSettings = SETTINGS) -> Training:
    model = nn.Linear(3, 1)
    nn.init.constant_(model.weight, 0.5)
    nn.init.zeros_(model.bias)
    return Training(model, settings, torch.device("cpu"))


def run_line(work_dir: Path, recorder: Recorder, settings: LoopSettings = SETTINGS) -> Training:
    training = line_training(settings)

    def compute_loss(step: int) -> tuple[Tensor, dict[str, Tensor]]:
        inputs = torch.randn(64, 3, generator=torch.Generator().manual_seed(step))
        loss = (training.model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
        return loss, {"twice": 2 * loss}

    def evaluate(model: nn.Module, path: Path) -> tuple[Path, dict[str, float]]:
        weight = float(model.weight[0, 0])  # pyright: ignore[reportIndexIssue]
        return path.with_suffix(".png"), {"eval_weight": weight}

    run_loop(training, work_dir, recorder, compute_loss, evaluate)
    return training
