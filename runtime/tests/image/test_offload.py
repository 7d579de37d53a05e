"""Tests that idle models leave the device and then generate the same picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.lora import ChosenLora
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_runtime.image.residency import ExpertCache

from .tiny import (
    difference,
    lora_weights,
    tiny_transformer,
    write_lora,
    write_tiny_kontext,
    write_tiny_paris,
)

CPU = torch.device("cpu")
# Simulates a GPU: torch computes on it, but it compares unequal to the CPU.
DEVICE = torch.device("cpu", 0)


def places(part: Any, monkeypatch: pytest.MonkeyPatch) -> list[torch.device]:
    """Records where the part is moved from now on."""
    seen: list[torch.device] = []
    to = part.to
    monkeypatch.setattr(part, "to", lambda device: seen.append(device) or to(device))
    return seen


def test_offloads_an_idle_paris_until_the_next_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paris = ParisPipeline.from_folder(write_tiny_paris(tmp_path / "paris"), DEVICE)
    # With top-1 routing, some of the eight experts are never used.
    request = ParisRequest("a red apple", 1, steps=2, strategy="top1")
    before = paris.generate([request])[0].media
    others = [
        places(part, monkeypatch)
        for part in (paris.family.text_encoder, paris.router, paris.family.autoencoder)
    ]
    experts = [places(expert, monkeypatch) for expert in paris.experts]
    paris.offload()
    assert others == [[CPU]] * 3
    assert experts == [[CPU]] * 8
    for _ in range(2):
        assert difference(paris.generate([request])[0].media, before) <= 1
    assert others == [[CPU, DEVICE]] * 3
    assert 1 <= sum(seen == [CPU, DEVICE] for seen in experts) <= 2
    assert sum(seen == [CPU] for seen in experts) >= 6


def test_an_idle_paris_drops_its_copies(tmp_path: Path) -> None:
    paris = ParisPipeline.from_folder(write_tiny_paris(tmp_path / "paris"), DEVICE)
    paris._cache = ExpertCache(paris.experts, DEVICE, 3)
    request = ParisRequest("a red apple", 1, steps=2)
    before = paris.generate([request])[0].media
    paris.offload()
    assert paris._cache._on_device == {}
    assert difference(paris.generate([request])[0].media, before) <= 1


def test_an_idle_kontext_keeps_only_its_transformer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformer = tiny_transformer()
    write_tiny_kontext(tmp_path / "kontext", transformer=transformer)
    kontext = KontextPipeline.from_folder(tmp_path / "kontext", CPU)
    monkeypatch.setattr(kontext, "device", DEVICE)
    file = write_lora(tmp_path / "lora.safetensors", lora_weights(transformer, 1))
    request = KontextRequest("a cat", 1, 2, 2.5, None, ChosenLora("a", file, 1))
    before = kontext.generate([request])[0].media
    assert kontext._loras._kept
    parts = (kontext.family.text_encoder, kontext.family.autoencoder, kontext.transformer)
    text, autoencoder, kept = (places(part, monkeypatch) for part in parts)
    kontext.offload()
    assert not kontext._loras._kept
    for _ in range(2):
        assert difference(kontext.generate([request])[0].media, before) <= 1
    assert text == autoencoder == [CPU, DEVICE]
    assert kept == []
