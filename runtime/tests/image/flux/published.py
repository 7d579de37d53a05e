"""FLUX.1 Kontext in its published file layout, with a few thousand weights.

Names follow the libraries of its release: the published files keep them, and current loaders must
support them.
"""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import (
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTokenizer,
    T5Config,
    T5EncoderModel,
    T5Tokenizer,
)

from ..tiny import randomised, write_tiny_kontext

CLIP_SIZE, T5_SIZE = 32, 48
LETTERS = string.ascii_lowercase
# Words of one letter each, followed by the start and end tokens.
CLIP_WORDS = [
    *LETTERS,
    *(f"{letter}</w>" for letter in LETTERS),
    "<|startoftext|>",
    "<|endoftext|>",
]
T5_PIECES = ["<pad>", "</s>", "<unk>", "▁", *LETTERS]
OLD_ATTENTION = {"to_q": "query", "to_k": "key", "to_v": "value", "to_out.0": "proj_attn"}


def clip() -> CLIPTextModel:
    model = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(CLIP_WORDS), hidden_size=CLIP_SIZE, intermediate_size=16,
            num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=77,
            bos_token_id=len(CLIP_WORDS) - 2, eos_token_id=len(CLIP_WORDS) - 1,
        )
    )  # fmt: skip
    randomised(model, 1)
    return model.eval()


def t5() -> T5EncoderModel:
    model = T5EncoderModel(
        T5Config(
            vocab_size=len(T5_PIECES), d_model=T5_SIZE, d_kv=8, d_ff=16, num_layers=2, num_heads=2,
            feed_forward_proj="gated-gelu",
        )
    )  # fmt: skip
    randomised(model, 2)
    return model.eval()


def autoencoder() -> AutoencoderKL:
    # Diffusers declares these as one-element tuples.
    blocks: dict[str, Any] = {
        "block_out_channels": (8, 8),
        "down_block_types": ("DownEncoderBlock2D",) * 2,
        "up_block_types": ("UpDecoderBlock2D",) * 2,
    }
    model = AutoencoderKL(
        **blocks, latent_channels=4, norm_num_groups=8, use_quant_conv=False,
        use_post_quant_conv=False, sample_size=32,
    )  # fmt: skip
    randomised(model, 3)
    model.register_to_config(shift_factor=0.1, scaling_factor=0.5)
    return model.eval()


def transformer() -> FluxTransformer2DModel:
    model = FluxTransformer2DModel(
        patch_size=1, in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=8,
        num_attention_heads=2, joint_attention_dim=T5_SIZE, pooled_projection_dim=CLIP_SIZE,
        guidance_embeds=True, axes_dims_rope=(2, 2, 4),
    )  # fmt: skip
    randomised(model, 4)
    return model


def write_published_kontext(folder: Path) -> Path:
    write_tiny_kontext(folder, torch.float32, transformer(), autoencoder())
    _write_clip(folder)
    _write_t5(folder)
    _rename_attention(folder / "vae" / "diffusion_pytorch_model.safetensors")
    index = json.loads((folder / "model_index.json").read_text())
    index |= {
        "text_encoder": ["transformers", "CLIPTextModel"],
        "text_encoder_2": ["transformers", "T5EncoderModel"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        # The class name at the time.
        "tokenizer_2": ["transformers", "T5TokenizerFast"],
    }
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder


def _write_clip(folder: Path) -> None:
    """Weights have the prefix `text_model.` and include the position ids, which are no weights."""
    vocabulary = {word: number for number, word in enumerate(CLIP_WORDS)}
    CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77).save_pretrained(
        folder / "tokenizer"
    )
    model = clip()
    model.config.save_pretrained(folder / "text_encoder")
    weights = {f"text_model.{name}": weight for name, weight in model.state_dict().items()}
    weights["text_model.embeddings.position_ids"] = torch.arange(77)[None]
    save_file(weights, folder / "text_encoder" / "model.safetensors", {"format": "pt"})


def _write_t5(folder: Path) -> None:
    """In two files, with the embeddings under one of their two names."""
    pieces = [(piece, 0.0 if piece.startswith("<") else -1.0) for piece in T5_PIECES]
    T5Tokenizer(vocab=pieces, extra_ids=0, model_max_length=512).save_pretrained(
        folder / "tokenizer_2"
    )
    model = t5()
    target = folder / "text_encoder_2"
    model.config.save_pretrained(target)
    weights = dict(model.state_dict())
    del weights["encoder.embed_tokens.weight"]
    names = list(weights)
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    places: dict[str, str] = {}
    for number, half in enumerate(halves, start=1):
        file = f"model-0000{number}-of-00002.safetensors"
        save_file({name: weights[name] for name in half}, target / file, {"format": "pt"})
        places |= dict.fromkeys(half, file)
    size = sum(weight.nbytes for weight in weights.values())
    index = {"metadata": {"total_size": size}, "weight_map": places}
    (target / "model.safetensors.index.json").write_text(json.dumps(index))


def _rename_attention(path: Path) -> None:
    weights: dict[str, Tensor] = {}
    for name, weight in load_file(path).items():
        for new, old in OLD_ATTENTION.items():
            name = name.replace(f".attentions.0.{new}.", f".attentions.0.{old}.")  # noqa: PLW2901
        weights[name] = weight
    save_file(weights, path, {"format": "pt"})
