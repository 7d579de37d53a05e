"""Wan 2.2 TI2V in its published file layout, with a few thousand weights, and a version without a
text encoder, like the starter."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan
from diffusers.models.transformers.transformer_wan import WanTransformer3DModel
from diffusers.pipelines.wan.pipeline_wan import WanPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)
from diffusers.schedulers.scheduling_unipc_multistep import UniPCMultistepScheduler
from transformers import T5Tokenizer, UMT5Config, UMT5EncoderModel

from ..tiny import randomised

TEXT_SIZE, SENTENCE_SIZE = 32, 384
PIECES = ["<pad>", "</s>", "<unk>", "▁", *string.ascii_lowercase]
ONLY = {"width": 32, "height": 32, "frames": 9, "fps": 8, "seconds": 1.125}


def autoencoder() -> AutoencoderKLWan:
    model = AutoencoderKLWan(
        base_dim=8, decoder_base_dim=8, z_dim=4, dim_mult=[1, 1, 1], num_res_blocks=0,
        temperal_downsample=[True, True], latents_mean=[0.1, 0.2, 0.3, 0.4],
        latents_std=[0.5, 0.6, 0.7, 0.8], is_residual=True, in_channels=12, out_channels=12,
        patch_size=2, scale_factor_spatial=8,
    )  # fmt: skip
    randomised(model, 1)
    return model.eval()


def transformer(text_size: int, channels: int = 4) -> WanTransformer3DModel:
    model = WanTransformer3DModel(
        num_attention_heads=2, attention_head_dim=12, in_channels=channels, out_channels=4,
        text_dim=text_size, freq_dim=16, ffn_dim=32, num_layers=2, rope_max_seq_len=32,
    )  # fmt: skip
    randomised(model, 2)
    return model.eval()


def umt5() -> UMT5EncoderModel:
    model = UMT5EncoderModel(
        UMT5Config(
            vocab_size=len(PIECES), d_model=TEXT_SIZE, d_kv=8, d_ff=16, num_layers=2, num_heads=2,
            feed_forward_proj="gated-gelu",
        )
    )  # fmt: skip
    randomised(model, 3)
    return model.eval()


def write_wan(folder: Path, **index: Any) -> Path:
    """Writes a Wan with a text encoder and Euler steps, which Diffusers' pipelines support too."""
    pieces = [(piece, 0.0 if piece.startswith("<") else -1.0) for piece in PIECES]
    return _write(
        folder,
        T5Tokenizer(vocab=pieces, extra_ids=0, model_max_length=512),
        umt5(),
        FlowMatchEulerDiscreteScheduler(shift=5.0),
        transformer(TEXT_SIZE),
        index,
    )


def write_starter_wan(folder: Path, **index: Any) -> Path:
    """Writes a Wan without a text encoder, and with a fixed size."""
    scheduler = FlowMatchEulerDiscreteScheduler(shift=3.0)
    told = {"film": ONLY, "default_steps": 4, "default_guidance": 3.0} | index
    return _write(folder, None, None, scheduler, transformer(SENTENCE_SIZE), told)


def write_published_scheduler(folder: Path) -> None:
    UniPCMultistepScheduler(
        prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=5.0
    ).save_pretrained(folder / "scheduler")


def change_index(folder: Path, **changed: Any) -> None:
    path = folder / "model_index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def _write(
    folder: Path, tokenizer: Any, encoder: Any, scheduler: Any, network: Any, index: dict[str, Any]
) -> Path:
    pipeline = WanPipeline(
        tokenizer=tokenizer,
        text_encoder=encoder,
        vae=autoencoder(),
        scheduler=scheduler,
        transformer=network,
        expand_timesteps=True,
    )
    pipeline.to(torch.float32).save_pretrained(folder)
    change_index(folder, **index)
    return folder
