"""What a device is asked to compute in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bakehouse_runtime.device import serving_dtype, weights_dtype

if TYPE_CHECKING:
    import pytest


def test_a_cpu_serves_in_bfloat16_where_it_multiplies_it(monkeypatch: pytest.MonkeyPatch) -> None:
    capabilities: dict[str, bool] = {}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert serving_dtype("cpu") == torch.float32
    for name in ("avx512_bf16", "amx_bf16", "bf16"):
        capabilities = {name: True}
        assert serving_dtype("cpu") == torch.bfloat16
    assert weights_dtype("cpu") == torch.float32, "what is trained stays exact"
