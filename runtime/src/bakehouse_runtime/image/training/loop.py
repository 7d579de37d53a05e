"""The training loop of all media trainers: steps, averaged weights, checkpoints, resuming.

A step's data and noise depend only on (seed, step), so a training that is killed and resumed from a
checkpoint continues exactly as without the interruption, on the same kind of device (a GPU draws
other numbers).
"""

from __future__ import annotations

import math
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from ...errors import PlainError, is_out_of_memory, loss_not_finite
from ...files import write_atomically
from .device import fast_arithmetic

KEPT_CHECKPOINTS = 2
GRADIENT_NORM_LIMIT = 1.0

Unit: TypeAlias = Literal["steps", "bytes", "examples"]


class TrainingReporter(Protocol):
    """The part of the runtime's Reporter that trainers use, and a callback for samples."""

    @property
    def stop_requested(self) -> bool:
        """Whether to save and stop after the current step."""
        ...

    def phase(self, phase: str) -> None: ...

    def progress(
        self, done: float, total: float, unit: Unit, remaining_seconds: float | None = None
    ) -> None: ...

    def metrics(self, step: int, values: Mapping[str, float]) -> None: ...

    def log(self, line: str) -> None: ...

    def checkpoint(self, step: int) -> None: ...

    def samples(self, written: Path) -> None:
        """Reports that samples of a checkpoint were written: a file or a folder of files."""
        ...


# Returns the loss of a batch by its number, and further values for the curves. The number is the
# step's unless a step has several batches.
ComputeLoss: TypeAlias = Callable[[int], tuple[Tensor, dict[str, Tensor]]]
# Receives the model with its averaged weights, and writes samples to the path with a matching file
# extension, or into a folder there. Returns their location and measurements for the curves.
Evaluate: TypeAlias = Callable[[nn.Module, Path], tuple[Path, dict[str, float]]]


@dataclass(frozen=True)
class LoopSettings:
    """Length, speed and optimizer of a training. `cooldown` is the final share of the steps in
    which the learning rate falls to zero; `average_decay` is the decay of the weights' exponential
    moving average. `muon` suits a transformer trained from scratch; weights trained with AdamW are
    best tuned with it. `accumulation` is the number of batches per step; `samples_first` writes
    samples before the first step."""

    steps: int
    learning_rate: float
    seed: int
    optimizer: Literal["adamw", "muon"] = "adamw"
    warmup_steps: int = 100
    cooldown: float = 0.2
    weight_decay: float = 0.0
    average_decay: float = 0.999
    report_every: int = 20
    checkpoint_every: int = 500
    accumulation: int = 1
    samples_first: bool = False


class Training:
    """A model in training: its weights, their moving average and the optimizers' state."""

    def __init__(self, model: nn.Module, settings: LoopSettings, device: torch.device) -> None:
        self.model = model.to(device).train()
        self.settings = settings
        self.device = device
        self.step = 0
        self.trained = {
            name: weight for name, weight in model.named_parameters() if weight.requires_grad
        }
        self.average = {name: weight.detach().clone() for name, weight in self.trained.items()}
        self.optimizers = _optimizers(model, self.trained, settings)
        # Whether gradients of the next step have been added.
        self._is_begun = False

    def learning_rate(self) -> float:
        """Returns the learning rate: linear warm-up, constant, linear cool-down to zero."""
        settings = self.settings
        rising = (self.step + 1) / max(1, settings.warmup_steps)
        falling = (settings.steps - self.step) / max(1.0, settings.cooldown * settings.steps)
        return settings.learning_rate * min(1.0, rising, falling)

    def advance(self, *losses: Tensor) -> Tensor:
        """Runs one optimizer step on the losses and returns the gradient's norm before clipping. It
        does not synchronise with a GPU; `assert_finite` checks the values later."""
        for loss in losses:
            self.add_gradients(loss)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.learning_rate()
        norm = nn.utils.clip_grad_norm_(self.trained.values(), GRADIENT_NORM_LIMIT)
        for optimizer in self.optimizers:
            optimizer.step()
        # In the first steps the decay is lower: the average then follows the weights closely, and
        # early samples show progress. Updated in place: Diffusers' EMAModel takes three times as
        # long (21 against 6 ms for 3.4 million weights) and copies all weights at each step.
        decay = min(self.settings.average_decay, (self.step + 1) / (self.step + 10))
        averages, weights = list(self.average.values()), [w.detach() for w in self.trained.values()]
        get_ema_multi_avg_fn(decay)(averages, weights, self.step)
        self.step += 1
        self._is_begun = False
        return norm

    def add_gradients(self, loss: Tensor) -> None:
        """Adds the gradients of one loss to the gradients of the step, and frees the loss's
        graph."""
        if not self._is_begun:
            self._clear_gradients()
        self._is_begun = True
        loss.backward()

    def _clear_gradients(self) -> None:
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)

    def assert_finite(self, last: Sequence[Mapping[str, float]]) -> None:
        """Raises PlainError if a loss or gradient norm of the last steps is not finite.

        Call this before saving weights, so that the newest checkpoint is always usable.
        """
        for ago, values in zip(range(len(last), 0, -1), last, strict=True):
            if not (math.isfinite(values["loss"]) and math.isfinite(values["grad_norm"])):
                raise loss_not_finite(self.step - ago, self.settings.learning_rate)

    @contextmanager
    def ema_weights(self) -> Iterator[nn.Module]:
        """Yields the model with its averaged weights, in evaluation mode, for samples and
        export."""
        # The last step's gradients are no longer needed, and take as much memory as the copied
        # weights.
        self._clear_gradients()
        kept = {name: weight.detach().clone() for name, weight in self.trained.items()}
        _copy_into(self.trained, self.average)
        self.model.eval()
        try:
            yield self.model
        finally:
            _copy_into(self.trained, kept)
            self.model.train()

    def adopt_ema_weights(self) -> None:
        """Replaces the model's weights with the averaged ones at the end of a training."""
        _copy_into(self.trained, self.average)
        self.model.eval()

    def save(self, folder: Path) -> None:
        """Writes `step-<n>.pt` atomically, and deletes all but the newest two."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"step-{self.step:08d}.pt"
        state = {
            "step": self.step,
            "weights": {name: weight.detach() for name, weight in self.trained.items()},
            "average": self.average,
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
        }
        with write_atomically(path) as partial, partial.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        for old in sorted(folder.glob("step-*.pt"))[:-KEPT_CHECKPOINTS]:
            old.unlink()

    def resume(self, folder: Path) -> None:
        """Resumes from the newest readable checkpoint in `folder`; starts over without any.

        Raises PlainError if checkpoints exist but none is readable, or if one is of another
        training.
        """
        paths = sorted(folder.glob("step-*.pt"), reverse=True)
        unreadable: Exception | None = None
        for path in paths:
            try:
                # Load into main memory, because the GPU holds the model. Map the file only for a
                # GPU, which copies all values; CPU optimizers would keep references to the file.
                mapped = self.device.type != "cpu"
                state = torch.load(path, map_location="cpu", mmap=mapped, weights_only=True)
            # The file is truncated, empty or overwritten.
            except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
                if is_out_of_memory(error):
                    raise
                unreadable = error
                continue
            self._adopt(state, path.name)
            return
        if paths:
            raise PlainError(
                f"None of the checkpoints can be read: the newest is {paths[0].name}."
            ) from unreadable

    def _adopt(self, state: dict[str, Any], name: str) -> None:
        try:
            _copy_into(self.trained, state["weights"])
            _copy_into(self.average, state["average"])
            for optimizer, kept in zip(self.optimizers, state["optimizers"], strict=True):
                optimizer.load_state_dict(kept)
            self.step = state["step"]
        except (RuntimeError, KeyError, ValueError) as error:
            if is_out_of_memory(error):
                raise
            raise PlainError(
                f"The checkpoint {name} does not belong to this training: {_first_line(error)}"
            ) from error


@torch.no_grad()
def _copy_into(weights: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    for name, value in values.items():
        weights[name].copy_(value)


def _optimizers(
    model: nn.Module, trained: dict[str, nn.Parameter], settings: LoopSettings
) -> list[torch.optim.Optimizer]:
    """Returns AdamW for everything, or Muon for the matrices of the hidden layers and AdamW for the
    rest.

    Muon (Jordan et al. 2024) is scaled to AdamW's step (Liu et al. 2025, arXiv 2502.16982), so that
    both use one learning rate. After 450 steps the starter Kontext had a third less error than with
    AdamW alone.
    """
    names = hidden_matrices(model) & trained.keys() if settings.optimizer == "muon" else set()
    hidden = [weight for name, weight in trained.items() if name in names]
    rest = [weight for name, weight in trained.items() if name not in names]
    rate, decay = settings.learning_rate, settings.weight_decay
    optimizers: list[torch.optim.Optimizer] = []
    if rest:
        optimizers.append(
            torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.99), weight_decay=decay, fused=True)
        )
    if hidden:
        optimizers.append(
            torch.optim.Muon(hidden, lr=rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw")
        )
    return optimizers


def hidden_matrices(model: nn.Module) -> set[str]:
    """Returns the names of the weights of linear maps in lists of layers: the repeated blocks of a
    transformer, without its input and output layers."""
    return {
        f"{list_name}.{name}.weight"
        for list_name, layers in model.named_modules()
        if isinstance(layers, nn.ModuleList)
        for name, module in layers.named_modules()
        if isinstance(module, nn.Linear)
    }


def run_loop(
    training: Training,
    work_dir: Path,
    reporter: TrainingReporter,
    compute_loss: ComputeLoss,
    evaluate: Evaluate,
) -> bool:
    """Trains to the last step, starting from the newest checkpoint in `work_dir`.

    Calls `evaluate` at every checkpoint, except at a stop; stores its samples as
    `samples/step-<n>`. Returns False if it was stopped, with its work saved.
    """
    settings = training.settings
    training.resume(work_dir / "checkpoints")
    if settings.samples_first and training.step == 0 and not reporter.stop_requested:
        reporter.phase("drawing samples")
        _evaluate(training, work_dir, reporter, evaluate)
    reporter.phase("training")
    recent: deque[dict[str, Tensor]] = deque(maxlen=settings.report_every)
    started, first_step = time.monotonic(), training.step
    while training.step < settings.steps and not reporter.stop_requested:
        draws = [_add_draw(training, compute_loss, draw) for draw in range(settings.accumulation)]
        norm = training.advance()
        of_step = {name: torch.stack([draw[name] for draw in draws]).mean() for name in draws[0]}
        recent.append(of_step | {"grad_norm": norm})
        if training.step % settings.report_every == 0 or training.step == settings.steps:
            rows = _numbers(recent)
            training.assert_finite(rows)
            seconds_a_step = (time.monotonic() - started) / (training.step - first_step)
            remaining = seconds_a_step * (settings.steps - training.step)
            reporter.progress(training.step, settings.steps, "steps", remaining)
            means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
            means |= {"learning_rate": training.learning_rate(), "seconds_a_step": seconds_a_step}
            reporter.metrics(training.step, means)
        if training.step % settings.checkpoint_every == 0 and training.step < settings.steps:
            training.assert_finite(_numbers(recent))
            _checkpoint(training, work_dir, reporter, evaluate)
    training.assert_finite(_numbers(recent))
    _checkpoint(training, work_dir, reporter, evaluate)
    return training.step >= settings.steps


def _add_draw(training: Training, compute_loss: ComputeLoss, draw: int) -> dict[str, Tensor]:
    """Adds the gradients of one of a step's batches; returns its loss and further values."""
    settings = training.settings
    number = training.step * settings.accumulation + draw
    # Random numbers inside the model, such as dropout, must also depend only on the batch.
    torch.manual_seed(step_seed(settings.seed, number))
    with fast_arithmetic(training.device):
        loss, values = compute_loss(number)
    training.add_gradients(loss / settings.accumulation)
    return {"loss": loss.detach()} | {name: value.detach() for name, value in values.items()}


def _numbers(rows: Sequence[Mapping[str, Tensor]]) -> list[dict[str, float]]:
    """Returns the values of some steps in one transfer from the device: the only synchronisation
    with a GPU between two checkpoints."""
    if len(rows) == 0:
        return []
    names = list(rows[0])
    table = torch.stack([torch.stack([row[name].float() for name in names]) for row in rows])
    return [dict(zip(names, values, strict=True)) for values in table.tolist()]


def _checkpoint(
    training: Training,
    work_dir: Path,
    reporter: TrainingReporter,
    evaluate: Evaluate,
) -> None:
    training.save(work_dir / "checkpoints")
    # Report immediately: samples of a full-size model take minutes, and a stopped run would be
    # killed before.
    reporter.checkpoint(training.step)
    if not reporter.stop_requested:
        _evaluate(training, work_dir, reporter, evaluate)


def _evaluate(
    training: Training, work_dir: Path, reporter: TrainingReporter, evaluate: Evaluate
) -> None:
    samples = work_dir / "samples" / f"step-{training.step:08d}"
    samples.parent.mkdir(exist_ok=True)
    with training.ema_weights() as model, torch.no_grad():
        written, measured = evaluate(model, samples)
    reporter.samples(written)
    if measured:
        reporter.metrics(training.step, measured)


def step_generator(seed: int, step: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Returns the random generator of a step's rows and noise, on the device that uses them:
    numbers drawn on the CPU would have to be transferred."""
    return torch.Generator(device).manual_seed(step_seed(seed, step))


def step_seed(seed: int, step: int) -> int:
    """Returns a seed for the step; trainings with different seeds never share one."""
    return (seed << 32) + step


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
