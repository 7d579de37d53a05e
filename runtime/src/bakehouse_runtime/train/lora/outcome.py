"""What came of a training, as its card and its summary say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """How training went."""

    # The mean over all steps, and over the last tenth of them.
    train_loss: float | None
    train_loss_end: float | None
    eval_loss_base: float | None
    # Of what is kept, and the step that it is of; None where nothing was held out.
    eval_loss: float | None
    # The same where answers are paid, instead of a loss.
    eval_reward_base: float | None
    eval_reward: float | None
    # Of it, in which part of the held-out pairs it finds the better answer the better one; None
    # where there are no pairs.
    eval_reward_accuracy: float | None
    # By how much it scores the better answers above the worse ones; None as above.
    eval_reward_margin: float | None
    best_step: int | None
    tokens: int
    steps: int
    # Of all epochs, and the evaluations without gain after which it ended before; None where it did
    # not.
    steps_total: int
    stopped_early: int | None
    seconds: float
    device: str
    modules: list[str]
    warnings: list[str]
    # Trainer's own log: one object per point of the curves.
    history: list[dict[str, Any]]
