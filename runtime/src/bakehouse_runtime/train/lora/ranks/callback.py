"""Synchronises the decisions of a run's processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from ....errors import StoppedEarly, StopRequested

if TYPE_CHECKING:
    from transformers import TrainerControl, TrainerState, TrainingArguments

    from .group import Ranks


class FollowingCallback(TrainerCallback):
    """Receives at each hook the decision of the first process (TrainingCallback)."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        [args.eval_on_start] = self._ranks.broadcast(False)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        share_control(self._ranks, control)

    on_epoch_end = on_step_end

    def on_prediction_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        [stops] = self._ranks.broadcast(False)
        if stops:
            share_control(self._ranks, control)
            raise StopRequested

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        if 0 < state.global_step < state.max_steps:
            [stops_early] = self._ranks.broadcast(False)
            if stops_early:
                raise StoppedEarly


def share_control(ranks: Ranks, control: TrainerControl) -> None:
    """Broadcasts the first process's next actions to all processes."""
    control.should_save, control.should_evaluate, control.should_training_stop = ranks.broadcast(
        control.should_save, control.should_evaluate, control.should_training_stop
    )
