"""The adapter of the lowest held-out loss: that is what a run leaves, not the one of its last step,
which may have learnt the data by heart."""

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


@dataclass(frozen=True)
class Best:
    """Where the held-out loss was lowest."""

    step: int
    eval_loss: float


class BestAdapter:
    """Keeps the best adapter in one file, over all restarts of the run."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def note(self, model: Any, step: int, eval_loss: float) -> None:
        """Keeps the model's adapter if its held-out loss is the lowest so far."""
        known = self._read()
        if not math.isfinite(eval_loss) or (known and known.eval_loss <= eval_loss):
            return
        weights = get_peft_model_state_dict(model, save_embedding_layers=False)
        with written_whole(self.file) as partial:
            save_file(
                {name: weight.detach().cpu().contiguous() for name, weight in weights.items()},
                partial,
                metadata={"step": str(step), "eval_loss": repr(eval_loss)},
            )

    def restore(self, model: Any, last_step: int) -> Best | None:
        """Puts the best adapter into the model, unless that of the last step is it. None where
        nothing was held out."""
        best = self._read()
        if best is not None and best.step != last_step:
            set_peft_model_state_dict(model, load_file(self.file))
        return best

    def _read(self) -> Best | None:
        if not self.file.exists():
            return None
        with safe_open(self.file, "pt") as stored:
            said = cast("dict[str, str]", stored.metadata())
        return Best(int(said["step"]), float(said["eval_loss"]))
