"""Trains tiny models of all families from scratch for a few steps."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image

from bakehouse_runtime.image.flux.family import Flux
from bakehouse_runtime.image.flux.text import FluxText
from bakehouse_runtime.image.paris.family import Paris
from bakehouse_runtime.image.paris.model import Expert
from bakehouse_runtime.image.training.latent_cache import (
    CachedRows,
    LatentCache,
    write_latent_cache,
)
from bakehouse_runtime.train.diffusion.train import (
    DiffusionTraining,
    TrainingData,
    _on_device,
    flow_loss,
    sample,
    train_network,
)

from .line import SETTINGS, Recorder
from .synchronisations import WITHOUT_REPORTS, check_that_no_step_reads
from .tiny import TINY_EXPERT, DrawnExamples, tiny_transformer, untrained_transformer


def test_an_expert_learns_its_training_rows(
    tmp_path: Path, drawn_cache: LatentCache, autoencoder: AutoencoderKL
) -> None:
    expert = Expert(TINY_EXPERT)
    expert.initialise(2)
    recorder = Recorder()
    settings = DiffusionTraining(replace(SETTINGS, steps=40, average_decay=0.8), batch_size=8)
    rows, held_out = (
        TrainingData.of(drawn_cache.select(rows)) for rows in (np.arange(30), np.arange(30, 40))
    )
    family = Paris(autoencoder, None)
    assert train_network(family, expert, rows, held_out, settings, tmp_path, recorder, "cpu")
    assert recorder.curve("eval_loss")[-1] < recorder.curve("eval_loss")[0]
    assert Image.open(recorder.of("samples")[-1]).size == (8 * 32, 2 * 32), "made, wanted"


def test_samples_use_guidance_with_the_empty_prompt(
    drawn_cache: LatentCache, autoencoder: AutoencoderKL
) -> None:
    seen: list[torch.Tensor] = []

    class RecordingExpert(Expert):
        def forward(
            self, latent: torch.Tensor, time: torch.Tensor, text: torch.Tensor
        ) -> torch.Tensor:
            seen.append(text)
            return super().forward(latent, time, text)

    numbers = drawn_cache.text_of[:2]
    text = drawn_cache.text(torch.cat([numbers, torch.zeros_like(numbers)]))
    family, expert = Paris(autoencoder, None), RecordingExpert(TINY_EXPERT)
    with torch.no_grad():
        sample(family, expert, torch.zeros(2, 4, 4, 4), text)
    assert torch.equal(seen[0], text.tokens)
    assert torch.equal(seen[0][2], seen[0][3])


@pytest.fixture(scope="module")
def flux_data(autoencoder: AutoencoderKL, tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    parts = []
    family = Flux(autoencoder, FluxText.of_sentence_encoder())
    for examples in (DrawnExamples(24, edits=True), DrawnExamples(24)):
        folder = tmp_path_factory.mktemp("flux")
        write_latent_cache(folder, examples, family, Recorder())
        parts.append(LatentCache(folder).all_rows())
    return TrainingData(*parts)


def test_flux_learns_edits_and_pictures(
    tmp_path: Path, flux_data: TrainingData, autoencoder: AutoencoderKL
) -> None:
    assert flux_data.edits is not None
    assert flux_data.edits.cache.sources is not None
    recorder = Recorder()
    settings = DiffusionTraining(replace(SETTINGS, steps=24, average_decay=0.8), batch_size=8)
    assert train_network(
        Flux(autoencoder, None), untrained_transformer(), flux_data, flux_data, settings, tmp_path,
        recorder, "cpu",
    )  # fmt: skip
    for name in ("eval_loss_edits", "eval_loss_pictures"):
        assert recorder.curve(name)[-1] < recorder.curve(name)[0]
    sheet = Image.open(recorder.of("samples")[-1])
    assert sheet.size == (8 * 32, 5 * 32), "source, made, wanted; made, wanted"


def test_training_and_held_out_rows_share_one_cache(
    flux_data: TrainingData, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert flux_data.edits is not None
    cache = flux_data.edits.cache
    moved: list[LatentCache] = []
    to = LatentCache.to
    monkeypatch.setattr(LatentCache, "to", lambda one, device: moved.append(one) or to(one, device))
    parts = [cache.select(np.arange(2, 24)), cache.select(np.arange(2))]
    train, held_out = _on_device([TrainingData.of(part) for part in parts], torch.device("cpu"))
    assert moved == [cache]
    assert isinstance(train, TrainingData)
    assert isinstance(held_out, TrainingData)
    assert train.edits is not None
    assert held_out.edits is not None
    assert train.edits.cache is held_out.edits.cache
    assert train.edits.cache.latents.data_ptr() == cache.latents.data_ptr()
    assert held_out.edits.rows.tolist() == [0, 1]


def test_weighs_latents_in_the_loss(flux_data: TrainingData, autoencoder: AutoencoderKL) -> None:
    assert flux_data.edits is not None
    cache = copy(flux_data.edits.cache)
    rows, t = torch.arange(2), torch.full((2,), 0.5)
    noise = torch.randn(2, 4, 4, 4, generator=torch.Generator().manual_seed(0))
    # An untrained network predicts zero, so the errors are known.
    errors = (noise - cache.latents[rows].float()).square().mean(dim=1)

    def loss() -> float:
        chosen = CachedRows(cache, rows)
        network = untrained_transformer()
        family = Flux(autoencoder, None)
        with torch.no_grad():
            return float(flow_loss(family, network, chosen, cache.text_of[rows], t, noise, 1 + t))

    assert loss() == pytest.approx(float(errors.mean()), rel=1e-4)
    cache.weights = torch.ones(len(cache), 4, 4, dtype=torch.uint8)
    cache.weights[:, 0, 1] = 7
    one, others = errors[:, 0, 1].mean(), errors.flatten(1).sum(1).mean() - errors[:, 0, 1].mean()
    assert loss() == pytest.approx(float(7 * one + others) / (7 + 15), rel=1e-4)


def test_examples_alternate_between_time_shifts(
    tmp_path: Path,
    drawn_cache: LatentCache,
    autoencoder: AutoencoderKL,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[torch.Tensor] = []

    def recording(*given: Any) -> torch.Tensor:
        seen.append(given[4])
        return flow_loss(*given)

    data = TrainingData.of(drawn_cache.all_rows())
    monkeypatch.setattr("bakehouse_runtime.train.diffusion.train.flow_loss", recording)

    def times(name: str, shift: float | tuple[float, ...]) -> torch.Tensor:
        seen.clear()
        settings = DiffusionTraining(replace(SETTINGS, steps=1), batch_size=5, time_shift=shift)
        train_network(
            Paris(autoencoder, None), Expert(TINY_EXPERT), data, data, settings, tmp_path / name,
            Recorder(), "cpu",
        )  # fmt: skip
        return seen[0]

    plain, shifted, mixed = times("1", 1.0), times("3", 3.0), times("both", (1.0, 3.0))
    assert (shifted > plain).all()
    assert torch.equal(mixed[::2], plain[::2])
    assert torch.equal(mixed[1::2], shifted[1::2])


@pytest.mark.parametrize("kind", ["flux", "expert"])
def test_steps_do_not_synchronise_with_the_device(
    tmp_path: Path,
    drawn_cache: LatentCache,
    flux_data: TrainingData,
    autoencoder: AutoencoderKL,
    kind: str,
) -> None:
    settings = DiffusionTraining(replace(WITHOUT_REPORTS, optimizer="muon"), batch_size=8)
    if kind == "flux":
        family, network, data = Flux(autoencoder, None), tiny_transformer(), flux_data
    else:
        family, network = Paris(autoencoder, None), Expert(TINY_EXPERT)
        data = TrainingData.of(drawn_cache.all_rows())
    check_that_no_step_reads(
        lambda recorder: train_network(
            family, network, data, data, settings, tmp_path, recorder, "cpu"
        )
    )
