"""Loads the base model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import transformers
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
)
from transformers.utils import is_flash_attn_2_available, is_flash_attn_3_available
from transformers.utils.quantization_config import Mxfp4Config

from ...errors import PlainError
from ...files import SAFE_TOKENIZER, SAFE_WEIGHTS, read_optional_object
from .config import four_bits

if TYPE_CHECKING:
    from pathlib import Path

# Major compute capabilities of the first GPUs that the kernels support.
_AMPERE, _HOPPER = 8, 9


def load_base(base: Path, dtype: torch.dtype | str, *, in_4_bits: bool = False) -> Any:
    """Loads the base model in `dtype` ("auto" for its stored dtype), optionally with its linear
    layers in 4 bits. Raises PlainError for an architecture that requires remote code.

    A multimodal base is loaded as a whole. The engines expect the module names of the whole model.
    Weights in MXFP4 are dequantized.
    """
    try:
        config: Any = AutoConfig.from_pretrained(base, **SAFE_TOKENIZER)
    except (ValueError, KeyError) as error:
        raise _unknown(base) from error
    quantised = four_bits(dtype) if in_4_bits and not isinstance(dtype, str) else None
    if (getattr(config, "quantization_config", None) or {}).get("quant_method") == "mxfp4":
        quantised = Mxfp4Config(dequantize=True)
    return _auto_class(base, config).from_pretrained(
        base,
        dtype=dtype,
        quantization_config=quantised,
        attn_implementation=_attention(config, dtype),
        **SAFE_WEIGHTS,
    )


def _auto_class(base: Path, config: Any) -> Any:
    """Returns the class that loads the architecture which config.json names."""
    named = config.architectures or []
    is_multimodal = any(name.endswith("ForConditionalGeneration") for name in named)
    if is_multimodal and type(config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        return AutoModelForImageTextToText
    if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING:
        return AutoModelForCausalLM
    raise _unknown(base)


def _attention(config: Any, dtype: torch.dtype | str) -> str | dict[str, str] | None:
    """Returns the fastest attention kernel that is installed and fits this GPU and model, or None
    for Transformers' default (SDPA where the model supports it)."""
    if dtype not in (torch.float16, torch.bfloat16) or not torch.cuda.is_available():
        return None
    major, _ = torch.cuda.get_device_capability()
    if major == _HOPPER and is_flash_attn_3_available():
        kernel = "flash_attention_3"
    elif major >= _AMPERE and is_flash_attn_2_available():
        kernel = "flash_attention_2"
    else:
        return None
    text = config.get_text_config()
    model = MODEL_FOR_CAUSAL_LM_MAPPING.get(type(text), None)
    fitting = getattr(model, "_compatible_flash_implementations", None) or [kernel]
    if not getattr(model, "_supports_flash_attn", False) or kernel not in fitting:
        return None
    # The encoders of a multimodal base keep their default.
    return kernel if text is config else {"text_config": kernel}


def encoder_names(model: Any) -> list[str]:
    """Returns the names of a multimodal model's modules outside its language model, such as
    `model.vision_tower`; none for a model of text."""
    if model.config.get_text_config() is model.config:
        return []
    decoder = model.get_decoder()
    name = next(name for name, module in model.named_modules() if module is decoder)
    parent, _, own = name.rpartition(".")
    siblings = model.get_submodule(parent).named_children()
    return [f"{parent}.{child}" for child, _ in siblings if child != own]


def _unknown(base: Path) -> PlainError:
    named = read_optional_object(base / "config.json").get("model_type")
    kind = str(named or "not named in config.json")
    return PlainError(
        f"The base model cannot be trained (model type: {kind}): only language models "
        f"whose architecture Transformers {transformers.__version__} knows can be. Code in a "
        "model's own repository is never run."
    )
