"""Reads and writes the parts of a Paris: `expert_0/` and so on, and `router/`.

Shapes are derived from the weights, because configuration files use different names. Some values
cannot be derived from the weights: the number of attention heads, whether the last layer is
missing, and the settings `norm_eps` and `head_gelu`, whose layers have no weights. These default to
the published values. The starter configures its own.

An expert is a whole model, like the published ones, or a low-rank difference from the model in the
sibling folder `base/`: eight experts of one base then take little more space than that base. Both
load as the same kind of model.

Weights may be sharded, because of upload limits: an index in Diffusers' format then lists the
shards.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from ...errors import PlainError
from ...files import inside, read_object, read_optional_object
from ..model_files import check_keys, named
from .model import Expert, ExpertShape, Router, RouterShape

EXPERT_WEIGHTS = "diffusion_pytorch_model.safetensors"
ROUTER_WEIGHTS = "pytorch_model.safetensors"
BASE = "base"
DIFFERENCE_WEIGHTS = "difference.safetensors"
# The difference of a matrix `x` is `x.up @ x.down`; other parameters store it directly.
UP, DOWN = ".up", ".down"
HEADS_KEYS = ("heads", "num_heads", "num_attention_heads")
LAYERS_KEYS = ("layers", "num_layers", "depth", "num_hidden_layers")
# The published widths, whose configuration may omit the number of heads.
PUBLISHED_HEADS = {
    ExpertShape.hidden_size: ExpertShape.heads,
    RouterShape.hidden_size: RouterShape.heads,
}


def expert_shape(
    sizes: dict[str, tuple[int, ...]], heads: int, norm_eps: float = ExpertShape.norm_eps
) -> ExpertShape:
    """Derives the shape of an expert from the sizes of its weights."""
    text_size = sizes["text_proj.weight"][1]
    return ExpertShape(**_backbone_shape(sizes, heads), text_size=text_size, norm_eps=norm_eps)


def router_shape(
    sizes: dict[str, tuple[int, ...]],
    heads: int,
    norm_eps: float = RouterShape.norm_eps,
    head_gelu: Literal["tanh", "none"] = RouterShape.head_gelu,
) -> RouterShape:
    """Derives the shape of a router from the sizes of its weights."""
    return RouterShape(
        **_backbone_shape(sizes, heads),
        experts=sizes["head.4.weight"][0],
        norm_eps=norm_eps,
        head_gelu=head_gelu,
    )


def _backbone_shape(sizes: dict[str, tuple[int, ...]], heads: int) -> dict[str, Any]:
    hidden_size, channels, patch_size, _ = sizes["patch_embed.weight"]
    return {
        "latent_channels": channels,
        "latent_side": round(sizes["pos_embed"][1] ** 0.5) * patch_size,
        "patch_size": patch_size,
        "hidden_size": hidden_size,
        "layers": len(_layers(sizes)),
        "heads": heads,
        "mlp_ratio": sizes["layers.0.mlp.0.weight"][0] // hidden_size,
    }


def load_experts(folders: Sequence[Path], dtype: torch.dtype) -> list[Expert]:
    """Loads the experts in `folders` in `dtype`; reads a shared base once.

    Raises PlainError for missing or damaged files.
    """
    bases: dict[Path, Expert] = {}
    return [_load(folder, bases).to(dtype) for folder in folders]


def load_expert(folder: Path) -> Expert:
    """Loads the expert in `folder` in the dtype of its file, or of its base if it is a difference.

    Raises PlainError for missing or damaged files.
    """
    return _load(folder, {})


def load_router(folder: Path) -> Router:
    """Loads the router in `folder` in the dtype of its file."""
    path = folder / ROUTER_WEIGHTS
    sizes = _read_sizes(path)
    said = _norm_eps(folder), _head_gelu(folder)
    with torch.device("meta"):
        router = Router(_shape(path, lambda: router_shape(sizes, _heads(folder, sizes), *said)))
    _fill(router, path, sizes)
    return router.eval()


def _load(folder: Path, bases: dict[Path, Expert]) -> Expert:
    if (folder / EXPERT_WEIGHTS).exists() or not (folder / DIFFERENCE_WEIGHTS).exists():
        return _load_whole(folder)
    base = folder.parent / BASE
    if base not in bases:
        bases[base] = _load_whole(base)
    expert = copy.deepcopy(bases[base])
    _add_difference(expert, folder / DIFFERENCE_WEIGHTS)
    return expert


def _load_whole(folder: Path) -> Expert:
    path = folder / EXPERT_WEIGHTS
    sizes = _read_sizes(path)
    norm_eps = _norm_eps(folder)
    with torch.device("meta"):
        expert = Expert(_shape(path, lambda: expert_shape(sizes, _heads(folder, sizes), norm_eps)))
    _fill(expert, path, sizes)
    return expert.eval()


def save_expert(expert: Expert, folder: Path, dtype: torch.dtype) -> None:
    _save(expert, asdict(expert.shape), folder, EXPERT_WEIGHTS, dtype)


def save_difference(
    expert: Expert, base: Expert, folder: Path, rank: int, dtype: torch.dtype
) -> None:
    """Writes `expert` as a difference from `base`, which must be in the sibling folder `base/`.
    Matrices store the `rank` largest singular values of the difference (the nearest matrix of that
    rank, Eckart and Young 1936), other parameters the whole difference."""
    started = base.state_dict()
    weights: dict[str, torch.Tensor] = {}
    for name, value in expert.state_dict().items():
        difference = value.detach().float() - started[name].float()
        if difference.dim() == 2:
            left, strengths, right = torch.linalg.svd(difference, full_matrices=False)
            roots = strengths[:rank].sqrt()
            weights[name + UP] = left[:, :rank] * roots
            weights[name + DOWN] = roots[:, None] * right[:rank]
        else:
            weights[name] = difference
    _write(weights, folder, DIFFERENCE_WEIGHTS, dtype)


def save_router(router: Router, folder: Path, dtype: torch.dtype) -> None:
    _save(router, asdict(router.shape), folder, ROUTER_WEIGHTS, dtype)


@torch.no_grad()
def _add_difference(expert: Expert, path: Path) -> None:
    difference = _read(path)
    weights = expert.state_dict()
    keys = {
        name: (name + UP, name + DOWN) if name + UP in difference else (name,) for name in weights
    }
    expected = {key for of_one in keys.values() for key in of_one}
    check_keys(named(path), expected - difference.keys(), difference.keys() - expected)
    for name, value in weights.items():
        factors = [difference[key].float() for key in keys[name]]
        try:
            added = factors[0] if len(factors) == 1 else factors[0] @ factors[1]
            if added.shape != value.shape:
                raise ValueError(f"{tuple(added.shape)} instead of {tuple(value.shape)}")
        except (RuntimeError, ValueError) as error:
            raise PlainError(
                f"The file {named(path)} does not fit the base model in {BASE}: {name} has the "
                "wrong shape."
            ) from error
        value.copy_(value.float() + added)


def _shape(path: Path, read: Any) -> Any:
    try:
        return read()
    except (KeyError, ValueError, IndexError, ZeroDivisionError) as error:
        raise PlainError(
            f"The weights in the file {named(path)} are not of a Paris model: {error} is missing "
            "or has the wrong shape."
        ) from error


def _shards(path: Path) -> list[Path]:
    """Returns the files with the weights of `path`: that file, or the shards in its index."""
    list_path = path.with_name(f"{path.name}.index.json")
    if path.exists() or not list_path.exists():
        return [path]
    shard_of = read_object(list_path).get("weight_map")
    if not isinstance(shard_of, dict) or not shard_of:
        raise PlainError(f"The file {named(list_path)} names no weights.")
    return [inside(path.parent, name) for name in sorted({str(name) for name in shard_of.values()})]


def _read_sizes(path: Path) -> dict[str, tuple[int, ...]]:
    sizes: dict[str, tuple[int, ...]] = {}
    for shard in _shards(path):
        if not shard.exists():
            raise PlainError(f"The file {named(shard)} of the model is missing.")
        try:
            with safe_open(shard, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118 - not a dict
                    sizes[name] = tuple(file.get_slice(name).get_shape())
        except (SafetensorError, OSError) as error:
            raise PlainError(f"The file {named(shard)} is damaged.") from error
    return sizes


def _read(path: Path) -> dict[str, torch.Tensor]:
    weights: dict[str, torch.Tensor] = {}
    for shard in _shards(path):
        try:
            weights.update(load_file(shard))
        except (SafetensorError, OSError) as error:
            raise PlainError(f"The file {named(shard)} is damaged.") from error
    return weights


def _config(folder: Path) -> dict[str, Any]:
    return read_optional_object(folder / "config.json")


def _declared(folder: Path, keys: Sequence[str]) -> int | None:
    """Returns the first number in the configuration of `folder` under one of the names `keys`."""
    config = _config(folder)
    return next((config[key] for key in keys if isinstance(config.get(key), int)), None)


def _heads(folder: Path, sizes: dict[str, tuple[int, ...]]) -> int:
    width = sizes["patch_embed.weight"][0]
    declared = _declared(folder, HEADS_KEYS)
    if declared is None and width not in PUBLISHED_HEADS:
        raise PlainError(f"The file {folder.name}/config.json does not say the number of heads.")
    heads = PUBLISHED_HEADS[width] if declared is None else declared
    if heads < 1 or width % heads != 0:
        raise PlainError(
            f"The file {folder.name}/config.json says {heads} heads, which do not divide the "
            f"width {width}."
        )
    return heads


def _norm_eps(folder: Path) -> float:
    value = _config(folder).get("norm_eps", ExpertShape.norm_eps)
    if not (isinstance(value, float) and 0 < value < 1):
        raise PlainError(
            f"The norm_eps in {folder.name}/config.json is not a number between 0 and 1."
        )
    return value


def _head_gelu(folder: Path) -> Literal["tanh", "none"]:
    value = _config(folder).get("head_gelu", RouterShape.head_gelu)
    if value not in ("tanh", "none"):
        raise PlainError(f"The head_gelu in {folder.name}/config.json is neither tanh nor none.")
    return value


def _layers(sizes: dict[str, tuple[int, ...]]) -> set[str]:
    return {name.split(".")[1] for name in sizes if name.startswith("layers.")}


def _fill(model: nn.Module, path: Path, sizes: dict[str, tuple[int, ...]]) -> None:
    try:
        found = model.load_state_dict(_read(path), strict=False, assign=True)
    except RuntimeError as error:
        reason = str(error).splitlines()[1].strip()
        raise PlainError(
            f"The weights in the file {named(path)} do not have the shape of a Paris model: "
            f"{reason}"
        ) from error
    check_keys(
        named(path), [*found.missing_keys, *_missing_end(path.parent, sizes)], found.unexpected_keys
    )


def _missing_end(folder: Path, sizes: dict[str, tuple[int, ...]]) -> list[str]:
    """Returns the first layer that the configuration counts but the weights lack. The shape derived
    from the weights alone would hide that it is missing."""
    layers = _layers(sizes)
    end = str(len(layers))
    is_missing = (_declared(folder, LAYERS_KEYS) or 0) > len(layers) and end not in layers
    return [f"layers.{end}"] if is_missing else []


def _save(
    model: nn.Module, config: dict[str, Any], folder: Path, name: str, dtype: torch.dtype
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    _write(model.state_dict(), folder, name, dtype)


def _write(weights: dict[str, torch.Tensor], folder: Path, name: str, dtype: torch.dtype) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stored = {key: value.detach().to(dtype).contiguous() for key, value in weights.items()}
    partial = folder / f"{name}.partial"
    save_file(stored, partial, metadata={"format": "pt"})
    partial.replace(folder / name)
