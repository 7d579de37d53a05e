"""A LLaVA of 0.1 million random parameters, and its projector for llama.cpp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SIDE = 28
_PATCH = 14
_WIDTH = 32
# llama.cpp skips the last one, like LLaVA.
_LAYERS = 3


def tiny_llava(text_model: Path) -> Any:
    """Returns Transformers' model around the tiny text model. The weights are the same on every
    call."""
    import torch
    from transformers import (
        AutoModelForCausalLM,
        LlavaConfig,
        LlavaForConditionalGeneration,
        SiglipVisionConfig,
    )

    text = AutoModelForCausalLM.from_pretrained(text_model)
    vision = SiglipVisionConfig(
        hidden_size=_WIDTH,
        intermediate_size=2 * _WIDTH,
        num_hidden_layers=_LAYERS,
        num_attention_heads=2,
        image_size=SIDE,
        patch_size=_PATCH,
        vision_use_head=False,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text.config,
        vision_feature_select_strategy="full",
        vision_feature_layer=-2,
        image_seq_length=(SIDE // _PATCH) ** 2,
    )
    config.image_token_id = 0
    torch.manual_seed(3)
    model = LlavaForConditionalGeneration(config).eval()
    seen = [
        *model.model.vision_tower.parameters(),
        *model.model.multi_modal_projector.parameters(),
    ]
    for values in seen:
        torch.nn.init.normal_(values, std=0.3)
    model.model.language_model.load_state_dict(text.model.state_dict())
    model.lm_head.load_state_dict(text.lm_head.state_dict())
    return model


def write_projector(model: Any, path: Path) -> Path:
    """Writes the part that reads pictures, in float32."""
    import gguf

    writer = gguf.GGUFWriter(path, "clip")
    writer.add_clip_has_vision_encoder(True)
    writer.add_clip_projector_type("mlp")
    writer.add_vision_image_size(SIDE)
    writer.add_vision_patch_size(_PATCH)
    writer.add_vision_embedding_length(_WIDTH)
    writer.add_vision_feed_forward_length(2 * _WIDTH)
    writer.add_vision_projection_dim(model.config.text_config.hidden_size)
    writer.add_vision_block_count(_LAYERS)
    writer.add_vision_head_count(2)
    writer.add_vision_attention_layernorm_eps(model.config.vision_config.layer_norm_eps)
    writer.add_vision_image_mean([0.5] * 3)
    writer.add_vision_image_std([0.5] * 3)
    writer.add_vision_use_gelu(True)
    tower = {
        key.removeprefix("vision_model."): values.detach().numpy()
        for key, values in model.model.vision_tower.state_dict().items()
    }
    writer.add_tensor("v.patch_embd.weight", tower["embeddings.patch_embedding.weight"])
    writer.add_tensor("v.patch_embd.bias", tower["embeddings.patch_embedding.bias"])
    writer.add_tensor("v.position_embd.weight", tower["embeddings.position_embedding.weight"])
    names = {
        **{f"attn_{part}": f"self_attn.{part}_proj" for part in "qkv"},
        "attn_out": "self_attn.out_proj",
        "ln1": "layer_norm1",
        "ln2": "layer_norm2",
        "ffn_up": "mlp.fc1",
        "ffn_down": "mlp.fc2",
    }
    for part in ("weight", "bias"):
        for layer in range(_LAYERS):
            for name, key in names.items():
                values = tower[f"encoder.layers.{layer}.{key}.{part}"]
                writer.add_tensor(f"v.blk.{layer}.{name}.{part}", values)
    projector = model.model.multi_modal_projector.state_dict()
    for key, values in projector.items():
        name = key.replace("linear_1", "mm.0").replace("linear_2", "mm.2")
        writer.add_tensor(name, values.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
