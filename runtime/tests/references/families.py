"""Tiny models of today's families with random weights and the tokenizer of the tiny Llama."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiny_model import write_tiny_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_VISION: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64}


def write_family(folder: Path, family: str) -> Path:
    """Writes the files as a hub has them: configuration, weights, and tokenizer."""
    import torch

    write_tiny_model(folder, tied=False)
    torch.manual_seed(7)
    _FAMILIES[family]().save_pretrained(folder)
    if family == "gpt_oss":
        _write_mxfp4(folder)
    return folder


def _write_mxfp4(folder: Path) -> None:
    """Replaces the weights of the experts by random ones in MXFP4."""
    import torch
    from safetensors.torch import load_file, save_file

    from bakehouse_runtime.files import read_object, write_json

    weights = load_file(folder / "model.safetensors")
    for name in [
        name for name in weights if name.endswith(("experts.gate_up_proj", "experts.down_proj"))
    ]:
        experts, columns, rows = weights.pop(name).shape
        blocks = torch.randint(0, 256, (experts, rows, columns // 32, 16), dtype=torch.uint8)
        weights[f"{name}_blocks"] = blocks
        weights[f"{name}_scales"] = torch.full(blocks.shape[:3], 122, dtype=torch.uint8)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = read_object(folder / "config.json")
    write_json(folder / "config.json", config | {"quantization_config": {"quant_method": "mxfp4"}})


def _text(**changed: Any) -> dict[str, Any]:
    return {
        "vocab_size": 320,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 256,
        "initializer_range": 0.2,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
        **changed,
    }


def _llama() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**_text()))


def _qwen3() -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    return Qwen3ForCausalLM(Qwen3Config(**_text()))


def _qwen3_moe() -> Any:
    from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM

    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    return Qwen3MoeForCausalLM(Qwen3MoeConfig(**_text(**experts)))


def _phi3() -> Any:
    from transformers import Phi3Config, Phi3ForCausalLM

    return Phi3ForCausalLM(Phi3Config(**_text()))


def _gpt_oss() -> Any:
    from transformers import GptOssConfig, GptOssForCausalLM

    experts = {"num_local_experts": 4, "num_experts_per_tok": 2}
    return GptOssForCausalLM(GptOssConfig(**_text(intermediate_size=64, **experts)))


def _gemma3() -> Any:
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    vision = _VISION | {"num_hidden_layers": 1, "num_attention_heads": 2}
    config = Gemma3Config(
        text_config=_text(sliding_window=32),
        vision_config=vision | {"image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4,
        image_token_index=300,
        boi_token_index=301,
        eoi_token_index=302,
    )
    return Gemma3ForConditionalGeneration(config)


def _qwen3_5() -> Any:
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    linear = {
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
    }
    vision = _VISION | {"depth": 1, "num_heads": 2, "out_hidden_size": 64, "patch_size": 4}
    config = Qwen3_5Config(
        text_config=_text(layer_types=["linear_attention", "full_attention"], **linear),
        vision_config=vision | {"num_position_embeddings": 16},
        image_token_id=300,
        video_token_id=301,
        vision_start_token_id=302,
        vision_end_token_id=303,
    )
    return Qwen3_5ForConditionalGeneration(config)


def _mistral3() -> Any:
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration

    vision = _VISION | {"num_hidden_layers": 1, "num_attention_heads": 2}
    config = Mistral3Config(
        text_config={"model_type": "mistral", **_text()},
        vision_config={
            "model_type": "pixtral",
            **vision,
            "head_dim": 16,
            "image_size": 28,
            "patch_size": 14,
        },
        image_token_index=300,
    )
    return Mistral3ForConditionalGeneration(config)


_FAMILIES: dict[str, Callable[[], Any]] = {
    "llama": _llama,
    "qwen3": _qwen3,
    "qwen3_moe": _qwen3_moe,
    "phi3": _phi3,
    "gemma3": _gemma3,
    "qwen3_5": _qwen3_5,
    "mistral3": _mistral3,
    "gpt_oss": _gpt_oss,
}
