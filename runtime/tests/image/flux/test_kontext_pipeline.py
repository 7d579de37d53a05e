"""Tests FLUX Kontext: the published shape, the layout of its tokens, and a tiny pipeline end to
end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux import FluxPipeline
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from PIL import Image
from safetensors.torch import load_file, save_file

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.flux.family import Flux, pack, positions, unpack
from bakehouse_runtime.image.flux.load import PUBLISHED_DEFAULTS
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.flux.text import FluxText
from bakehouse_runtime.image.sentence_encoder import FULL_SIZE_WINDOW
from bakehouse_runtime.image.text import load_sentence_encoder

from ..conftest import one_sentence
from ..tiny import tiny_transformer, untrained_transformer, write_tiny_kontext

CPU = torch.device("cpu")


@pytest.fixture
def kontext_folder(tmp_path: Path) -> Path:
    return write_tiny_kontext(tmp_path / "kontext", torch.float16)


def test_flux_kontext_of_the_published_shape() -> None:
    """FLUX.1 Kontext [dev] has the transformer that Diffusers builds by default, with guidance."""
    with torch.device("meta"):
        transformer = FluxTransformer2DModel(guidance_embeds=True)
    assert sum(weight.numel() for weight in transformer.parameters()) == 11_901_408_320
    sizes = {name: tuple(weight.shape) for name, weight in transformer.state_dict().items()}
    assert sizes["x_embedder.weight"] == (3072, 64)
    assert sizes["context_embedder.weight"] == (3072, 4096)
    assert sizes["time_text_embed.guidance_embedder.linear_1.weight"] == (3072, 256)
    assert sizes["time_text_embed.text_embedder.linear_1.weight"] == (3072, 768)
    assert sizes["transformer_blocks.18.attn.add_q_proj.weight"] == (3072, 3072)
    assert sizes["single_transformer_blocks.37.proj_mlp.weight"] == (12288, 3072)
    assert sizes["proj_out.weight"] == (64, 3072)
    assert "transformer_blocks.19.attn.to_q.weight" not in sizes
    assert "single_transformer_blocks.38.proj_mlp.weight" not in sizes


def test_packs_like_the_pipelines() -> None:
    latents = torch.randn(2, 4, 6, 8)
    assert torch.equal(pack(latents), FluxPipeline._pack_latents(latents, 2, 4, 6, 8))
    assert torch.equal(unpack(pack(latents), 6, 8), latents)
    assert torch.equal(
        positions(6, 8, 0, CPU), FluxPipeline._prepare_latent_image_ids(1, 3, 4, CPU, torch.float32)
    )
    assert positions(6, 8, 1, CPU)[:, 0].unique().tolist() == [1]


def test_training_and_the_pipeline_compute_the_same_velocity(kontext_folder: Path) -> None:
    """One Euler step of the pipeline is one evaluation of the trainer's velocity."""
    encoder, tokenizer = load_sentence_encoder(32)
    pipeline: Any = FluxKontextPipeline.from_pretrained(
        kontext_folder, text_encoder=encoder, text_encoder_2=encoder,
        tokenizer=tokenizer, tokenizer_2=tokenizer,
    )  # fmt: skip
    pipeline.set_progress_bar_config(disable=True)
    noise = torch.randn(1, 4, 4, 4)
    picture = torch.rand(1, 3, 32, 32)
    packed = pipeline(
        image=picture, prompt="make it blue", num_inference_steps=1, guidance_scale=2.5,
        height=32, width=32, max_area=32 * 32, _auto_resize=False, max_sequence_length=32,
        latents=pack(noise), output_type="latent",
    ).images  # fmt: skip
    text = FluxText.of_sentence_encoder().encode(["make it blue"])
    condition = pipeline.vae.encode(2 * picture - 1).latent_dist.mode()
    condition = (condition - pipeline.vae.config.shift_factor) * pipeline.vae.config.scaling_factor
    with torch.no_grad():
        step = Flux.velocity(
            pipeline.transformer, noise, torch.ones(1), text, condition, torch.full((1,), 2.5)
        )
    torch.testing.assert_close(unpack(packed, 4, 4), noise - step, atol=2e-3, rtol=1e-3)


def pixels(kontext: KontextPipeline, request: KontextRequest) -> np.ndarray:
    return np.asarray(kontext.generate([request])[0].media)


def test_edits_and_generates_deterministically(kontext_folder: Path) -> None:
    kontext = KontextPipeline.from_folder(kontext_folder, CPU)
    request = KontextRequest("make it blue", seed=3, steps=2)
    edit = replace(request, picture=Image.new("RGB", (90, 50), "orange"))
    edited = pixels(kontext, edit)
    assert edited.shape == (32, 32, 3)
    assert (edited == pixels(kontext, edit)).all()
    other = replace(request, picture=Image.new("RGB", (90, 50), "navy"))
    assert (edited != pixels(kontext, other)).any()
    generated = pixels(kontext, request)
    assert generated.shape == (32, 32, 3)
    assert (generated != pixels(kontext, replace(request, guidance=9))).any()


@pytest.mark.parametrize("true_guidance", [False, True])
def test_uses_the_defaults_of_the_models_folder(kontext_folder: Path, true_guidance: bool) -> None:
    assert KontextPipeline.from_folder(kontext_folder, CPU).model.defaults == PUBLISHED_DEFAULTS
    index = json.loads((kontext_folder / "model_index.json").read_text())
    index |= {"default_steps": 2, "default_guidance": 4, "true_guidance": true_guidance}
    (kontext_folder / "model_index.json").write_text(json.dumps(index))
    kontext = KontextPipeline.from_folder(kontext_folder, CPU)
    unsaid = pixels(kontext, KontextRequest("a cat", 1))
    assert (unsaid == pixels(kontext, KontextRequest("a cat", 1, 2, 4.0))).all()
    assert (unsaid != pixels(kontext, KontextRequest("a cat", 1, 2, 1.0))).any()


def test_requires_at_least_one_step() -> None:
    with pytest.raises(PlainError, match="steps is 0"):
        KontextRequest("a cat", seed=1, steps=0)


def _remove(folder: Path, name: str) -> None:
    for file in (folder / name).iterdir():
        file.unlink()
    (folder / name).rmdir()


def _cut(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])


def _drop(folder: Path, part: str, name: str) -> None:
    path = folder / part / "diffusion_pytorch_model.safetensors"
    weights = load_file(path)
    del weights[name]
    save_file(weights, path)


def _split_and_drop(folder: Path) -> None:
    """Shards the weights, like the published model."""
    tiny_transformer().save_pretrained(folder / "transformer", max_shard_size="20KB")
    (folder / WEIGHTS).unlink()
    path = folder / f"{WEIGHTS}.index.json"
    index = json.loads(path.read_text())
    holder = folder / "transformer" / index["weight_map"].pop("x_embedder.weight")
    path.write_text(json.dumps(index))
    weights = load_file(holder)
    del weights["x_embedder.weight"]
    save_file(weights, holder)


def _write(name: str, content: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(content)


def _claim_text_encoders(folder: Path) -> None:
    index = json.loads((folder / "model_index.json").read_text())
    index["text_encoder"] = ["transformers", "CLIPTextModel"]
    (folder / "model_index.json").write_text(json.dumps(index))


def _narrow_text(folder: Path) -> None:
    untrained_transformer(text_size=64).save_pretrained(folder / "transformer")


WEIGHTS = "transformer/diffusion_pytorch_model.safetensors"
VAE_WEIGHTS = "vae/diffusion_pytorch_model.safetensors"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda f: (f / "model_index.json").unlink(), "has no model_index.json"),
        (_write("model_index.json", "{"), "is not JSON"),
        (_write("model_index.json", "[]"), "kontext/model_index.json is not a JSON object."),
        (
            _write("model_index.json", '{"_class_name": "WanPipeline"}'),
            "is a WanPipeline, not a Flux model",
        ),
        (_write("transformer/config.json", "[]"), "transformer/config.json is not a JSON object."),
        (_write("vae/config.json", "[]"), "vae/config.json is not a JSON object."),
        (
            lambda f: _drop(f, "vae", "decoder.conv_in.bias"),
            f"The file {VAE_WEIGHTS} lacks weights of the model: decoder.conv_in.bias.",
        ),
        (
            lambda f: _drop(f, "transformer", "x_embedder.weight"),
            f"The file {WEIGHTS} lacks weights of the model: x_embedder.weight.",
        ),
        (
            _split_and_drop,
            f"The file {WEIGHTS}.index.json lacks weights of the model: x_embedder.weight.",
        ),
        (lambda f: (f / VAE_WEIGHTS).write_bytes(b""), "cannot be loaded"),
        (_claim_text_encoders, "The folder text_encoder of the model is missing."),
        (
            _narrow_text,
            "reads text states of sizes (64, 64), but the text encoders give (384, 384)",
        ),
        (lambda f: _remove(f, "vae"), "The folder vae of the model is missing."),
        (lambda f: (f / WEIGHTS).unlink(), "cannot be loaded"),
        (lambda f: _cut(f, WEIGHTS), "cannot be loaded"),
    ],
)
def test_reports_a_damaged_model_in_one_sentence(
    kontext_folder: Path, change: Callable[[Path], None], sentence: str
) -> None:
    change(kontext_folder)
    with one_sentence(sentence):
        KontextPipeline.from_folder(kontext_folder, CPU)


@pytest.mark.parametrize("name", [WEIGHTS, VAE_WEIGHTS])
def test_logs_unused_weights_once(
    kontext_folder: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    weights = load_file(kontext_folder / name)
    extra = {"ema.step": torch.zeros(1), "ema.decay": torch.zeros(1)}
    save_file({**weights, **extra}, kontext_folder / name)
    KontextPipeline.from_folder(kontext_folder, CPU)
    line = f"{name} has weights that the model does not use: ema.decay, ema.step."
    assert [record.getMessage() for record in caplog.records if "ema" in record.getMessage()] == [
        line
    ]


def test_rejects_non_finite_values(kontext_folder: Path) -> None:
    kontext = KontextPipeline.from_folder(kontext_folder, CPU)
    kontext.transformer.proj_out.bias.data.fill_(float("nan"))
    with pytest.raises(PlainError, match="a picture with values that are not numbers"):
        kontext.generate([KontextRequest("a cat", seed=1, steps=1)])


@pytest.fixture
def folder_with_text(kontext_folder: Path) -> Path:
    """A folder with text encoders of its own, like the published model."""
    encoder, tokenizer = load_sentence_encoder(32)
    for part in ("text_encoder", "text_encoder_2"):
        encoder.save_pretrained(kontext_folder / part)
        tokenizer.save_pretrained(kontext_folder / part.replace("text_encoder", "tokenizer"))
    index = json.loads((kontext_folder / "model_index.json").read_text())
    for part in ("text_encoder", "text_encoder_2"):
        index[part] = ["transformers", type(encoder).__name__]
        index[part.replace("text_encoder", "tokenizer")] = [
            "transformers",
            type(tokenizer).__name__,
        ]
    (kontext_folder / "model_index.json").write_text(json.dumps(index))
    return kontext_folder


def test_uses_the_text_encoders_of_the_folder(folder_with_text: Path) -> None:
    kontext = KontextPipeline.from_folder(folder_with_text, CPU)
    assert kontext.family.text(["a cat"]).tokens.shape == (1, FULL_SIZE_WINDOW, 384)


def _lose_embeddings(folder: Path) -> None:
    path = folder / "text_encoder_2" / "model.safetensors"
    weights = load_file(path)
    del weights["embeddings.word_embeddings.weight"]
    save_file(weights, path, {"format": "pt"})


def _name_encoder(entry: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        index = json.loads((folder / "model_index.json").read_text())
        index["text_encoder_2"] = entry
        (folder / "model_index.json").write_text(json.dumps(index))

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            _lose_embeddings,
            "The file text_encoder_2/model.safetensors lacks weights of the model: "
            "embeddings.word_embeddings.weight.",
        ),
        (_name_encoder(["transformers", "Pipeline"]), "for text_encoder_2: Pipeline."),
        (_name_encoder([]), "The model's index names no known text encoder for text_encoder_2"),
        (_name_encoder(3), "no known text encoder for text_encoder_2: 3."),
        (
            lambda f: _cut(f, "text_encoder/model.safetensors"),
            "The text encoder in text_encoder cannot be loaded",
        ),
    ],
)
def test_reports_a_damaged_text_encoder_in_one_sentence(
    folder_with_text: Path, change: Callable[[Path], None], sentence: str
) -> None:
    change(folder_with_text)
    with one_sentence(sentence):
        KontextPipeline.from_folder(folder_with_text, CPU)


def test_rejects_an_instruction_longer_than_the_window(kontext_folder: Path) -> None:
    kontext = KontextPipeline.from_folder(kontext_folder, CPU)
    with pytest.raises(PlainError, match=r"42 tokens long, .* at most 32\."):
        kontext.generate([KontextRequest("cat " * 40, seed=1, steps=1)])
