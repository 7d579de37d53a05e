"""The results of a training, for its card and its summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    # The mean over all steps, and over the last tenth of them.
    train_loss: float | None
    train_loss_end: float | None
    eval_loss_base: float | None
    # The loss of the exported weights, whose step is `best_step`; None if nothing was held out.
    eval_loss: float | None
    # The reward, for objectives that measure one instead of a loss.
    eval_reward_base: float | None
    eval_reward: float | None
    # The share of held-out pairs whose better answer it prefers; None without pairs.
    eval_reward_accuracy: float | None
    # The mean margin of the better answers over the worse ones; None without pairs.
    eval_reward_margin: float | None
    best_step: int | None
    tokens: int
    steps: int
    # The steps of all epochs, and the number of evaluations without improvement before an early
    # stop; None without one.
    steps_total: int
    stopped_early: int | None
    seconds: float
    device: str
    modules: list[str]
    warnings: list[str]
    # Trainer's own log: one object per point of the curves.
    history: list[dict[str, Any]]
