"""The objectives, each based on a trainer of TRL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dpo import DPO
from .grpo import GRPO
from .kto import KTO
from .sft import SFT

if TYPE_CHECKING:
    from ....protocol import Objective
    from .objective import TrainingObjective

OBJECTIVES: dict[Objective, TrainingObjective] = {
    "sft": SFT,
    "dpo": DPO,
    "kto": KTO,
    "grpo": GRPO,
}
