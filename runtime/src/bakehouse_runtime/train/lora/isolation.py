"""Tests whether a model isolates the rows of a packed sequence on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ...errors import PlainError

if TYPE_CHECKING:
    from ...device import Device

# Tokens of each of the two test rows.
_TOKENS = 12
# Tolerance relative to the largest logit. Masked tokens contribute exactly zero. But in a mixture
# model, tokens of other rows change the load of each expert, and with it the rounding.
_ROUNDING = {torch.float32: 1e-4}
_ROUNDING_OF_HALVES = 0.02


def require_isolation(model: Any, device: Device) -> None:
    """Raises PlainError if a row affects the row after it."""
    positions = torch.arange(_TOKENS).repeat(2)[None]
    words = torch.arange(2 * _TOKENS)[None] % (model.config.get_text_config().vocab_size // 2)
    others = words.clone()
    others[0, :_TOKENS] += 1
    was_training = model.training
    model.eval()
    on_device = device if device == "cuda" else "cpu"
    try:
        with torch.inference_mode():
            read = [
                model.to(on_device)(
                    input_ids=ids.to(on_device),
                    position_ids=positions.to(on_device),
                    use_cache=False,
                ).logits[0, _TOKENS:]
                for ids in (words, others)
            ]
    except TypeError as error:
        raise _leaks() from error
    finally:
        model.train(was_training)
    one, other = read
    rounding = _ROUNDING.get(one.dtype, _ROUNDING_OF_HALVES)
    if not (one - other).abs().max() <= rounding * one.abs().max():
        raise _leaks()


def _leaks() -> PlainError:
    return PlainError(
        "This base model does not keep rows apart that share a sequence: switch packing off."
    )
