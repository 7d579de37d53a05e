"""Tests experts stored as differences from one base."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.files import read_object, write_json
from bakehouse_runtime.image.paris.model import Router
from bakehouse_runtime.image.paris.weights import (
    DIFFERENCE_WEIGHTS,
    EXPERT_WEIGHTS,
    ROUTER_WEIGHTS,
    load_expert,
    load_experts,
    load_router,
    save_difference,
    save_expert,
    save_router,
)
from image.conftest import one_sentence
from image.tiny import TINY_EXPERT, TINY_ROUTER, tiny_expert

WHOLE_RANK = TINY_EXPERT.hidden_size
NAME = "expert_3"


def written(folder: Path, rank: int) -> Path:
    save_expert(tiny_expert(1), folder / "base", torch.float32)
    save_difference(tiny_expert(2), tiny_expert(1), folder / NAME, rank, torch.float32)
    return folder / NAME


def distance(folder: Path) -> float:
    read, whole = load_expert(folder).state_dict(), tiny_expert(2).state_dict()
    return sum(float((read[name] - whole[name]).square().sum()) for name in whole)


def test_a_full_rank_difference_restores_the_expert(tmp_path: Path) -> None:
    read = load_expert(written(tmp_path, rank=WHOLE_RANK)).state_dict()
    for name, value in tiny_expert(2).state_dict().items():
        torch.testing.assert_close(read[name], value, atol=1e-5, rtol=0)


def test_a_higher_rank_is_closer_and_a_lower_one_smaller(tmp_path: Path) -> None:
    sizes, distances = [], []
    for rank in (1, 4, WHOLE_RANK):
        folder = written(tmp_path / str(rank), rank)
        sizes.append((folder / DIFFERENCE_WEIGHTS).stat().st_size)
        distances.append(distance(folder))
    assert sizes == sorted(sizes)
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-6 < distances[-2]


def test_prefers_whole_weights_to_a_difference(tmp_path: Path) -> None:
    folder = written(tmp_path, rank=1)
    save_expert(tiny_expert(5), folder, torch.float32)
    assert torch.equal(load_expert(folder).pos_embed, tiny_expert(5).pos_embed)


def test_an_expert_has_the_dtype_of_its_base(tmp_path: Path) -> None:
    save_expert(tiny_expert(1), tmp_path / "base", torch.float16)
    save_difference(tiny_expert(2), tiny_expert(1), tmp_path / NAME, 2, torch.float16)
    assert load_expert(tmp_path / NAME).pos_embed.dtype == torch.float16


def test_saves_the_settings_of_expert_and_router(tmp_path: Path) -> None:
    shape = replace(TINY_EXPERT, norm_eps=1e-6)
    save_expert(tiny_expert(1, shape), tmp_path / "base", torch.float32)
    save_difference(tiny_expert(2, shape), tiny_expert(1, shape), tmp_path / NAME, 2, torch.float32)
    assert load_expert(tmp_path / NAME).shape == shape
    router = Router(replace(TINY_ROUTER, norm_eps=1e-6, head_gelu="none"))
    save_router(router, tmp_path / "router", torch.float32)
    assert load_router(tmp_path / "router").shape == router.shape


@pytest.mark.parametrize(("key", "value"), [("norm_eps", "small"), ("head_gelu", "exact")])
def test_settings_default_to_the_published_ones(tmp_path: Path, key: str, value: str) -> None:
    save_router(Router(TINY_ROUTER), tmp_path / "router", torch.float32)
    path = tmp_path / "router" / "config.json"
    config = read_object(path)
    write_json(path, {name: config[name] for name in config.keys() - {"norm_eps", "head_gelu"}})
    assert load_router(path.parent).shape == TINY_ROUTER
    write_json(path, config | {key: value})
    with one_sentence(f"The {key} in router/config.json is n"):
        load_router(path.parent)


@pytest.mark.parametrize("name", ["pos_embed", "layers.1.mlp.0.weight.down"])
def test_reports_missing_weights_of_a_difference(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, rank=2) / DIFFERENCE_WEIGHTS
    weights = load_file(path)
    del weights[name]
    save_file(weights, path)
    with one_sentence(f"{NAME}/{DIFFERENCE_WEIGHTS} lacks weights of the model: {name}."):
        load_expert(path.parent)


def test_logs_unused_weights_of_experts_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folders = [written(tmp_path, rank=2)]
    save_difference(tiny_expert(4), tiny_expert(1), tmp_path / "expert_4", 2, torch.float32)
    folders.append(tmp_path / "expert_4")
    files = [f"base/{EXPERT_WEIGHTS}", f"{NAME}/{DIFFERENCE_WEIGHTS}"]
    for file in files:
        weights = load_file(tmp_path / file)
        save_file({**weights, "ema.step": torch.zeros(1)}, tmp_path / file)
    experts = load_experts(folders, torch.float32)
    assert caplog.messages == [
        f"{file} has weights that the model does not use: ema.step." for file in files
    ]
    for expert, folder in zip(experts, folders, strict=True):
        alone = load_expert(folder).state_dict()
        assert all(torch.equal(value, alone[name]) for name, value in expert.state_dict().items())


def test_does_not_broadcast_a_difference(tmp_path: Path) -> None:
    path = written(tmp_path, rank=2) / DIFFERENCE_WEIGHTS
    weights = load_file(path)
    weights["pos_embed"] = weights["pos_embed"][..., :1].contiguous()
    save_file(weights, path)
    with pytest.raises(PlainError, match="pos_embed has the wrong shape"):
        load_expert(path.parent)


def test_rejects_a_base_that_is_a_difference(tmp_path: Path) -> None:
    folder = written(tmp_path, rank=2)
    (tmp_path / "base" / "diffusion_pytorch_model.safetensors").unlink()
    (tmp_path / "base" / DIFFERENCE_WEIGHTS).write_bytes((folder / DIFFERENCE_WEIGHTS).read_bytes())
    with pytest.raises(PlainError, match=r"base/diffusion_pytorch_model\.safetensors of the model"):
        load_expert(folder)


def test_reports_a_damaged_difference_in_one_sentence(tmp_path: Path) -> None:
    path = written(tmp_path, rank=2) / DIFFERENCE_WEIGHTS
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(PlainError, match=r"expert_3/difference\.safetensors is damaged"):
        load_expert(path.parent)


def test_reports_a_missing_base_in_one_sentence(tmp_path: Path) -> None:
    folder = written(tmp_path, rank=2)
    (tmp_path / "base" / "diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(PlainError, match=r"base/diffusion_pytorch_model\.safetensors of the model"):
        load_expert(folder)


def in_shards(path: Path) -> Path:
    """Splits the weights of a file into two shards, and returns their index."""
    weights = load_file(path)
    names = sorted(weights)
    shard_of = {}
    for number, part in enumerate((names[::2], names[1::2]), start=1):
        shard = f"{path.stem}-{number:05}-of-00002.safetensors"
        save_file({name: weights[name] for name in part}, path.with_name(shard))
        shard_of |= dict.fromkeys(part, shard)
    path.unlink()
    list_path = path.with_name(f"{path.name}.index.json")
    write_json(list_path, {"metadata": {}, "weight_map": shard_of})
    return list_path


def test_loads_sharded_weights_like_a_single_file(tmp_path: Path) -> None:
    save_expert(tiny_expert(1), tmp_path / NAME, torch.float32)
    in_shards(tmp_path / NAME / EXPERT_WEIGHTS)
    read = load_expert(tmp_path / NAME).state_dict()
    for name, value in tiny_expert(1).state_dict().items():
        assert torch.equal(read[name], value)
    save_router(Router(TINY_ROUTER), tmp_path / "router", torch.float32)
    in_shards(tmp_path / "router" / ROUTER_WEIGHTS)
    assert load_router(tmp_path / "router").shape == TINY_ROUTER


def test_reports_faults_of_a_shard_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / NAME
    save_expert(tiny_expert(1), folder, torch.float32)
    list_path = in_shards(folder / EXPERT_WEIGHTS)
    second = folder / "diffusion_pytorch_model-00002-of-00002.safetensors"
    second.write_bytes(b"cut")
    with pytest.raises(PlainError, match=rf"{NAME}/{second.name} is damaged"):
        load_expert(folder)
    second.unlink()
    with pytest.raises(PlainError, match=rf"{NAME}/{second.name} of the model is missing"):
        load_expert(folder)
    write_json(list_path, {"weight_map": {"pos_embed": "../elsewhere.safetensors"}})
    with pytest.raises(PlainError, match="leads out of its folder"):
        load_expert(folder)
    write_json(list_path, {})
    with pytest.raises(PlainError, match=rf"{list_path.name} names no weights"):
        load_expert(folder)
