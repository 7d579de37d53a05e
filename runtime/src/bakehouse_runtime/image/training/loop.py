"""The loop that all trainers of media share: steps, averaged weights, checkpoints, resuming.

A step's data and noise are drawn from (seed, step) alone, so a training that was killed and
resumed from its checkpoint goes on exactly as if it had not been, where the data lies on the same
kind of device (a GPU draws other numbers).
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
from ...files import written_whole
from .device import fast_arithmetic

KEPT_CHECKPOINTS = 2
GRADIENT_NORM_LIMIT = 1.0

Unit: TypeAlias = Literal["steps", "bytes", "examples"]


class TrainingReporter(Protocol):
    """The part of the runtime's Reporter that trainers use, and a place for samples."""

    @property
    def stop_requested(self) -> bool:
        """Whether to save and end after the current step."""
        ...

    def phase(self, phase: str) -> None: ...

    def progress(
        self, done: float, total: float, unit: Unit, remaining_seconds: float | None = None
    ) -> None: ...

    def metrics(self, step: int, values: Mapping[str, float]) -> None: ...

    def log(self, line: str) -> None: ...

    def checkpoint(self, step: int) -> None: ...

    def samples(self, written: Path) -> None:
        """Samples of a checkpoint have been written: a file, or a folder of them."""
        ...


# The loss of a batch by its number, which is the step's unless a step has several, and further
# values for the curves.
ComputeLoss: TypeAlias = Callable[[int], tuple[Tensor, dict[str, Tensor]]]
# Gets the model with its averaged weights, writes samples to the path with the ending of their
# kind, or into a folder there, and gives where they are and measurements for the curves.
Evaluate: TypeAlias = Callable[[nn.Module, Path], tuple[Path, dict[str, float]]]


@dataclass(frozen=True)
class LoopSettings:
    """How long and how fast. `cooldown` is the last part of the steps in which the learning rate
    falls to zero; `average_decay` that of the exponential average of the weights. `muon` suits a
    transformer from nothing; weights that were made by AdamW are best tuned by it. `accumulation`
    is how many losses make a step; `samples_first` asks for samples before the first one."""

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
    """A model in training: its weights, their running average and the optimizers' state."""

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
        # Whether gradients of the next step are there.
        self._is_begun = False

    def learning_rate(self) -> float:
        """Linear warm-up, constant, linear cool-down to zero."""
        settings = self.settings
        rising = (self.step + 1) / max(1, settings.warmup_steps)
        falling = (settings.steps - self.step) / max(1.0, settings.cooldown * settings.steps)
        return settings.learning_rate * min(1.0, rising, falling)

    def advance(self, *losses: Tensor) -> Tensor:
        """One optimizer step on the losses; the gradient's norm before clipping. It does not wait
        for a GPU, so whether they are numbers is asked later, by `refuse_unless_finite`."""
        for loss in losses:
            self.add_gradients(loss)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.learning_rate()
        norm = nn.utils.clip_grad_norm_(self.trained.values(), GRADIENT_NORM_LIMIT)
        for optimizer in self.optimizers:
            optimizer.step()
        # A young average follows the weights closely, so that early samples show them. In place:
        # Diffusers' EMAModel takes three times as long (21 against 6 ms for 3.4 million weights)
        # and a copy of all weights at each step.
        decay = min(self.settings.average_decay, (self.step + 1) / (self.step + 10))
        averages, weights = list(self.average.values()), [w.detach() for w in self.trained.values()]
        get_ema_multi_avg_fn(decay)(averages, weights, self.step)
        self.step += 1
        self._is_begun = False
        return norm

    def add_gradients(self, loss: Tensor) -> None:
        """Adds the gradients of one of several losses to those of the step; what it took to compute
        the loss is freed."""
        if not self._is_begun:
            self._forget_gradients()
        self._is_begun = True
        loss.backward()

    def _forget_gradients(self) -> None:
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)

    def refuse_unless_finite(self, last: Sequence[Mapping[str, float]]) -> None:
        """Raises PlainError where a loss or a gradient's norm of the last steps was no number.

        To be asked before weights are saved: the newest checkpoint must stay worth resuming.
        """
        for ago, values in zip(range(len(last), 0, -1), last, strict=True):
            if not (math.isfinite(values["loss"]) and math.isfinite(values["grad_norm"])):
                raise loss_not_finite(self.step - ago, self.settings.learning_rate)

    @contextmanager
    def ema_weights(self) -> Iterator[nn.Module]:
        """The model with its averaged weights, in evaluation mode, for samples and export."""
        # The last step's gradients are needed no more, and take as much as the weights kept here.
        self._forget_gradients()
        kept = {name: weight.detach().clone() for name, weight in self.trained.items()}
        _copy_into(self.trained, self.average)
        self.model.eval()
        try:
            yield self.model
        finally:
            _copy_into(self.trained, kept)
            self.model.train()

    def adopt_ema_weights(self) -> None:
        """Leaves the averaged weights in the model for good: the end of a training."""
        _copy_into(self.trained, self.average)
        self.model.eval()

    def save(self, folder: Path) -> None:
        """Writes `step-<n>.pt` whole or not at all, and forgets all but the newest two."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"step-{self.step:08d}.pt"
        state = {
            "step": self.step,
            "weights": {name: weight.detach() for name, weight in self.trained.items()},
            "average": self.average,
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
        }
        with written_whole(path) as partial, partial.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        for old in sorted(folder.glob("step-*.pt"))[:-KEPT_CHECKPOINTS]:
            old.unlink()

    def resume(self, folder: Path) -> None:
        """Goes on from the newest checkpoint in `folder` that can be read; without any, anew.

        Raises PlainError where none of some can be read, or that one is of another training.
        """
        paths = sorted(folder.glob("step-*.pt"), reverse=True)
        unreadable: Exception | None = None
        for path in paths:
            try:
                # Not onto a GPU, where it would lie beside the model until it is adopted. There
                # all is copied; on the CPU the optimizers keep it, and would keep the mapped file.
                mapped = self.device.type != "cpu"
                state = torch.load(path, map_location="cpu", mmap=mapped, weights_only=True)
            # A file that is cut off, empty or overwritten.
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
    """AdamW for everything; or Muon for the matrices of the hidden layers and AdamW for the rest.

    Muon (Jordan et al. 2024) scaled to AdamW's step (Liu et al. 2025, arXiv 2502.16982), so that
    one learning rate serves both. The starter Kontext was wrong by a third less after its first
    450 steps than with AdamW alone.
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
    """The names of the weights of linear maps in lists of layers: in what a transformer repeats,
    not in what leads in and out of it."""
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
    """Trains up to the last step, from the newest checkpoint in `work_dir` on.

    `evaluate` is called at every checkpoint, but for one at which a stop is asked for; its samples
    are kept as `samples/step-<n>`. Returns False where it was asked to stop, with its work saved.
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
            training.refuse_unless_finite(rows)
            seconds_a_step = (time.monotonic() - started) / (training.step - first_step)
            remaining = seconds_a_step * (settings.steps - training.step)
            reporter.progress(training.step, settings.steps, "steps", remaining)
            means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
            means |= {"learning_rate": training.learning_rate(), "seconds_a_step": seconds_a_step}
            reporter.metrics(training.step, means)
        if training.step % settings.checkpoint_every == 0 and training.step < settings.steps:
            training.refuse_unless_finite(_numbers(recent))
            _checkpoint(training, work_dir, reporter, evaluate)
    training.refuse_unless_finite(_numbers(recent))
    _checkpoint(training, work_dir, reporter, evaluate)
    return training.step >= settings.steps


def _add_draw(training: Training, compute_loss: ComputeLoss, draw: int) -> dict[str, Tensor]:
    """Adds the gradients of one of a step's batches; its loss and further values."""
    settings = training.settings
    number = training.step * settings.accumulation + draw
    # What a model draws by itself, as dropout does, is the batch's alone too.
    torch.manual_seed(step_seed(settings.seed, number))
    with fast_arithmetic(training.device):
        loss, values = compute_loss(number)
    training.add_gradients(loss / settings.accumulation)
    return {"loss": loss.detach()} | {name: value.detach() for name, value in values.items()}


def _numbers(rows: Sequence[Mapping[str, Tensor]]) -> list[dict[str, float]]:
    """The values of some steps, read from the device at once: a GPU is waited for here and nowhere
    else between two checkpoints."""
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
    # At once: samples of a full-size model take minutes, and a stopped run is killed before that.
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
    """The source of a step's rows and noise, on the device where they are needed: what one draws on
    a CPU must be waited for."""
    return torch.Generator(device).manual_seed(step_seed(seed, step))


def step_seed(seed: int, step: int) -> int:
    """A seed of the step's own: two trainings of different seeds never share one."""
    return (seed << 32) + step


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
