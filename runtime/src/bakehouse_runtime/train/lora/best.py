"""The weights of the lowest held-out loss: those are what a run leaves, not the ones of its last
step, which may have learnt the data by heart. Of few rows that loss says too little to choose by,
and the last step is what was asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from peft import PeftModel, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ...files import written_whole

if TYPE_CHECKING:
    from pathlib import Path

# The loss of fewer held-out rows changes more by chance than by a step.
CHOOSING_ROWS_MIN = 5


@dataclass(frozen=True)
class Best:
    """The step that is kept, and its held-out loss."""

    step: int
    eval_loss: float


def trained_weights(model: Any) -> dict[str, torch.Tensor]:
    """What the run trains, by name: the adapter, or all weights where there is none."""
    if isinstance(model, PeftModel):
        return get_peft_model_state_dict(model, save_embedding_layers=False)
    return {name: weight.data for name, weight in model.named_parameters()}


class BestWeights:
    """Keeps the best weights in one file, over all restarts of the run. The file is written with
    the checkpoints alone, whose share of the time it has part in: each epoch may be better than
    the one before, and what came after the last checkpoint is done again anyway."""

    def __init__(
        self, file: Path, *, chooses: bool = True, dtype: torch.dtype | None = None
    ) -> None:
        """`chooses`: by the loss; else the last step is kept. `dtype`: the numbers in which they
        are kept, where not in those that they are trained in."""
        self.file = file
        self._dtype = dtype
        self.chooses = chooses
        # What the file does not have yet.
        self._unsaved: tuple[Best, dict[str, torch.Tensor]] | None = None

    def note(self, model: Any, step: int, eval_loss: float) -> None:
        """Keeps what of the model is trained if its held-out loss is the lowest so far, or the
        last."""
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
        """Writes what was noted since the last time: a checkpoint goes on from here."""
        if self._unsaved is None:
            return
        best, weights = self._unsaved
        metadata = {"step": str(best.step), "eval_loss": repr(best.eval_loss)}
        with written_whole(self.file) as partial:
            save_file(weights, partial, metadata=metadata)
        self._unsaved = None

    def restore(self, model: Any, last_step: int) -> Best | None:
        """Puts the best weights into the model, unless those of the last step are. None where
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
