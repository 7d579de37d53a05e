"""Applies LoRAs to a network only for the pictures that request them.

Diffusers puts PEFT's layers into the model. Once a LoRA has changed a layer, every later picture
passes through PEFT's wrapper, even without a LoRA. Forward hooks exist only during a pass and do
not change the model. Diffusers' converters interpret the file, including the names that other
trainers use, and a test compares the pictures of both implementations.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from diffusers.loaders.lora_base import LORA_ADAPTER_METADATA_KEY
from diffusers.utils.state_dict_utils import convert_unet_state_dict_to_peft
from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn import functional as F

from ..errors import RequestError
from .family import Family

# Limit of the cache, measured in the model's own dtype; the last LoRA always stays.
_KEPT_BYTES_MAX = 1 << 30
# A LoRA of all layers of FLUX.1 has a fifth of that.
_HEADER_BYTES_MAX = 1 << 20
_NAME_SHOWN_MAX = 120
# Torch has dtypes that it cannot convert, and dtypes that it cannot compare with a number.
_ALPHA_TYPES = {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64}
_MATRIX_TYPES = _ALPHA_TYPES - {torch.int64} | {torch.float8_e4m3fn, torch.float8_e5m2}
# Up to this rank, a LoRA of any layer is accepted.
_RANK = 128
# The prefix of the network's layers.
_PREFIX = "transformer."


@dataclass(frozen=True)
class ChosenLora:
    """The LoRA of a request: the weights in `file`, times `scale`, cached under `id`."""

    id: str
    file: Path
    scale: float


@dataclass(frozen=True)
class _Change:
    """The update that one layer adds to its output: up(down(input)) * factor."""

    down: Tensor
    up: Tensor
    # Alpha divided by the rank.
    factor: float

    def hook(self, scale: float) -> Callable[[nn.Module, tuple[Tensor], Tensor], Tensor]:
        factor = self.factor * scale
        return lambda _, inputs, output: (
            output + F.linear(F.linear(inputs[0], self.down), self.up) * factor
        )


class Lora:
    """A LoRA that fits a network."""

    def __init__(self, changes: Mapping[nn.Linear, _Change]) -> None:
        self._changes = changes
        tensors = (one for change in changes.values() for one in (change.down, change.up))
        self.size_bytes = sum(tensor.nbytes for tensor in tensors)

    @contextmanager
    def applied(self, scale: float) -> Iterator[None]:
        """Applies the LoRA to the network, times `scale`, within the block."""
        with ExitStack() as hooks:
            for layer, change in self._changes.items():
                hooks.callback(layer.register_forward_hook(change.hook(scale)).remove)
            yield


class LoraCache:
    """A cache of the most recently used LoRAs of one network."""

    def __init__(
        self, network: nn.Module, family: Family, bytes_max: int = _KEPT_BYTES_MAX
    ) -> None:
        self._network = network
        self._family = family
        self._bytes_max = bytes_max
        # Ordered by last use, most recent last.
        self._kept: dict[str, Lora] = {}

    def load(self, chosen: ChosenLora) -> Lora:
        """Returns the LoRA from the cache or its file. Raises RequestError if it does not fit."""
        lora = self._kept.pop(chosen.id, None) or read_lora(
            chosen.file, self._network, self._family
        )
        self._kept[chosen.id] = lora
        while len(self._kept) > 1 and self._size_bytes() > self._bytes_max:
            self._kept.pop(next(iter(self._kept)))
        return lora

    def clear(self) -> None:
        self._kept.clear()

    def _size_bytes(self) -> int:
        return sum(lora.size_bytes for lora in self._kept.values())


def read_lora(file: Path, network: nn.Module, family: Family) -> Lora:
    """Reads the LoRA in a safetensors file. Raises RequestError if any part of the file is not a
    plain LoRA of this network; the error names the part. Applying only the valid parts would
    generate another picture than intended."""
    tensors, settings = _opened(file)
    state, alphas = _named_by_diffusers(tensors, family)
    settings = settings or _from_alphas(alphas)
    # While PEFT trains an adapter, its layers wrap the model's own layers.
    modules = {name.removesuffix(".base_layer"): one for name, one in network.named_modules()}
    changes: dict[nn.Linear, _Change] = {}
    for name, (down, up) in _pairs(state).items():
        layer = modules.get(name)
        if not isinstance(layer, nn.Linear):
            raise _misfit(f"the model has no layer {_shown(name)}")
        _check_shapes(name, layer, down, up)
        factor = settings.factor(name, rank=down.shape[0]) if settings else 1.0
        change = _Change(_like(layer.weight, down), _like(layer.weight, up), factor)
        if not (change.down.isfinite().all() and change.up.isfinite().all()):
            raise _misfit(f"it has values for {name} that are not numbers")
        changes[layer] = change
    return Lora(changes)


class _Settings(BaseModel):
    """The scaling of the matrices, which Diffusers stores next to them."""

    lora_alpha: FiniteFloat = 8
    # PEFT treats the keys as regular expressions, and a malicious one can run forever. Trainers
    # only write names or suffixes of names.
    alpha_pattern: dict[str, FiniteFloat] = Field(default_factory=dict)
    use_rslora: bool = False
    use_dora: bool = False

    def factor(self, name: str, rank: int) -> float:
        own = self.alpha_pattern.get(f"^{name}")
        if own is None:
            ends = (
                one for key, one in self.alpha_pattern.items() if f".{name}".endswith(f".{key}")
            )
            own = next(ends, self.lora_alpha)
        return own / (rank**0.5 if self.use_rslora else rank)


def _from_alphas(alphas: Mapping[str, Tensor]) -> _Settings | None:
    """A layer without an alpha gets the most common alpha, as in Diffusers. If no layer has an
    alpha, alpha is the rank."""
    if not alphas:
        return None
    by_name = {
        f"^{_below_transformer(key).split('.lora_A.')[0].removesuffix('.alpha')}": float(alpha)
        for key, alpha in alphas.items()
    }
    [(most, _)] = Counter(by_name.values()).most_common(1)
    return _Settings(lora_alpha=most, alpha_pattern=by_name)


def _opened(file: Path) -> tuple[dict[str, Tensor], _Settings | None]:
    """Returns the tensors of a file and their settings."""
    try:
        with file.open("rb") as stream:
            header_bytes = int.from_bytes(stream.read(8), "little")
        if _HEADER_BYTES_MAX < header_bytes < file.stat().st_size:
            raise _misfit("it has more weights than the model")
        with safe_open(file, framework="pt") as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            said = (opened.metadata() or {}).get(LORA_ADAPTER_METADATA_KEY)
    except RequestError:
        raise
    # Safetensors raises its own errors, and torch others for unknown dtypes. The file is deleted
    # when its request ends, which may already have happened.
    except Exception as error:
        raise _misfit("its file cannot be read as safetensors") from error
    return tensors, None if said is None else _settings(said)


def _settings(said: str) -> _Settings:
    try:
        read = TypeAdapter(dict[str, object]).validate_json(said)
        values = {_below_transformer(key): value for key, value in read.items()}
        settings = _Settings.model_validate(values)
    except ValidationError as error:
        raise _misfit(f"its {LORA_ADAPTER_METADATA_KEY} cannot be read") from error
    for key in settings.alpha_pattern:
        if not re.fullmatch(r"\^?[\w.]+", key):
            raise _misfit(f"its alpha_pattern has {_shown(key)}, which is no layer's name")
    if settings.use_dora:
        raise _misfit("it is a DoRA (use_dora), and only plain LoRA is applied")
    return settings


def _named_by_diffusers(
    tensors: dict[str, Tensor], family: Family
) -> tuple[dict[str, Tensor], Mapping[str, Tensor]]:
    """Returns the matrices under the names that Diffusers and PEFT use, without the network's
    prefix (`….lora_A.weight`), and the alphas that are not yet multiplied into them."""
    _check_tensors(tensors)
    try:
        # This removes alphas from its argument.
        state, alphas = family.lora_loader.lora_state_dict(dict(tensors), return_alphas=True)
    # Diffusers' converters of other trainers' names raise arbitrary errors.
    except Exception as error:
        raise _no_lora(tensors, family) from error
    if not any("lora" in key for key in state):
        raise _no_lora(tensors, family)
    for key in state:
        if not key.startswith(_PREFIX):
            raise _misfit(f"it has {_shown(key)}, and only what begins with {_PREFIX} is applied")
    below = {_below_transformer(key): tensor for key, tensor in state.items()}
    # Diffusers uses the same criterion.
    if "lora_A" not in next(iter(below)):
        below = convert_unet_state_dict_to_peft(below)
    return below, alphas or {}


def _check_tensors(tensors: Mapping[str, Tensor]) -> None:
    """Rejects tensors that the converters silently ignore, or on which they loop forever."""
    for key, tensor in tensors.items():
        if "dora_scale" in key or "lora_magnitude_vector" in key:
            raise _misfit(f"it is a DoRA ({_shown(key)}), and only plain LoRA is applied")
        is_alpha = "alpha" in key
        if tensor.dtype not in (_ALPHA_TYPES if is_alpha else _MATRIX_TYPES):
            kind = str(tensor.dtype).removeprefix("torch.")
            raise _misfit(f"{_shown(key)} is of the type {kind}, in which no LoRA is")
        if is_alpha and not (tensor.numel() == 1 and 0 < tensor.item() < float("inf")):
            raise _misfit(f"{_shown(key)} is not a positive number")


def _pairs(state: Mapping[str, Tensor]) -> dict[str, tuple[Tensor, Tensor]]:
    """Returns the two matrices of each layer."""
    found: defaultdict[str, dict[str, Tensor]] = defaultdict(dict)
    for key, tensor in state.items():
        name, _, part = key.partition(".lora_")
        if part not in ("A.weight", "B.weight"):
            raise _misfit(f"it has {_shown(key)}, which is no part of a plain LoRA")
        found[name][part] = tensor
    for name, parts in found.items():
        if len(parts) == 1:
            raise _misfit(f"it has one matrix alone for {_shown(name)}")
    return {name: (parts["A.weight"], parts["B.weight"]) for name, parts in found.items()}


def _check_shapes(name: str, layer: nn.Linear, down: Tensor, up: Tensor) -> None:
    rank = down.shape[0] if down.ndim == 2 else 0
    wanted = (rank, layer.in_features), (layer.out_features, rank)
    given = tuple(down.shape), tuple(up.shape)
    if rank < 1 or given != wanted:
        sizes = f"{layer.in_features} to {layer.out_features}"
        raise _misfit(
            f"its matrices for {name} are {given[0]} and {given[1]}, the layer is {sizes}"
        )
    # A higher rank costs more than half of the layer's own work and slows down all requests.
    values, sides = layer.in_features * layer.out_features, layer.in_features + layer.out_features
    rank_max = max(_RANK, values // (2 * sides))
    if rank > rank_max:
        raise _misfit(f"its rank for {name} is {rank}, and at most {rank_max} is applied")


def _like(weight: Tensor, matrix: Tensor) -> Tensor:
    """Matches the device and dtype of the model; copies, because the original is a memory map of
    the file."""
    return matrix.to(weight.device, weight.dtype, copy=True)


def _below_transformer(key: str) -> str:
    return key.removeprefix(_PREFIX)


def _shown(key: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in key[:_NAME_SHOWN_MAX])


def _no_lora(tensors: Mapping[str, Tensor], family: Family) -> RequestError:
    first = next(iter(tensors), "nothing")
    return _misfit(f"its keys, such as {_shown(first)}, are not those of a LoRA for {family.name}")


def _misfit(reason: str) -> RequestError:
    return RequestError("lora", f"This LoRA does not fit the model: {reason}.")
