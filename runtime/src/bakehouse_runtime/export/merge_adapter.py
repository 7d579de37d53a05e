"""Merges a PEFT adapter into its base with PEFT, and saves the result with Transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import PlainError
from ..files import read_object, write_json
from ..train.lora.load import load_base
from ..train.model_files import copy_non_weight_files, copy_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from peft import PeftModel

# Small enough for the machines and hubs that store the model.
_SHARD = "5GB"
_PREFIX = "base_model.model."


def load_with_adapter(base: Path, adapter: Path) -> PeftModel:
    """Loads the base in its stored dtype, with the adapter. Raises PlainError if the adapter
    belongs to another model."""
    from peft import PeftConfig, PeftType, get_peft_model, set_peft_model_state_dict
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    model = load_base(base, "auto")
    try:
        config: Any = PeftConfig.from_pretrained(str(adapter))
        # A saved adapter needs no initial values, some of which change the base.
        config.init_lora_weights = True
        config.inference_mode = True
        if config.peft_type != PeftType.LORA:
            raise PlainError("Only LoRA adapters can be merged.")
        weights = load_file(adapter / "adapter_model.safetensors")
        adapted: Any = get_peft_model(model, config)
        unknown = set_peft_model_state_dict(adapted, weights).unexpected_keys
    except SafetensorError as error:
        raise PlainError(f"adapter_model.safetensors is no safetensors file: {error}.") from error
    except RuntimeError as error:
        if "size mismatch" not in str(error):
            raise
        raise PlainError("The adapter's matrices are of another shape than the base's.") from error
    except ValueError as error:
        raise PlainError(f"The adapter does not fit the base model: {error}") from error
    if unknown:
        module = min(unknown).removeprefix(_PREFIX)
        raise PlainError(f"The base model has no place for {module} of the adapter.")
    return adapted.eval()


def save_merged(adapted: PeftModel, base: Path, out: Path) -> None:
    """Writes the base's files into `out` with the adapter merged into the weights. The model
    becomes unusable."""
    save_model(adapted.merge_and_unload(), base, out)


def save_model(model: Any, base: Path, out: Path) -> None:
    """Writes a trained model with the tensor names and the other files of its base."""
    config = read_object(base / "config.json")
    was_quantised = config.pop("quantization_config", None) is not None
    # Transformers would give dequantized weights the names of quantised ones.
    model.save_pretrained(str(out), max_shard_size=_SHARD, save_original_format=not was_quantised)
    # Restores the files that Transformers has rewritten.
    copy_non_weight_files(base, out)
    copy_tokenizer(base, out)
    if was_quantised:
        write_json(out / "config.json", config)
