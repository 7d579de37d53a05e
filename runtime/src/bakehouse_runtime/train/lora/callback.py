"""Reports progress to the server, saves checkpoints on schedule, and handles stops."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from ...errors import StoppedEarly, StopRequested, loss_not_finite
from ..cadence import Cadence
from .checkpoints import mark_complete
from .ranks.callback import share_control
from .ranks.group import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from transformers import TrainerControl, TrainerState, TrainingArguments

    from ...reporter import Reporter
    from .ranks.group import Ranks

# The first checkpoint comes early, so that an early kill does not lose everything.
_FIRST_AFTER_S = 5.0
_AFTER_S = 30.0
# The names that Trainer and TRL use.
_LOGGED = {
    **{name: name for name in ("loss", "learning_rate", "grad_norm", "reward", "kl")},
    "completions/mean_length": "answer_tokens",
    "rewards/accuracies": "reward_accuracy",
    "rewards/margins": "reward_margin",
}
_HELD_OUT = ("eval_loss", "eval_reward", "eval_reward_accuracy", "eval_reward_margin")
# The curve prefix of individual rewards.
_REWARD = "reward/"
_CURVES = (*_LOGGED.values(), "num_tokens", "tokens_per_second", *_HELD_OUT)


def held_out_measures(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Returns the points of the curves among all measurements."""
    return {name: float(metrics[name]) for name in _HELD_OUT if name in metrics}


def held_out_loss(point: Mapping[str, Any]) -> float | None:
    """Returns the value to minimise on the held-out rows: their loss, or the negated reward. None
    if neither was measured."""
    if "eval_reward" in point:
        return -float(point["eval_reward"])
    return float(point["eval_loss"]) if "eval_loss" in point else None


def evaluations_without_gain(history: list[dict[str, Any]]) -> int:
    """Returns the number of logged evaluations after the evaluation with the lowest held-out
    loss."""
    found = [loss for point in history if (loss := held_out_loss(point)) is not None]
    losses = [loss if math.isfinite(loss) else math.inf for loss in found]
    return len(losses) - 1 - losses.index(min(losses)) if losses else 0


def _paid(logs: dict[str, float]) -> dict[str, float]:
    """Returns the unweighted mean of each reward, if there are several."""
    names = [name for name in logs if name.startswith("rewards/") and name.endswith("/mean")]
    return {_REWARD + name.split("/")[1]: logs[name] for name in names} if len(names) > 1 else {}


class TrainingCallback(TrainerCallback):
    """The callback of a run. Its hooks run at every step, so they must be fast: they only record
    and compare values. `on_checkpoint` is called with the folder of every complete checkpoint,
    `before_whole` just before it is complete, and `on_measured` with the model, its step and its
    held-out loss."""

    def __init__(
        self,
        reporter: Reporter,
        steps_per_epoch: int,
        on_checkpoint: Callable[[Path], None],
        on_measured: Callable[[Any, int, float], None] = lambda *_: None,
        before_whole: Callable[[], None] = lambda: None,
        *,
        eval_steps: int = 0,
        patience: int = 0,
        ranks: Ranks = ALONE,
    ) -> None:
        self._on_checkpoint = on_checkpoint
        self._before_whole = before_whole
        self._on_measured = on_measured
        self._reporter = reporter
        self._steps_per_epoch = steps_per_epoch
        self._eval_steps = eval_steps
        self._patience = patience
        # Its decisions are broadcast to the other processes (FollowingCallback).
        self._ranks = ranks
        # Seconds spent in training steps, over all restarts of the run.
        self.seconds = 0.0
        self._step_began = 0.0
        self._step_ended = 0.0
        self._cadence = Cadence(time.monotonic(), _FIRST_AFTER_S, _AFTER_S)
        self._logged = (0, 0.0)  # tokens and seconds at the last point of the curves
        self._first_step = 0  # first step of this process, and the seconds before it
        self._first_seconds = 0.0
        self._saved_step = 0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        # The previous process may have been stopped before an evaluation.
        [args.eval_on_start] = self._ranks.broadcast(self._needs_evaluation(args, state))
        self._reporter.phase("evaluating" if args.eval_on_start else "training")
        self._first_step = self._saved_step = state.global_step
        self._first_seconds = self.seconds
        self._cadence = Cadence(time.monotonic(), _FIRST_AFTER_S, _AFTER_S)
        self._logged = (state.num_input_tokens_seen, self.seconds)
        # A killed process may not have sent its last points. The checkpoint has them, and sending a
        # known point again has no effect.
        for point in state.log_history:
            known = {
                name: float(value)
                for name, value in point.items()
                if name in _CURVES or name.startswith(_REWARD)
            }
            if known:
                self._reporter.metrics(int(point["step"]), known)

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self._step_began = time.monotonic()

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        now = self._step_ended = time.monotonic()
        self.seconds += now - self._step_began
        step = state.global_step
        each = (self.seconds - self._first_seconds) / (step - self._first_step)
        self._reporter.progress(step, state.max_steps, "steps", each * (state.max_steps - step))
        if self._reporter.stop_requested:
            control.should_save = True
            control.should_training_stop = True
        else:
            # If this is the last step of an epoch, on_epoch_end evaluates.
            if self._evaluates_at(args, step) and step % self._steps_per_epoch != 0:
                control.should_evaluate = True
                self._reporter.phase("evaluating")
            if self._cadence.is_due(now, epoch_ends=step % self._steps_per_epoch == 0):
                control.should_save = True
        share_control(self._ranks, control)

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        if control.should_training_stop and self._reporter.stop_requested:
            control.should_evaluate = False
        elif control.should_evaluate:
            self._reporter.phase("evaluating")
        share_control(self._ranks, control)

    def on_prediction_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        # Trainer cannot end an evaluation early.
        [stops] = self._ranks.broadcast(self._reporter.stop_requested)
        if stops:
            # Save any steps trained since the last checkpoint.
            control.should_save = state.global_step > self._saved_step
            control.should_training_stop = True
            share_control(self._ranks, control)
            raise StopRequested

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **event: Any,
    ) -> None:
        measured = held_out_measures(event["metrics"])
        self._reporter.metrics(state.global_step, measured)
        # Before the first step it is the base model.
        if state.global_step > 0:
            loss = held_out_loss(measured)
            assert loss is not None
            self._on_measured(event["model"], state.global_step, loss)
        if 0 < state.global_step < state.max_steps:
            without_gain = evaluations_without_gain(state.log_history)
            [is_over] = self._ranks.broadcast(0 < self._patience <= without_gain)
            if is_over:
                raise StoppedEarly
            self._reporter.phase("training")

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **event: Any,
    ) -> None:
        logs: dict[str, float] = event["logs"]
        if "loss" not in logs:
            return
        # In float16 an overflowing gradient is no error: the step is skipped, and the loss stays
        # finite.
        if not math.isfinite(logs["loss"]):
            raise loss_not_finite(state.global_step, args.learning_rate)
        tokens, seconds = self._logged
        self._logged = (state.num_input_tokens_seen, self.seconds)
        values = {name: float(logs[key]) for key, name in _LOGGED.items() if key in logs}
        values |= _paid(logs)
        values["num_tokens"] = state.num_input_tokens_seen
        if self.seconds > seconds:
            values["tokens_per_second"] = (self._logged[0] - tokens) / (self.seconds - seconds)
        state.log_history[-1].update(values)
        self._reporter.metrics(state.global_step, values)

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        path = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        self._before_whole()
        mark_complete(path, self.seconds)
        self._saved_step = state.global_step
        self._cadence.saved(self._step_ended, time.monotonic())
        self._reporter.checkpoint(state.global_step)
        self._on_checkpoint(path)

    def on_train_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        **event: Any,
    ) -> None:
        # The last step may have made the weights non-finite, which no later loss would show.
        if not all(
            bool(weight.isfinite().all())
            for weight in event["model"].parameters()
            if weight.requires_grad
        ):
            raise loss_not_finite(state.global_step, args.learning_rate)

    def _needs_evaluation(self, args: TrainingArguments, state: TrainerState) -> bool:
        """Returns whether the checkpoint's step should have been evaluated but was not. The caller
        evaluates the last step after training."""
        step = state.global_step
        return (
            0 < step < state.max_steps
            and self._evaluates_at(args, step)
            and not any(
                held_out_loss(point) is not None and point["step"] == step
                for point in state.log_history
            )
        )

    def _evaluates_at(self, args: TrainingArguments, step: int) -> bool:
        """Returns whether the held-out rows are measured after this step."""
        return args.eval_strategy != "no" and (
            step % self._steps_per_epoch == 0
            or (self._eval_steps > 0 and step % self._eval_steps == 0)
        )
