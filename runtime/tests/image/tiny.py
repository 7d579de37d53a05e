"""Models of a few thousand weights and generated examples, for tests of seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)
from PIL import Image, ImageDraw
from safetensors.torch import save_file
from torch import Tensor
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

from bakehouse_runtime.image.paris.model import Expert, ExpertShape, Router, RouterShape
from bakehouse_runtime.image.paris.weights import save_expert, save_router
from bakehouse_runtime.image.training.latent_cache import Example

TINY_EXPERT = ExpertShape(
    latent_channels=4, latent_side=4, hidden_size=16, layers=2, heads=2, text_size=384
)
TINY_ROUTER = RouterShape(latent_channels=4, latent_side=4, hidden_size=16, layers=1, heads=2)
# Layers for a LoRA: in both kinds of blocks, including a layer outside of attention.
LORA_LAYERS = (
    "transformer_blocks.0.attn.to_q",
    "transformer_blocks.0.ff.net.2",
    "single_transformer_blocks.0.proj_out",
)


def randomised(model: torch.nn.Module, seed: int) -> None:
    """Sets all weights to random values, so that every part of the model affects the output."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))


def tiny_expert(seed: int, shape: ExpertShape = TINY_EXPERT) -> Expert:
    expert = Expert(shape)
    randomised(expert, seed)
    return expert.eval()


def tiny_autoencoder() -> AutoencoderKL:
    torch.manual_seed(0)
    # Diffusers declares these as one-element tuples.
    blocks: dict[str, Any] = {
        "block_out_channels": (8, 8, 8, 8),
        "down_block_types": ("DownEncoderBlock2D",) * 4,
        "up_block_types": ("UpDecoderBlock2D",) * 4,
    }
    model = AutoencoderKL(
        **blocks, layers_per_block=1, latent_channels=4, norm_num_groups=8,
        mid_block_add_attention=False, use_quant_conv=False, use_post_quant_conv=False,
        sample_size=32, shift_factor=0.1, scaling_factor=0.5,
    )  # fmt: skip
    return model.eval()


def untrained_transformer(text_size: int = 384) -> FluxTransformer2DModel:
    """Returns a transformer that predicts zero."""
    torch.manual_seed(0)
    transformer = FluxTransformer2DModel(
        patch_size=1, in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=8,
        num_attention_heads=2, joint_attention_dim=text_size, pooled_projection_dim=text_size,
        guidance_embeds=True, axes_dims_rope=(2, 2, 4),
    )  # fmt: skip
    torch.nn.init.zeros_(transformer.proj_out.weight)
    torch.nn.init.zeros_(transformer.proj_out.bias)
    return transformer


def tiny_transformer() -> FluxTransformer2DModel:
    transformer = untrained_transformer()
    randomised(transformer, 5)
    return transformer


def write_tiny_kontext(
    folder: Path,
    dtype: torch.dtype = torch.float32,
    transformer: FluxTransformer2DModel | None = None,
    autoencoder: AutoencoderKL | None = None,
) -> Path:
    """Writes a tiny Kontext in the layout of the starter model, without text encoders."""
    absent: Any = None
    pipeline = FluxKontextPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000, shift=1.0),
        vae=autoencoder or tiny_autoencoder(),
        text_encoder=absent,
        tokenizer=absent,
        text_encoder_2=absent,
        tokenizer_2=absent,
        transformer=transformer or tiny_transformer(),
    )
    pipeline.to(dtype).save_pretrained(folder)
    return folder


def write_tiny_paris(folder: Path) -> Path:
    for number in range(TINY_ROUTER.experts):
        save_expert(tiny_expert(number), folder / f"expert_{number}", torch.float16)
    router = Router(TINY_ROUTER)
    randomised(router, 99)
    save_router(router, folder / "router", torch.float16)
    tiny_autoencoder().save_pretrained(folder / "vae")
    (folder / "model_index.json").write_text(
        json.dumps({"_class_name": "DDMPipeline", "text_window": 32})
    )
    return folder


def write_published_paris(folder: Path) -> Path:
    """Writes a tiny Paris in the published layout, with `text_encoder/` and `tokenizer/`."""
    write_tiny_paris(folder)
    characters = [chr(code) for code in range(97, 123)]
    words = [
        *characters,
        *(f"{letter}</w>" for letter in characters),
        "<|startoftext|>",
        "<|endoftext|>",
    ]
    CLIPTokenizer(
        vocab={word: number for number, word in enumerate(words)}, merges=[], model_max_length=77
    ).save_pretrained(folder / "tokenizer")
    config = CLIPTextConfig(
        vocab_size=len(words), hidden_size=384, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=4, max_position_embeddings=77, bos_token_id=52, eos_token_id=53,
    )  # fmt: skip
    CLIPTextModel(config).save_pretrained(folder / "text_encoder")
    (folder / "model_index.json").write_text(json.dumps({"_class_name": "DDMPipeline"}))
    return folder


def lora_weights(
    transformer: FluxTransformer2DModel, seed: int, rank: int = 2
) -> dict[str, Tensor]:
    """Returns matrices with a visible effect, under the names that Diffusers writes."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name in LORA_LAYERS:
        layer = transformer.get_submodule(name)
        assert isinstance(layer, torch.nn.Linear)
        for part, shape in (
            ("lora_A", (rank, layer.in_features)),
            ("lora_B", (layer.out_features, rank)),
        ):
            weights[f"transformer.{name}.{part}.weight"] = torch.randn(shape, generator=generator)
    return weights


def write_lora(
    file: Path,
    weights: dict[str, Tensor],
    metadata: dict[str, str] | None = None,
) -> Path:
    save_file(weights, file, metadata)
    return file


def write_as_diffusers(file: Path, weights: dict[str, Tensor], alpha: float) -> Path:
    """Writes a LoRA with the alpha that Diffusers stores in its metadata."""
    FluxKontextPipeline.save_lora_weights(
        file.parent,
        {name.removeprefix("transformer."): one for name, one in weights.items()},
        weight_name=file.name,
        transformer_lora_adapter_metadata={
            "r": 2,
            "lora_alpha": alpha,
            "target_modules": list(LORA_LAYERS),
        },
    )
    return file


def difference(picture: Image.Image, other: Image.Image) -> int:
    """Returns the largest difference, in shades of 256. A CPU sums in another order over weights
    with another memory layout, moved or loaded from another file: values may differ by one between
    two pictures of the same model."""
    assert picture.size == other.size
    return int(np.abs(np.asarray(picture).astype(int) - np.asarray(other).astype(int)).max())


class DrawnExamples:
    """A coloured shape on white per number, or its edit to another colour."""

    colours = ("red", "blue", "green", "orange")

    def __init__(self, count: int, edits: bool = False) -> None:
        self.count = count
        self.edits = edits

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Example:
        colour = self.colours[index % len(self.colours)]
        if not self.edits:
            return Example(self._picture(index, colour), f"a {colour} {self._name(index)}")
        before = self.colours[(index + 1) % len(self.colours)]
        return Example(
            self._picture(index, colour), f"make it {colour}", self._picture(index, before)
        )

    def _name(self, index: int) -> str:
        return "ball" if index % 3 else "box"

    def _picture(self, index: int, colour: str) -> Image.Image:
        picture = Image.new("RGB", (32, 32), "white")
        draw = ImageDraw.Draw(picture)
        left = index % 7
        box = (left, 4, left + 20, 26)
        (draw.ellipse if self._name(index) == "ball" else draw.rectangle)(box, fill=colour)
        return picture
