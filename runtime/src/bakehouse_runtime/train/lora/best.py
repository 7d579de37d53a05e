"""Tracks the weights with the lowest held-out loss, which a run exports instead of the last step's,
because later steps may have overfitted. With few held-out rows the loss is too noisy to choose by,
and the last step is exported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from peft import PeftModel, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ...files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

# With fewer held-out rows the loss varies more by chance than by a step.
CHOOSING_ROWS_MIN = 5


@dataclass(frozen=True)
class Best:
    """The exported step and its held-out loss."""

    step: int
    eval_loss: float


def trained_weights(model: Any) -> dict[str, torch.Tensor]:
    """Returns the trained weights by name: the adapter, or all weights without one."""
    if isinstance(model, PeftModel):
        return get_peft_model_state_dict(model, save_embedding_layers=False)
    return {name: weight.data for name, weight in model.named_parameters()}


class BestWeights:
    """Stores the best weights in one file, over all restarts of the run. The file is written
    together with checkpoints and shares their time budget: steps after the last checkpoint are
    repeated anyway."""

    def __init__(
        self, file: Path, *, chooses: bool = True, dtype: torch.dtype | None = None
    ) -> None:
        """`chooses`: by the loss; otherwise the last step wins. `dtype` is the stored dtype;
        defaults to the dtype in training."""
        self.file = file
        self._dtype = dtype
        self.chooses = chooses
        # Weights that are not written yet.
        self._unsaved: tuple[Best, dict[str, torch.Tensor]] | None = None

    def record(self, model: Any, step: int, eval_loss: float) -> None:
        """Records the trained weights if their held-out loss is a new minimum, or if the last step
        wins."""
        known = self._known()
        is_higher = self.chooses and known is not None and known.eval_loss <= eval_loss
        if not math.isfinite(eval_loss) or is_higher:
            return
        copies = {
            name: weight.detach().to("cpu", self._dtype, copy=True).contiguous()
            for name, weight in trained_weights(model).items()
        }
        self._unsaved = (Best(step, eval_loss), copies)

    def save(self) -> None:
        """Writes the weights recorded since the last call, so that a checkpoint can resume from
        them."""
        if self._unsaved is None:
            return
        best, weights = self._unsaved
        metadata = {"step": str(best.step), "eval_loss": repr(best.eval_loss)}
        with write_atomically(self.file) as partial:
            save_file(weights, partial, metadata=metadata)
        self._unsaved = None

    def restore(self, model: Any, last_step: int) -> Best | None:
        """Loads the best weights into the model, unless the last step is the best. Returns None if
        nothing was held out."""
        best = self._known()
        if best is not None and best.step != last_step:
            weights = self._unsaved[1] if self._unsaved else load_file(self.file)
            _put_back(model, weights)
        return best

    def _known(self) -> Best | None:
        return self._unsaved[0] if self._unsaved else self._read()

    def _read(self) -> Best | None:
        if not self.file.exists():
            return None
        with safe_open(self.file, "pt") as stored:
            said = cast("dict[str, str]", stored.metadata())
        return Best(int(said["step"]), float(said["eval_loss"]))


def _put_back(model: Any, weights: dict[str, torch.Tensor]) -> None:
    if isinstance(model, PeftModel):
        set_peft_model_state_dict(model, weights)
        return
    for name, weight in model.named_parameters():
        weight.data.copy_(weights[name])
