"""Loads the base model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import transformers
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, AutoModelForCausalLM

from ...errors import PlainError
from ...files import SAFE_TOKENIZER, SAFE_WEIGHTS, read_optional_object
from .config import four_bits

if TYPE_CHECKING:
    from pathlib import Path

    import torch


def load_base(base: Path, dtype: torch.dtype, *, in_4_bits: bool = False) -> Any:
    """Loads the base model, optionally with its linear layers in 4 bits. Raises PlainError for an
    architecture that requires remote code."""
    if _config_type(base) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise _unknown(base)
    quantised = four_bits(dtype) if in_4_bits else None
    return AutoModelForCausalLM.from_pretrained(
        base, dtype=dtype, quantization_config=quantised, **SAFE_WEIGHTS
    )


def _config_type(base: Path) -> type:
    try:
        return type(AutoConfig.from_pretrained(base, **SAFE_TOKENIZER))
    except (ValueError, KeyError) as error:
        raise _unknown(base) from error


def _unknown(base: Path) -> PlainError:
    named = read_optional_object(base / "config.json").get("model_type")
    kind = str(named or "not named in config.json")
    return PlainError(
        f"The base model cannot be trained (model type: {kind}): only language models "
        f"whose architecture Transformers {transformers.__version__} knows can be. Code in a "
        "model's own repository is never run."
    )
