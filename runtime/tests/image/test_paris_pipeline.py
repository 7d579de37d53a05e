"""Tests the whole pipeline on a tiny Paris, and the error for each fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.model import Expert
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_runtime.image.paris.weights import load_expert, save_expert
from bakehouse_runtime.image.sampling import Generated

from .conftest import one_sentence
from .tiny import TINY_EXPERT, difference, tiny_expert, write_published_paris

CPU = torch.device("cpu")


def pixels(picture: Generated) -> np.ndarray:
    return np.asarray(picture.media).astype(int)


def test_the_seed_determines_the_picture(paris_folder: Path) -> None:
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    first, again, other = (
        paris.generate([ParisRequest("a red apple", seed, steps=4)])[0] for seed in (7, 7, 8)
    )
    assert (pixels(first) == pixels(again)).all()
    assert (pixels(first) != pixels(other)).any()
    assert first.media.size == (32, 32)
    assert first.expert_used in range(8)
    assert first.routing_confidence is not None
    assert 1 / 8 <= first.routing_confidence <= 1


@pytest.mark.parametrize(("strategy", "k"), [("top1", 1), ("topk", 2), ("full", 8)])
def test_a_batch_equals_single_pictures(paris_folder: Path, strategy: str, k: int) -> None:
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    prompts = ["a red apple", "a blue car on grass", ""]
    requests = [
        ParisRequest(prompt, seed, steps=4, strategy=strategy, k=k)  # pyright: ignore[reportArgumentType]
        for seed, prompt in enumerate(prompts)
    ]
    together = paris.generate(requests)
    for request, picture in zip(requests, together, strict=True):
        alone = paris.generate([request])[0]
        assert alone.expert_used == picture.expert_used
        assert alone.routing_confidence == pytest.approx(picture.routing_confidence, abs=1e-5)
        # A value may differ by one of 256, because sums have another order.
        assert np.abs(pixels(alone) - pixels(picture)).max() <= 1


def test_guidance_1_uses_only_the_prompt(paris_folder: Path) -> None:
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    plain = paris.generate([ParisRequest("a red apple", 1, steps=3, guidance=1)])[0]
    near = paris.generate([ParisRequest("a red apple", 1, steps=3, guidance=1 + 1e-6)])[0]
    far = paris.generate([ParisRequest("a red apple", 1, steps=3, guidance=6)])[0]
    assert np.abs(pixels(plain) - pixels(near)).max() <= 1
    assert (pixels(plain) != pixels(far)).any()


def test_applies_guidance_only_in_the_interval_of_the_model(paris_folder: Path) -> None:
    def sample(interval: str, guidance: float) -> np.ndarray:
        index = f'{{"text_window": 32, "guidance_interval": {interval}}}'
        (paris_folder / "model_index.json").write_text(index)
        paris = ParisPipeline.from_folder(paris_folder, CPU)
        return pixels(paris.generate([ParisRequest("a red apple", 1, 4, guidance)])[0])

    everywhere, nowhere, midway = (sample(one, 6) for one in ("[0, 1]", "[0.4, 0.5]", "[0.3, 0.8]"))
    # Four steps start at the times 1, .667, .334 and .001.
    assert np.abs(nowhere - sample("[0, 1]", 1)).max() <= 1
    assert (midway != nowhere).any()
    assert (midway != everywhere).any()


@pytest.mark.parametrize("wrong", ["steps", "k"])
def test_requires_at_least_one_step_and_expert(wrong: str) -> None:
    with pytest.raises(PlainError, match=f"{wrong} is 0"):
        ParisRequest("a cat", 1, **{wrong: 0})  # pyright: ignore[reportArgumentType]


def test_pictures_join_and_leave_a_batch_between_steps(paris_folder: Path) -> None:
    """Each has its own settings, and no picture depends on the others."""
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    requests = [
        ParisRequest("a red apple", 1, steps=6, strategy="full"),
        ParisRequest("a blue car on grass", 2, steps=3, guidance=1, strategy="top1"),
        ParisRequest("a cat", 3, steps=5, guidance=12, strategy="topk", k=3),
    ]
    samplings = [paris.begin(request) for request in requests]
    first, second, third = samplings
    for batch in ([first], [first, second], [second, third, first], [third, second], [first]):
        paris.step(batch)
    while moving := [sampling for sampling in samplings if not sampling.is_done]:
        paris.step(moving)
    assert [sampling.steps_done for sampling in samplings] == [6, 3, 5]
    for request, picture in zip(requests, paris.finish(samplings), strict=True):
        alone = paris.generate([request])[0]
        assert alone.expert_used == picture.expert_used
        assert alone.routing_confidence == pytest.approx(picture.routing_confidence, abs=1e-5)
        assert np.abs(pixels(alone) - pixels(picture)).max() <= 2


def test_skips_the_unconditional_pass_at_guidance_1(
    paris_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    rows: list[int] = []
    forward = Expert.forward

    def counted(self: Expert, latent: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        rows.append(len(latent))
        return forward(self, latent, *rest)

    monkeypatch.setattr(Expert, "forward", counted)
    plain = ParisRequest("a cat", 1, steps=2, guidance=1, strategy="top1")
    paris.step([paris.begin(plain)])
    assert rows == [1]
    rows.clear()
    paris.step([paris.begin(plain), paris.begin(replace(plain, guidance=3))])
    assert sum(rows) == 3


def test_bfloat16_gives_nearly_the_same_picture(paris_folder: Path) -> None:
    """As on a GPU, where experts and router are bfloat16."""
    request = ParisRequest("a red apple", 1, steps=4, guidance=2, strategy="full")
    whole, half = (
        ParisPipeline.from_folder(paris_folder, CPU, dtype).generate([request])[0]
        for dtype in (torch.float32, torch.bfloat16)
    )
    assert 0 < np.abs(pixels(whole) - pixels(half)).mean() < 8
    assert half.routing_confidence == pytest.approx(whole.routing_confidence, abs=0.02)


def test_a_preview_resembles_the_picture(paris_folder: Path) -> None:
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    sampling = paris.begin(ParisRequest("a cat", 1, steps=4))
    paris.step([sampling])
    early = paris.preview(sampling)
    assert early.size == (16, 16)
    while not sampling.is_done:
        paris.step([sampling])
    torch.testing.assert_close(sampling.predicted, sampling.latents)
    assert (np.asarray(paris.preview(sampling)) != np.asarray(early)).any()


def test_saves_weights_and_reads_the_number_of_heads_from_the_configuration(
    tmp_path: Path,
) -> None:
    expert = tiny_expert(1)
    save_expert(expert, tmp_path / "expert", torch.float32)
    loaded = load_expert(tmp_path / "expert")
    assert loaded.shape == TINY_EXPERT
    inputs = torch.randn(1, 4, 4, 4), torch.tensor([300.0]), torch.randn(1, 3, 384)
    torch.testing.assert_close(loaded(*inputs), expert(*inputs))


@pytest.fixture
def clip_folder(tmp_path: Path) -> Path:
    return write_published_paris(tmp_path / "paris")


def test_loads_the_published_layout_with_clip(clip_folder: Path) -> None:
    """The folder's own text encoder is used instead of the sentence encoder."""
    paris = ParisPipeline.from_folder(clip_folder, CPU)
    assert paris.family.text_encoder.window == 77
    assert paris.family.text_encoder.encode(["abc", ""]).tokens.shape == (2, 77, 384)
    assert paris.generate([ParisRequest("abc", 1, steps=2)])[0].media.size == (32, 32)


def _delete(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _cut(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return change


def _weights(
    name: str, change_weights: Callable[[dict[str, torch.Tensor]], object]
) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        weights = load_file(folder / name)
        change_weights(weights)
        save_file(weights, folder / name)

    return change


def _write(name: str, content: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(content)


def _drop_expert(folder: Path) -> None:
    for file in (folder / "expert_7").iterdir():
        file.unlink()
    (folder / "expert_7").rmdir()


def _enlarge_expert(folder: Path) -> None:
    expert = tiny_expert(1, replace(TINY_EXPERT, latent_side=8))
    save_expert(expert, folder / "expert_1", torch.float16)


EXPERT_0 = "expert_0/diffusion_pytorch_model.safetensors"
ROUTER = "router/pytorch_model.safetensors"
AUTOENCODER = "vae/diffusion_pytorch_model.safetensors"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_delete(EXPERT_0), f"The file {EXPERT_0} of the model is missing."),
        (_cut(EXPERT_0), f"The file {EXPERT_0} is damaged."),
        (_cut(ROUTER), f"The file {ROUTER} is damaged."),
        (_delete(ROUTER), f"The file {ROUTER} of the model is missing."),
        (_delete(AUTOENCODER), "The autoencoder in vae cannot be loaded"),
        (_cut(AUTOENCODER), "The autoencoder in vae cannot be loaded"),
        (
            _weights(AUTOENCODER, lambda w: w.pop("decoder.conv_in.bias")),
            f"The file {AUTOENCODER} lacks weights of the model: decoder.conv_in.bias.",
        ),
        (
            _weights(AUTOENCODER, lambda w: w.update({"decoder.conv_in.bias": torch.zeros(3)})),
            "The autoencoder in vae cannot be loaded",
        ),
        (_write("vae/config.json", "[]"), "The file vae/config.json is not a JSON object."),
        (
            _weights(EXPERT_0, lambda w: w.pop("text_proj.weight")),
            f"{EXPERT_0} are not of a Paris model: 'text_proj.weight' is missing",
        ),
        (
            _weights(EXPERT_0, lambda w: w.pop("text_proj.bias")),
            f"The file {EXPERT_0} lacks weights of the model: text_proj.bias.",
        ),
        (
            _weights(ROUTER, lambda w: [w.pop(f"head.{at}.bias") for at in (0, 2, 4)]),
            f"The file {ROUTER} lacks weights of the model: head.0.bias, head.2.bias, head.4.bias.",
        ),
        (
            _weights(EXPERT_0, lambda w: [w.pop(key) for key in [*w] if "layers.1." in key]),
            f"The file {EXPERT_0} lacks weights of the model: layers.1.",
        ),
        (
            _weights(EXPERT_0, lambda w: [w.pop(key) for key in [*w] if key.endswith("_table")]),
            f"The file {EXPERT_0} lacks weights of the model: final_layer.scale_shift_table, "
            "layers.0.scale_shift_table, layers.1.scale_shift_table.",
        ),
        (
            _weights(EXPERT_0, lambda w: [w.pop(key) for key in [*w] if key.endswith(".bias")]),
            " and 9 more.",
        ),
        (
            _weights(EXPERT_0, lambda w: w.update({"layers.1.mlp.2.bias": torch.zeros(3)})),
            "layers.1.mlp.2.bias",
        ),
        (
            _write("expert_1/config.json", "{}"),
            "expert_1/config.json does not say the number of heads",
        ),
        (
            _write("expert_1/config.json", "[]"),
            "The file expert_1/config.json is not a JSON object.",
        ),
        (
            _write("expert_1/config.json", '{"heads": 5}'),
            "expert_1/config.json says 5 heads, which do not divide the width 16.",
        ),
        (_write("router/config.json", '{"heads": 0}'), "router/config.json says 0 heads"),
        (_enlarge_expert, "Experts and router do not have latents of the same size."),
        (_drop_expert, "The router chooses among 8 experts, but there are 7."),
        (_delete("model_index.json"), "has neither a text_encoder nor a model_index.json"),
        (_write("model_index.json", "{}"), "has neither a text_encoder nor a model_index.json"),
        (_write("model_index.json", "[]"), "paris/model_index.json is not a JSON object."),
        (
            _write("model_index.json", '{"text_window": 1000}'),
            "The text_window in paris/model_index.json is not a number from 2 to 256.",
        ),
        (
            _write("model_index.json", '{"text_window": 32, "guidance_interval": [0.8, 0.3]}'),
            "The guidance_interval in paris/model_index.json is not two numbers from 0 to 1, the "
            "smaller one first.",
        ),
    ],
)  # fmt: skip
def test_reports_a_damaged_model_in_one_sentence(
    paris_folder: Path, change: Callable[[Path], None], sentence: str
) -> None:
    change(paris_folder)
    with one_sentence(sentence):
        ParisPipeline.from_folder(paris_folder, CPU)


def test_logs_unused_weights_of_paris(paris_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    request = ParisRequest("a cat", 1, steps=2)
    before = ParisPipeline.from_folder(paris_folder, CPU).generate([request])[0]
    assert not caplog.messages
    _weights(EXPERT_0, lambda w: w.update({"ema.step": torch.zeros(1)}))(paris_folder)
    after = ParisPipeline.from_folder(paris_folder, CPU).generate([request])[0]
    assert caplog.messages == [f"{EXPERT_0} has weights that the model does not use: ema.step."]
    assert difference(before.media, after.media) <= 1


@pytest.mark.parametrize("name", [AUTOENCODER, "text_encoder/model.safetensors"])
def test_logs_unused_weights_of_library_models_once(
    clip_folder: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    extra = {"ema.step": torch.zeros(1), "ema.decay": torch.zeros(1)}
    _weights(name, lambda w: w.update(extra))(clip_folder)
    ParisPipeline.from_folder(clip_folder, CPU)
    line = f"{name} has weights that the model does not use: ema.decay, ema.step."
    assert [record.getMessage() for record in caplog.records if "ema" in record.getMessage()] == [
        line
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda f: (f / "tokenizer").rename(f / "elsewhere"),
            "The folder tokenizer of the model is missing.",
        ),
        (_write("tokenizer/tokenizer.json", "{"), "The tokenizer in tokenizer cannot be loaded"),
        (
            _delete("text_encoder/model.safetensors"),
            "The text encoder in text_encoder cannot be loaded",
        ),
        (
            _cut("text_encoder/model.safetensors"),
            "The text encoder in text_encoder cannot be loaded",
        ),
        (
            _write("text_encoder/config.json", "[]"),
            "The text encoder in text_encoder cannot be loaded",
        ),
        (
            _weights("text_encoder/model.safetensors", lambda w: w.pop(max(w))),
            "The file text_encoder/model.safetensors lacks weights of the model: ",
        ),
    ],
)
def test_reports_a_damaged_text_encoder_in_one_sentence(
    clip_folder: Path, change: Callable[[Path], None], sentence: str
) -> None:
    change(clip_folder)
    with one_sentence(sentence):
        ParisPipeline.from_folder(clip_folder, CPU)


def test_rejects_non_finite_values(paris_folder: Path) -> None:
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    for expert in paris.experts:
        expert.final_layer.linear.bias.data.fill_(float("nan"))
    with pytest.raises(PlainError, match="a picture with values that are not numbers"):
        paris.generate([ParisRequest("a red apple", 1, steps=2)])


def test_an_empty_folder_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(PlainError, match="holds no expert_0"):
        ParisPipeline.from_folder(tmp_path, CPU)


def test_rejects_a_prompt_longer_than_the_window(paris_folder: Path) -> None:
    paris = ParisPipeline.from_folder(paris_folder, CPU)
    with pytest.raises(PlainError, match=r"The prompt is 42 tokens long, .* at most 32\."):
        paris.generate([ParisRequest("cat " * 40, 1, steps=2)])
