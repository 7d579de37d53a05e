"""Tests FLUX.1 Kontext's parts as published, and its two text encoders."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image
from safetensors.torch import load_file
from transformers import CLIPTextModel, T5EncoderModel

from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.flux.text import FluxText
from bakehouse_runtime.image.model_files import load_picture_model, load_text_model

from . import published

CPU = torch.device("cpu")
TOKENS = torch.arange(3, 20)[None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published.write_published_kontext(tmp_path_factory.mktemp("model") / "kontext")


def test_files_have_their_published_names(folder: Path) -> None:
    clip = load_file(folder / "text_encoder" / "model.safetensors")
    assert "text_model.embeddings.position_ids" in clip
    assert all(name.startswith("text_model.") for name in clip)
    shards = sorted((folder / "text_encoder_2").glob("*.safetensors"))
    t5 = [name for shard in shards for name in load_file(shard)]
    assert len(shards) == 2
    assert [name for name in t5 if "shared" in name or "embed" in name] == ["shared.weight"]
    vae = load_file(folder / "vae" / "diffusion_pytorch_model.safetensors")
    attention = {name.split(".")[-2] for name in vae if ".attentions." in name}
    assert attention == {"group_norm", "query", "key", "value", "proj_attn"}


@torch.no_grad()
def test_loaded_parts_compute_the_same_values(folder: Path) -> None:
    clip = load_text_model(CLIPTextModel, folder / "text_encoder", torch.float32)
    pooled = clip(input_ids=TOKENS).pooler_output
    assert pooled.shape == (1, published.CLIP_SIZE)
    torch.testing.assert_close(pooled, published.clip()(input_ids=TOKENS).pooler_output)
    t5 = load_text_model(T5EncoderModel, folder / "text_encoder_2", torch.float32)
    states = t5(input_ids=TOKENS).last_hidden_state
    assert states.shape == (1, TOKENS.shape[1], published.T5_SIZE)
    torch.testing.assert_close(states, published.t5()(input_ids=TOKENS).last_hidden_state)
    vae = load_picture_model(AutoencoderKL, folder / "vae", "The autoencoder", torch.float32)
    latents: Any = torch.randn(1, 4, 8, 8)
    picture = vae.decode(latents, return_dict=False)[0]
    assert picture.shape == (1, 3, 16, 16)
    torch.testing.assert_close(
        picture, published.autoencoder().decode(latents, return_dict=False)[0]
    )


def test_encodes_texts_as_states_of_one_encoder_and_a_vector_of_the_other(
    folder: Path,
) -> None:
    texts = KontextPipeline.from_folder(folder, CPU).family.text(["a cat", "a dog in a hat"])
    assert texts.tokens.shape == (2, 512, published.T5_SIZE)
    assert texts.pooled is not None
    assert texts.pooled.shape == (2, published.CLIP_SIZE)
    for states in (texts.tokens, texts.pooled):
        assert states.isfinite().all()
        assert (states[0] != states[1]).any()


def test_the_published_model_edits_a_picture(folder: Path) -> None:
    kontext = KontextPipeline.from_folder(folder, CPU)
    sent = Image.new("RGB", (90, 50), "orange")
    [edited] = kontext.generate([KontextRequest("a cat", 1, 2, 2.5, sent)])
    assert edited.media.size == (32, 32)


def test_clip_truncates_a_long_prompt_and_t5_reads_all_of_it(folder: Path) -> None:
    family = KontextPipeline.from_folder(folder, CPU).family
    # One token per letter after the start token; the end token takes the last position.
    one, other = (family.text(["a" * 75 + end]) for end in ("aab", "aac"))
    assert one.pooled is not None
    assert other.pooled is not None
    assert torch.equal(one.pooled, other.pooled)
    assert (one.tokens != other.tokens).any()


LONG = f"a cat {'in a hat ' * 12}at my secret address"


def test_hides_only_log_lines_that_quote_the_prompt(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kontext = KontextPipeline.from_folder(folder, CPU)
    text = kontext.family.text_encoder
    assert isinstance(text, FluxText)
    clip = text._pipeline.text_encoder
    logger = logging.getLogger(type(text._pipeline).__module__)
    compute = clip.forward

    def forward(*inputs: Any, **named: Any) -> Any:
        logger.warning("Something else.")
        return compute(*inputs, **named)

    monkeypatch.setattr(clip, "forward", forward)
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())
    filters = [*logger.filters]
    logger.addHandler(handler)
    try:
        kontext.generate([KontextRequest(LONG, 1, 1)])
        assert set(logged) == {"Something else."}
        # The log filters are restored.
        assert logger.filters == filters
    finally:
        logger.removeHandler(handler)
