"""The evaluation on held-out rows shared by all trainers."""

from __future__ import annotations

from typing import Any

import torch

from ...errors import StopRequested
from .ranks.trainer import OverRanks


class Evaluated(OverRanks):
    """Computes means over all held-out rows. Trainer averages the means of batches, which depend on
    their size."""

    # For each measurement: its sum and its count.
    _sums: dict[str, tuple[float, float]]

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """TRL writes a card into every checkpoint; ours is written once, by `export`."""

    def _prepare_dataset(self, dataset: Any, *_: Any, **__: Any) -> Any:
        """The examples are already tokenised."""
        return dataset

    def evaluate(self, *args: Any, **options: Any) -> dict[str, float]:
        # An evaluation draws random numbers; isolate them, so that a killed and resumed run trains
        # on the same numbers.
        with torch.random.fork_rng():
            try:
                return super().evaluate(*args, **options)
            except StopRequested:
                # Return normally, so that Trainer saves if the callback has requested it.
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
        """Records the measurements of a batch with this loss."""
        raise NotImplementedError

    def record(self, name: str, mean: float, count: float) -> None:
        """Adds a batch to a measurement: its mean and its count."""
        total, before = self._sums.get(name, (0.0, 0.0))
        self._sums[name] = (total + mean * count, before + count)
