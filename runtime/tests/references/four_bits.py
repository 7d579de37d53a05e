"""bitsandbytes on a CPU as on a GPU. On processors with AVX-512 BF16 it packs weights anew when it
first evaluates, and lets no gradient pass them from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import train_spec

if TYPE_CHECKING:
    from pathlib import Path


def keep_unpacked() -> None:
    """For this process."""
    from bitsandbytes.nn import modules

    modules.has_avx512bf16 = lambda: False


def run(path: Path) -> None:
    """As `train_spec.run`."""
    keep_unpacked()
    train_spec.run(path)
