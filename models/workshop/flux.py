"""Builds the transformer of the starter Kontext and writes it in Diffusers' format."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel
from diffusers.pipelines.flux.pipeline_flux_kontext import FluxKontextPipeline
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.model_files import remove_local_paths

DEPTHS = {"num_layers": "transformer_blocks", "num_single_layers": "single_transformer_blocks"}
# The layers that add a block's output to the stream; if they are zero the block has no effect.
OUTPUTS = ("attn.to_out.0", "attn.to_add_out", "ff.net.2", "ff_context.net.2", "proj_out")


def build_transformer(
    *, latent_channels: int, text_size: int, layers: int, single_layers: int, heads: int,
    head_size: int, axes: tuple[int, int, int], seed: int,
) -> FluxTransformer2DModel:  # fmt: skip
    """Returns an untrained Flux transformer; `axes` divides the head among picture, row and
    column."""
    torch.manual_seed(seed)
    transformer = FluxTransformer2DModel(
        patch_size=1,
        in_channels=4 * latent_channels,
        num_layers=layers,
        num_single_layers=single_layers,
        attention_head_dim=head_size,
        num_attention_heads=heads,
        joint_attention_dim=text_size,
        pooled_projection_dim=text_size,
        guidance_embeds=True,
        axes_dims_rope=axes,
    )
    # The prediction starts at zero, as in every diffusion transformer.
    torch.nn.init.zeros_(transformer.proj_out.weight)
    torch.nn.init.zeros_(transformer.proj_out.bias)
    return transformer


def initialise_from(transformer: FluxTransformer2DModel, initial: FluxTransformer2DModel) -> None:
    """Copies the weights of `initial`, which may have fewer blocks. Additional blocks follow its
    own and initially have no effect, so that both predict the same (block expansion: Wu et al.
    2024, arXiv 2401.02415). Raises PlainError if anything else differs, or if it has more
    blocks."""
    # Compared as JSON, because a loaded configuration has lists instead of tuples.
    wanted, given = (json.loads(model.to_json_string()) for model in (transformer, initial))
    names = {name for name in wanted if not name.startswith("_")} - DEPTHS.keys()
    same = all(wanted[name] == given[name] for name in names)
    if not same or any(wanted[depth] < given[depth] for depth in DEPTHS):
        raise PlainError("The initial weights do not fit the transformer's shape.")
    transformer.load_state_dict(initial.state_dict(), strict=False)
    for depth, blocks in DEPTHS.items():
        for block in getattr(transformer, blocks)[given[depth] :]:
            for name, module in block.named_modules():
                if name in OUTPUTS:
                    torch.nn.init.zeros_(module.weight)
                    torch.nn.init.zeros_(module.bias)


def export_kontext(
    transformer: FluxTransformer2DModel,
    autoencoder: AutoencoderKL,
    folder: Path,
    dtype: torch.dtype,
) -> None:
    """Writes a pipeline that `FluxKontextPipeline.from_pretrained` loads with a text encoder and a
    tokenizer, which are not part of the folder."""
    pipeline = FluxKontextPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000, shift=1.0),
        vae=deepcopy(autoencoder),
        text_encoder=None,  # pyright: ignore[reportArgumentType]
        tokenizer=None,  # pyright: ignore[reportArgumentType]
        text_encoder_2=None,  # pyright: ignore[reportArgumentType]
        tokenizer_2=None,
        transformer=deepcopy(transformer),
    )
    pipeline.to(dtype).save_pretrained(folder)
    remove_local_paths(folder)
