"""Reading and writing the parts of a Paris: `expert_0/` and so on, and `router/`.

Shapes are read off the weights themselves, because they are in every copy, whatever the
configuration files call them. Only the number of attention heads leaves no trace there.

An expert is a whole model, as the published ones are; or a difference from the model in `base/`
beside it, whose matrices are of low rank: eight experts of one base then take little more room than
that base. Read, both are the same.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from ...errors import PlainError
from ...files import read_object
from .model import Expert, ExpertShape, Router, RouterShape

_log = logging.getLogger(__name__)

EXPERT_WEIGHTS = "diffusion_pytorch_model.safetensors"
ROUTER_WEIGHTS = "pytorch_model.safetensors"
BASE = "base"
DIFFERENCE_WEIGHTS = "difference.safetensors"
# The difference of the matrix `x` is `x.up @ x.down`; of anything else it is stored as it is.
UP, DOWN = ".up", ".down"
HEADS_KEYS = ("heads", "num_heads", "num_attention_heads")
# The published widths, whose configuration need not say the number of heads.
PUBLISHED_HEADS = {
    ExpertShape.hidden_size: ExpertShape.heads,
    RouterShape.hidden_size: RouterShape.heads,
}


def expert_shape(sizes: dict[str, tuple[int, ...]], heads: int) -> ExpertShape:
    """The shape of an expert from the sizes of its weights."""
    return ExpertShape(**_backbone_shape(sizes, heads), text_size=sizes["text_proj.weight"][1])


def router_shape(sizes: dict[str, tuple[int, ...]], heads: int) -> RouterShape:
    """The shape of a router from the sizes of its weights."""
    return RouterShape(**_backbone_shape(sizes, heads), experts=sizes["head.4.weight"][0])


def _backbone_shape(sizes: dict[str, tuple[int, ...]], heads: int) -> dict[str, int]:
    hidden_size, channels, patch_size, _ = sizes["patch_embed.weight"]
    layers = {name.split(".")[1] for name in sizes if name.startswith("layers.")}
    return {
        "latent_channels": channels,
        "latent_side": round(sizes["pos_embed"][1] ** 0.5) * patch_size,
        "patch_size": patch_size,
        "hidden_size": hidden_size,
        "layers": len(layers),
        "heads": heads,
        "mlp_ratio": sizes["layers.0.mlp.0.weight"][0] // hidden_size,
    }


def load_expert(folder: Path) -> Expert:
    """The expert in `folder`, in the precision of its file; as a difference, in that of its base.

    Raises PlainError for what is missing or damaged."""
    if (folder / DIFFERENCE_WEIGHTS).exists() and not (folder / EXPERT_WEIGHTS).exists():
        expert = _load_whole(folder.parent / BASE)
        _add_difference(expert, folder / DIFFERENCE_WEIGHTS)
        return expert
    return _load_whole(folder)


def _load_whole(folder: Path) -> Expert:
    sizes = _read_sizes(folder / EXPERT_WEIGHTS)
    with torch.device("meta"):
        expert = Expert(_shape(folder, lambda: expert_shape(sizes, _heads(folder, sizes))))
    _fill(expert, folder / EXPERT_WEIGHTS)
    return expert.eval()


def load_router(folder: Path) -> Router:
    """The router in `folder`, in the precision of its file."""
    sizes = _read_sizes(folder / ROUTER_WEIGHTS)
    with torch.device("meta"):
        router = Router(_shape(folder, lambda: router_shape(sizes, _heads(folder, sizes))))
    _fill(router, folder / ROUTER_WEIGHTS)
    return router.eval()


def save_expert(expert: Expert, folder: Path, dtype: torch.dtype) -> None:
    _save(expert, asdict(expert.shape), folder, EXPERT_WEIGHTS, dtype)


def save_difference(
    expert: Expert, base: Expert, folder: Path, rank: int, dtype: torch.dtype
) -> None:
    """Writes what makes `expert` of `base`, which belongs into `base/` beside `folder`: of each
    matrix's difference the `rank` largest singular values (the nearest matrix of that rank,
    Eckart and Young 1936), of everything else all."""
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
    try:
        difference = load_file(path)
    except (SafetensorError, OSError) as error:
        raise PlainError(f"The file {path.parent.name}/{path.name} is damaged.") from error
    for name, value in expert.state_dict().items():
        try:
            if name + UP in difference:
                added = difference[name + UP].float() @ difference[name + DOWN].float()
            else:
                added = difference[name].float()
            if added.shape != value.shape:
                raise ValueError(f"{tuple(added.shape)} instead of {tuple(value.shape)}")
            value.copy_(value.float() + added)
        except (KeyError, RuntimeError, ValueError) as error:
            raise PlainError(
                f"The file {path.parent.name}/{path.name} is no difference from the model in "
                f"{BASE}: {name} is missing or has the wrong shape."
            ) from error


def _shape(folder: Path, read: Any) -> Any:
    try:
        return read()
    except (KeyError, ValueError, IndexError, ZeroDivisionError) as error:
        raise PlainError(
            f"The weights in {folder.name} are not of a Paris model: {error} is missing "
            "or has the wrong shape."
        ) from error


def _read_sizes(path: Path) -> dict[str, tuple[int, ...]]:
    if not path.exists():
        raise PlainError(f"The file {path.parent.name}/{path.name} of the model is missing.")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError) as error:
        raise PlainError(f"The file {path.parent.name}/{path.name} is damaged.") from error


def _heads(folder: Path, sizes: dict[str, tuple[int, ...]]) -> int:
    config = read_object(folder / "config.json") if (folder / "config.json").exists() else {}
    width = sizes["patch_embed.weight"][0]
    declared = [config[key] for key in HEADS_KEYS if isinstance(config.get(key), int)]
    if not declared and width not in PUBLISHED_HEADS:
        raise PlainError(f"The file {folder.name}/config.json does not say the number of heads.")
    heads = declared[0] if declared else PUBLISHED_HEADS[width]
    if heads < 1 or width % heads != 0:
        raise PlainError(
            f"The file {folder.name}/config.json says {heads} heads, which do not divide the "
            f"width {width}."
        )
    return heads


def _fill(model: nn.Module, path: Path) -> None:
    try:
        found = model.load_state_dict(load_file(path), strict=False, assign=True)
    except SafetensorError as error:
        raise PlainError(f"The file {path.parent.name}/{path.name} is damaged.") from error
    except RuntimeError as error:
        reason = str(error).splitlines()[1].strip()
        raise PlainError(
            f"The weights in {path.parent.name} do not have the shape of a Paris model: {reason}"
        ) from error
    if found.missing_keys:
        raise PlainError(
            f"The weights in {path.parent.name} are not of a Paris model: "
            f"{found.missing_keys[0]} is missing."
        )
    if found.unexpected_keys:
        _log.warning(
            "%s/%s has weights that Paris does not use: %s.",
            path.parent.name,
            path.name,
            ", ".join(sorted(found.unexpected_keys)),
        )


def _save(
    model: nn.Module, config: dict[str, int], folder: Path, name: str, dtype: torch.dtype
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
