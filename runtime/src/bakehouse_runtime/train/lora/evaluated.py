"""How every trainer here measures what is held out."""

from __future__ import annotations

from typing import Any

import torch

from ...errors import StopRequested
from .ranks.trainer import OverRanks


class Evaluated(OverRanks):
    """Measures means over all that is held out, whatever the batches. Trainer's own, means of the
    batches' means, depend on their size."""

    # Of each measure: its sum, and over how much.
    _sums: dict[str, tuple[float, float]]

    def evaluate(self, *args: Any, **options: Any) -> dict[str, float]:
        # An evaluation draws random numbers, which a run that was killed in it does not draw again:
        # what training draws must not depend on that.
        with torch.random.fork_rng():
            try:
                return super().evaluate(*args, **options)
            except StopRequested:
                # Trainer saves right after this, where the callback has asked for it.
                if self.is_in_train and self.control.should_save:
                    return {}
                raise

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **options: Any) -> Any:
        self._sums = {}
        output: Any = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **options)
        names = sorted(self._sums)
        sums = self.ranks.all_reduce([value for name in names for value in self._sums[name]])
        for name, total, count in zip(names, sums[::2], sums[1::2], strict=True):
            output.metrics[f"{metric_key_prefix}_{name}"] = total / max(1.0, count)
        return output

    def prediction_step(
        self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any
    ) -> tuple[torch.Tensor, None, None]:
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            loss: Any = self.compute_loss(model, inputs)
        self.measure(inputs, float(loss))
        return loss.detach(), None, None

    def measure(self, inputs: dict[str, Any], loss: float) -> None:
        """Notes what a batch with this loss measures."""
        raise NotImplementedError

    def note(self, name: str, mean: float, count: float) -> None:
        """Adds a batch to a measure: its mean, and over how much that is one."""
        total, before = self._sums.get(name, (0.0, 0.0))
        self._sums[name] = (total + mean * count, before + count)
