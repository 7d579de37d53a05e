"""The adapter of the lowest held-out loss: that is what a run leaves, not the one of its last step,
which may have learnt the data by heart. Of few rows that loss says too little to choose by, and
the last step is what was asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from peft import get_peft_model_state_dict, set_peft_model_state_dict
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ...files import written_whole

if TYPE_CHECKING:
    from pathlib import Path

    import torch


# The loss of fewer held-out rows changes more by chance than by a step.
CHOOSING_ROWS_MIN = 5


@dataclass(frozen=True)
class Best:
    """The step that is kept, and its held-out loss."""

    step: int
    eval_loss: float


class BestAdapter:
    """Keeps the best adapter in one file, over all restarts of the run. The file is written with
    the checkpoints alone, whose share of the time it has part in: each epoch may be better than
    the one before, and what came after the last checkpoint is done again anyway."""

    def __init__(self, file: Path, *, chooses: bool = True) -> None:
        """`chooses`: by the loss; else the last step is kept."""
        self.file = file
        self.chooses = chooses
        # What the file does not have yet.
        self._unsaved: tuple[Best, dict[str, torch.Tensor]] | None = None

    def note(self, model: Any, step: int, eval_loss: float) -> None:
        """Keeps the model's adapter if its held-out loss is the lowest so far, or the last."""
        known = self._known()
        is_higher = self.chooses and known is not None and known.eval_loss <= eval_loss
        if not math.isfinite(eval_loss) or is_higher:
            return
        weights = get_peft_model_state_dict(model, save_embedding_layers=False)
        copies = {
            name: weight.detach().to("cpu", copy=True).contiguous()
            for name, weight in weights.items()
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
        """Puts the best adapter into the model, unless that of the last step is it. None where
        nothing was held out."""
        best = self._known()
        if best is not None and best.step != last_step:
            weights = self._unsaved[1] if self._unsaved else load_file(self.file)
            set_peft_model_state_dict(model, weights)
        return best

    def _known(self) -> Best | None:
        return self._unsaved[0] if self._unsaved else self._read()

    def _read(self) -> Best | None:
        if not self.file.exists():
            return None
        with safe_open(self.file, "pt") as stored:
            said = cast("dict[str, str]", stored.metadata())
        return Best(int(said["step"]), float(said["eval_loss"]))
