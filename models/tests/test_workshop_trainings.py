"""Tests the trainings of the starters, from scratch, for a few steps on tiny shapes."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.autoencoder import encode_pictures
from bakehouse_runtime.image.flux.family import Flux
from bakehouse_runtime.image.paris.family import Paris
from bakehouse_runtime.image.paris.model import Router
from bakehouse_runtime.image.text import SentenceText, TextStates
from bakehouse_runtime.image.training.latent_cache import LatentCache, write_latent_cache
from image.line import SETTINGS, Recorder
from image.synchronisations import WITHOUT_REPORTS, check_that_no_step_reads
from image.tiny import TINY_ROUTER, DrawnExamples, tiny_autoencoder, tiny_transformer
from workshop.autoencoder import (
    AutoencoderShape,
    AutoencoderTraining,
    build_autoencoder,
    export_autoencoder,
    psnr,
    train_autoencoder,
)
from workshop.classifier import Classifier, feature_loss, load_classifier, train_classifier
from workshop.flux import build_transformer, initialise_from
from workshop.scenes.objects import CutOut
from workshop.train_router import train_router

JUDGE = Path(__file__).resolve().parents[1] / "judge" / "judge.safetensors"
TINY_AUTOENCODER = AutoencoderShape(channels=(8, 8, 8, 8), latent_channels=4, picture_side=32)


class Drawn:
    """Returns random pictures from a fixed list."""

    def __init__(self, pictures: list[Image.Image]) -> None:
        self.pictures = pictures

    def draw(self, rng: np.random.Generator, count: int) -> list[Image.Image]:
        return [self.pictures[index] for index in rng.integers(len(self.pictures), size=count)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, sentences: SentenceText) -> LatentCache:
    folder = tmp_path_factory.mktemp("latents")
    write_latent_cache(folder, DrawnExamples(40), Paris(tiny_autoencoder(), sentences), Recorder())
    return LatentCache(folder)


def test_trains_and_writes_the_autoencoder(tmp_path: Path) -> None:
    held_out = [DrawnExamples(4)[index].picture for index in range(4)]
    source = Drawn(held_out)
    model = build_autoencoder(TINY_AUTOENCODER, seed=1)
    recorder = Recorder()
    settings = AutoencoderTraining(replace(SETTINGS, steps=40, average_decay=0.8), batch_size=4)
    assert train_autoencoder(model, source, held_out, settings, tmp_path, recorder, "cpu")
    assert recorder.curve("l1")[-1] < recorder.curve("l1")[0]
    assert recorder.curve("eval_psnr")[-1] > recorder.curve("eval_psnr")[0]
    export_autoencoder(model, held_out, tmp_path / "vae")
    written = AutoencoderKL.from_pretrained(tmp_path / "vae")
    assert written.config["scaling_factor"] > 0
    encoder = {name: weight.clone() for name, weight in model.encoder.state_dict().items()}
    decoder_only = replace(settings, freeze_encoder=True, loop=replace(SETTINGS, steps=2))
    train_autoencoder(model, source, held_out, decoder_only, tmp_path / "polish", Recorder(), "cpu")
    assert all(torch.equal(encoder[name], w) for name, w in model.encoder.state_dict().items())


def test_trains_and_writes_the_classifier(tmp_path: Path, cut_outs: list[CutOut]) -> None:
    torch.manual_seed(1)
    classifier = Classifier(len(cut_outs))
    recorder = Recorder()
    loop = replace(SETTINGS, steps=30, learning_rate=3e-3, average_decay=0.8, checkpoint_every=30)
    assert train_classifier(classifier, cut_outs, loop, 4, tmp_path, recorder, "cpu")
    assert recorder.curve("loss")[-1] < 0.7 * recorder.curve("loss")[0]
    assert recorder.curve("eval_named")[-1] > 2 / len(cut_outs), "better than by chance"
    written = load_classifier(tmp_path / "classifier.safetensors", torch.device("cpu"))
    assert not any(weight.requires_grad for weight in written.parameters())
    pictures = torch.randn(2, 3, 64, 64)
    torch.testing.assert_close(written(pictures), classifier(pictures))


def test_the_judge_is_not_used_in_training() -> None:
    with pytest.raises(PlainError, match="The classifier"):
        load_classifier(JUDGE, torch.device("cpu"))


def test_feature_loss_is_zero_only_for_equal_pictures() -> None:
    torch.manual_seed(2)
    classifier = Classifier(3)
    wanted = torch.rand(2, 3, 32, 32)
    blurred = F.avg_pool2d(wanted, 3, stride=1, padding=1)
    assert feature_loss(classifier, wanted, wanted) == 0
    assert feature_loss(classifier, blurred, wanted) > 0.001


def test_a_polished_decoder_keeps_the_latents(tmp_path: Path) -> None:
    held_out = [DrawnExamples(4)[index].picture for index in range(4)]
    torch.manual_seed(3)
    classifier = Classifier(3).requires_grad_(False)
    before = copy.deepcopy(classifier.state_dict())
    model = tiny_autoencoder()
    latents = encode_pictures(model, held_out)
    decoder = copy.deepcopy(model.decoder.state_dict())
    settings = AutoencoderTraining(
        replace(SETTINGS, steps=24, average_decay=0.8), 4, feature_weight=1.0, freeze_encoder=True
    )
    recorder = Recorder()
    assert train_autoencoder(
        model, Drawn(held_out), held_out, settings, tmp_path, recorder, "cpu", classifier
    )
    assert torch.equal(encode_pictures(model, held_out), latents)
    assert any(not torch.equal(decoder[name], w) for name, w in model.decoder.state_dict().items())
    assert recorder.curve("eval_features")[-1] < recorder.curve("eval_features")[0]
    assert recorder.curve("loss")[0] == pytest.approx(
        sum(recorder.curve(name)[0] for name in ("l1", "edges", "features")), rel=1e-2
    )
    assert all(torch.equal(before[name], w) for name, w in classifier.state_dict().items())


def test_computes_psnr_of_known_errors() -> None:
    wanted = torch.zeros(1, 3, 4, 4)
    assert psnr(wanted + 0.2, wanted) == pytest.approx(20.0, abs=1e-3)


def test_router_learns_visible_clusters(tmp_path: Path, cache: LatentCache) -> None:
    signed = copy.copy(cache)
    clusters = np.arange(40) % 2
    signs = torch.from_numpy(2.0 * clusters - 1)[:, None, None, None]
    signed.latents = (signs * torch.ones(40, 4, 4, 4)).half()
    router = Router(replace(TINY_ROUTER, experts=2))
    router.initialise(2)
    recorder = Recorder()
    loop = replace(SETTINGS, steps=80, average_decay=0.8)
    rows = np.arange(40)
    assert train_router(router, signed, clusters, rows, rows, loop, 16, tmp_path, recorder, "cpu")
    assert recorder.curve("loss")[-1] < recorder.curve("loss")[0]
    assert recorder.curve("eval_accuracy_at_0.1")[-1] > 0.9


def test_router_steps_do_not_synchronise_with_the_device(
    tmp_path: Path, cache: LatentCache
) -> None:
    rows, settings = np.arange(40), replace(WITHOUT_REPORTS, optimizer="muon")
    router = Router(replace(TINY_ROUTER, experts=2))
    check_that_no_step_reads(
        lambda recorder: train_router(
            router, cache, rows % 2, rows, rows, settings, 8, tmp_path, recorder, "cpu"
        )
    )


def deeper_transformer(**shape: int) -> FluxTransformer2DModel:
    usual = {"latent_channels": 4, "text_size": 384, "heads": 2, "layers": 2, "single_layers": 3}
    return build_transformer(**usual | shape, head_size=8, axes=(2, 2, 4), seed=7)


def test_added_blocks_initially_have_no_effect() -> None:
    initial, deeper = tiny_transformer(), deeper_transformer()
    initialise_from(deeper, initial)
    torch.manual_seed(1)
    text = TextStates(torch.randn(4, 8, 384), torch.randn(4, 384))
    latents, condition = torch.randn(2, 4, 4, 4, 4)
    given = (latents, torch.full((4,), 0.5), text, condition, torch.full((4,), 2.5))
    with torch.no_grad():
        wanted = Flux.velocity(initial, *given)
        torch.testing.assert_close(Flux.velocity(deeper, *given), wanted)
    # The new blocks can learn: their gradients are not zero.
    Flux.velocity(deeper, *given).square().mean().backward()
    for block in (deeper.transformer_blocks[1], deeper.single_transformer_blocks[2]):
        assert any(weight.grad is not None and weight.grad.any() for weight in block.parameters())


@pytest.mark.parametrize("shape", [{"heads": 4}, {"single_layers": 0}])
def test_rejects_initial_weights_of_another_width_or_with_more_blocks(
    shape: dict[str, int],
) -> None:
    with pytest.raises(PlainError, match="do not fit"):
        initialise_from(deeper_transformer(**shape), tiny_transformer())
