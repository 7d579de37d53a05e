"""Every picture trainer from nothing, for a few steps on tiny shapes."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from PIL import Image
from torch.utils._python_dispatch import TorchDispatchMode

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.kontext.flow import velocity
from bakehouse_runtime.image.kontext.text import FluxText
from bakehouse_runtime.image.paris.model import Expert, Router
from bakehouse_runtime.image.training.bank import Bank, write_bank
from bakehouse_runtime.image.training.sources import StoredPictures
from bakehouse_runtime.train.autoencoder.export import export_autoencoder
from bakehouse_runtime.train.autoencoder.model import build_autoencoder
from bakehouse_runtime.train.autoencoder.train import AutoencoderTraining, psnr, train_autoencoder
from bakehouse_runtime.train.kontext.model import build_transformer, initialise_from
from bakehouse_runtime.train.kontext.train import (
    KontextData,
    KontextTraining,
    _near,
    train_kontext,
)
from bakehouse_runtime.train.paris.train import (
    PartTraining,
    sample_latents,
    train_expert,
    train_router,
)

from .line import SETTINGS, Recorder
from .tiny import TINY_AUTOENCODER, TINY_EXPERT, TINY_ROUTER, DrawnExamples, tiny_transformer


def test_autoencoder_learns_and_is_written(tmp_path: Path) -> None:
    held_out = [DrawnExamples(4)[index].picture for index in range(4)]
    source = StoredPictures(held_out)
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


def test_psnr_of_known_errors() -> None:
    wanted = torch.zeros(1, 3, 4, 4)
    assert psnr(wanted + 0.2, wanted) == pytest.approx(20.0, abs=1e-3)


def test_stored_pictures_are_drawn_and_mirrored() -> None:
    picture = Image.new("RGB", (4, 4), "red")
    picture.putpixel((0, 0), (0, 0, 255))
    drawn = StoredPictures([picture]).draw(np.random.default_rng(1), 20)
    corners = {one.getpixel((0, 0)) for one in drawn}
    assert corners == {(0, 0, 255), (255, 0, 0)}


def test_expert_learns_its_rows(
    tmp_path: Path, drawn_bank: Bank, autoencoder: AutoencoderKL
) -> None:
    expert = Expert(TINY_EXPERT)
    expert.initialise(2)
    recorder = Recorder()
    settings = PartTraining(replace(SETTINGS, steps=40, average_decay=0.8), batch_size=8)
    rows, held_out = np.arange(30), np.arange(30, 40)
    texts = drawn_bank.text_of[held_out[:4]]
    finished = train_expert(
        expert, drawn_bank, rows, held_out, settings, texts, autoencoder, tmp_path, recorder, "cpu"
    )
    assert finished
    assert recorder.curve("eval_loss")[-1] < recorder.curve("eval_loss")[0]
    assert Image.open(recorder.of("samples")[-1]).size == (64, 64), "four samples of 32 px"


def test_samples_are_compared_with_the_empty_prompt(drawn_bank: Bank) -> None:
    seen: list[torch.Tensor] = []

    class RecordingExpert(Expert):
        def forward(
            self, latent: torch.Tensor, time: torch.Tensor, text: torch.Tensor
        ) -> torch.Tensor:
            seen.append(text)
            return super().forward(latent, time, text)

    prompts, nothing = (
        drawn_bank.states(numbers) for numbers in (drawn_bank.text_of[:2], torch.tensor([0]))
    )
    with torch.no_grad():
        sample_latents(RecordingExpert(TINY_EXPERT), prompts, nothing, 1, torch.device("cpu"))
    assert torch.equal(seen[0], torch.cat([prompts, nothing, nothing]))


def test_router_learns_clusters_that_can_be_seen(tmp_path: Path, drawn_bank: Bank) -> None:
    bank = copy(drawn_bank)
    clusters = np.arange(40) % 2
    signs = torch.from_numpy(2.0 * clusters - 1)[:, None, None, None]
    bank.latents = (signs * torch.ones(40, 4, 4, 4)).half()
    router = Router(replace(TINY_ROUTER, experts=2))
    router.initialise(2)
    recorder = Recorder()
    loop = replace(SETTINGS, steps=80, average_decay=0.8)
    settings = PartTraining(loop, batch_size=16)
    rows = np.arange(40)
    assert train_router(router, bank, clusters, rows, rows, settings, tmp_path, recorder, "cpu")
    assert recorder.curve("loss")[-1] < recorder.curve("loss")[0]
    assert recorder.curve("eval_accuracy_at_0.1")[-1] > 0.9


@pytest.fixture(scope="module")
def kontext_data(
    autoencoder: AutoencoderKL, tmp_path_factory: pytest.TempPathFactory
) -> KontextData:
    banks = []
    for examples in (DrawnExamples(24, edits=True), DrawnExamples(24)):
        folder = tmp_path_factory.mktemp("kontext")
        write_bank(folder, examples, autoencoder, FluxText.of_sentence_encoder(), Recorder())
        banks.append(Bank(folder).whole())
    return KontextData(*banks)


def test_kontext_learns_edits_and_pictures(
    tmp_path: Path, kontext_data: KontextData, autoencoder: AutoencoderKL
) -> None:
    assert kontext_data.edits is not None
    assert kontext_data.edits.bank.sources is not None
    transformer = build_transformer(
        latent_channels=4, text_size=384, layers=1, single_layers=1, heads=2, head_size=8,
        axes=(2, 2, 4), seed=0,
    )  # fmt: skip
    recorder = Recorder()
    settings = KontextTraining(replace(SETTINGS, steps=24, average_decay=0.8), batch_size=8)
    assert train_kontext(
        transformer, kontext_data, kontext_data, settings, autoencoder, tmp_path, recorder, "cpu",
    )  # fmt: skip
    for name in ("eval_loss_edits", "eval_loss_pictures"):
        assert recorder.curve(name)[-1] < recorder.curve(name)[0]
    sheet = Image.open(recorder.of("samples")[-1])
    assert sheet.size == (8 * 32, 5 * 32), "source, made, wanted; made, wanted"


def test_what_is_trained_on_and_what_is_held_out_are_of_one_bank(
    kontext_data: KontextData, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kontext_data.edits is not None
    bank = kontext_data.edits.bank
    moved: list[Bank] = []
    near = Bank.near
    monkeypatch.setattr(Bank, "near", lambda one, device: moved.append(one) or near(one, device))
    parts = [bank.part(np.arange(2, 24)), bank.part(np.arange(2))]
    train, held_out = _near([KontextData(part, None) for part in parts], torch.device("cpu"))
    assert moved == [bank]
    assert train.edits is not None
    assert held_out.edits is not None
    assert train.edits.bank is held_out.edits.bank
    assert train.edits.bank.latents.data_ptr() == bank.latents.data_ptr()
    assert held_out.edits.rows.tolist() == [0, 1]


def deeper_transformer(**shape: int) -> FluxTransformer2DModel:
    usual = {"latent_channels": 4, "text_size": 384, "heads": 2, "layers": 2, "single_layers": 3}
    return build_transformer(**usual | shape, head_size=8, axes=(2, 2, 4), seed=7)


def test_blocks_that_the_initial_weights_lack_change_nothing_at_first(
    kontext_data: KontextData,
) -> None:
    initial, deeper = tiny_transformer(), deeper_transformer()
    initialise_from(deeper, initial)
    assert kontext_data.edits is not None
    bank = kontext_data.edits.bank
    assert bank.sources is not None
    rows = torch.arange(4)
    states, pooled = bank.states(bank.text_of[rows]), bank.pooled(bank.text_of[rows])
    given = (states, pooled, bank.sources[rows].float(), torch.full((4,), 2.5))
    latents, t = bank.latents[rows].float(), torch.full((4,), 0.5)
    with torch.no_grad():
        wanted = velocity(initial, latents, t, *given)
        torch.testing.assert_close(velocity(deeper, latents, t, *given), wanted)
    # They do learn: what they add follows from weights that are not zero.
    velocity(deeper, latents, t, *given).square().mean().backward()
    for block in (deeper.transformer_blocks[1], deeper.single_transformer_blocks[2]):
        assert any(weight.grad is not None and weight.grad.any() for weight in block.parameters())


@pytest.mark.parametrize("shape", [{"heads": 4}, {"single_layers": 0}])
def test_initial_weights_of_another_width_or_of_more_blocks_are_refused(
    shape: dict[str, int],
) -> None:
    with pytest.raises(PlainError, match="do not fit"):
        initialise_from(deeper_transformer(**shape), tiny_transformer())


class SyncCounter(TorchDispatchMode):
    """Counts synchronisations with the device: values that are read from tensors, and shapes
    that depend on values."""

    WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero")

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204
        self.count += func.overloadpacket.__name__ in self.WAITING
        return func(*args, **(kwargs or {}))


class SyncsPerStep(Recorder):
    """Keeps at each step how many values were read until then."""

    def __init__(self, reads: SyncCounter) -> None:
        super().__init__()
        self.reads = reads
        self.until: list[int] = []

    @property
    def stop_requested(self) -> bool:
        self.until.append(self.reads.count)
        return False


WITHOUT_REPORTS = replace(SETTINGS, steps=8, report_every=8, checkpoint_every=8)


def check_that_no_step_reads(train: Callable[[SyncsPerStep], bool]) -> None:
    with SyncCounter() as reads:
        stepwise = SyncsPerStep(reads)
        assert train(stepwise)
    # Before each step, and at the checkpoint of the end.
    *steps, _ = stepwise.until
    assert len(steps) == 8
    assert steps[0] == steps[-1], "seven steps without a look at a value"
    assert reads.count > steps[-1], "what was learnt is read at the end"


def test_no_step_of_an_expert_or_the_router_waits_for_the_device(
    tmp_path: Path, drawn_bank: Bank, autoencoder: AutoencoderKL
) -> None:
    rows, settings = np.arange(40), PartTraining(replace(WITHOUT_REPORTS, optimizer="muon"), 8)
    expert, router = Expert(TINY_EXPERT), Router(replace(TINY_ROUTER, experts=2))
    check_that_no_step_reads(
        lambda recorder: train_expert(
            expert, drawn_bank, rows, rows, settings, drawn_bank.text_of[:1], autoencoder,
            tmp_path / "expert", recorder, "cpu",
        )
    )  # fmt: skip
    check_that_no_step_reads(
        lambda recorder: train_router(
            router, drawn_bank, rows % 2, rows, rows, settings, tmp_path / "router", recorder,
            "cpu",
        )
    )  # fmt: skip


def test_no_step_of_kontext_waits_for_the_device(
    tmp_path: Path, kontext_data: KontextData, autoencoder: AutoencoderKL
) -> None:
    settings = KontextTraining(replace(WITHOUT_REPORTS, optimizer="muon"), batch_size=8)
    check_that_no_step_reads(
        lambda recorder: train_kontext(
            tiny_transformer(), kontext_data, kontext_data, settings, autoencoder, tmp_path,
            recorder, "cpu",
        )
    )  # fmt: skip
