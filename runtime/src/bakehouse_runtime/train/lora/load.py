"""Loads the base model, as what its objective trains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import transformers
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
)

from ...errors import PlainError
from ...files import SAFE_TOKENIZER, SAFE_WEIGHTS, read_optional_object
from .config import four_bits

if TYPE_CHECKING:
    from pathlib import Path

    import torch


def load_base(base: Path, dtype: torch.dtype, *, in_4_bits: bool = False) -> Any:
    """The base model, its linear layers in 4 bits if asked for. Raises PlainError for an
    architecture that only code of its own knows."""
    if _config_type(base) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise _unknown(base)
    quantised = four_bits(dtype) if in_4_bits else None
    return AutoModelForCausalLM.from_pretrained(
        base, dtype=dtype, quantization_config=quantised, **SAFE_WEIGHTS
    )


def load_scorer(base: Path, dtype: torch.dtype) -> Any:
    """The base with a new head that gives one number, `score`. Raises PlainError as `load_base`,
    and where Transformers has no such head."""
    config_type = _config_type(base)
    if config_type not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise _unknown(base)
    if config_type in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        model = AutoModelForSequenceClassification.from_pretrained(
            base, num_labels=1, dtype=dtype, **SAFE_WEIGHTS
        )
        if hasattr(model, "score"):
            return model
    raise PlainError(
        f"The base model (model type: {_model_type(base)}) cannot become a reward model: "
        f"Transformers {transformers.__version__} has no head with a score for it."
    )


def _config_type(base: Path) -> type:
    try:
        return type(AutoConfig.from_pretrained(base, **SAFE_TOKENIZER))
    except (ValueError, KeyError) as error:
        raise _unknown(base) from error


def _unknown(base: Path) -> PlainError:
    return PlainError(
        f"The base model cannot be trained (model type: {_model_type(base)}): only language models "
        f"whose architecture Transformers {transformers.__version__} knows can be. Code in a "
        "model's own repository is never run."
    )


def _model_type(base: Path) -> str:
    named = read_optional_object(base / "config.json").get("model_type")
    return str(named or "not named in config.json")
