"""Makes bitsandbytes on a CPU behave as on a GPU. With AVX-512 BF16 it repacks weights at the first
evaluation, and then blocks their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import train_spec

if TYPE_CHECKING:
    from pathlib import Path


def keep_unpacked() -> None:
    """Disables repacking in this process."""
    from bitsandbytes.nn import modules

    modules.has_avx512bf16 = lambda: False


def run(path: Path) -> None:
    """As `train_spec.run`."""
    keep_unpacked()
    train_spec.run(path)
