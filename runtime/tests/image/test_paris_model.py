"""Tests that the published Paris fits the model: its sizes and names, on the meta device."""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn

from bakehouse_runtime.image.paris.model import (
    Attention,
    Expert,
    ExpertShape,
    Router,
    RouterShape,
    time_features,
)
from bakehouse_runtime.image.paris.weights import expert_shape, router_shape

from .tiny import TINY_EXPERT, TINY_ROUTER, tiny_expert


def sizes(model: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(weight.shape) for name, weight in model.state_dict().items()}


def test_expert_has_the_published_weights() -> None:
    with torch.device("meta"):
        expert = Expert(ExpertShape())
    assert sum(weight.numel() for weight in expert.parameters()) == 605_970_448
    found = sizes(expert)
    expected = {
        "patch_embed.weight": (1152, 4, 2, 2),
        "patch_embed.bias": (1152,),
        "pos_embed": (1, 256, 1152),
        "time_embed.mlp.0.weight": (1152, 256),
        "time_embed.mlp.0.bias": (1152,),
        "time_embed.mlp.2.weight": (1152, 1152),
        "time_embed.mlp.2.bias": (1152,),
        "text_proj.weight": (1152, 768),
        "text_proj.bias": (1152,),
        "t_block.1.weight": (6912, 1152),
        "t_block.1.bias": (6912,),
        "final_layer.scale_shift_table": (2, 1152),
        "final_layer.linear.weight": (16, 1152),
        "final_layer.linear.bias": (16,),
    }
    for layer in range(28):
        expected[f"layers.{layer}.scale_shift_table"] = (6, 1152)
        for attention in ("attn", "cross_attn"):
            prefix = f"layers.{layer}.{attention}"
            expected[f"{prefix}.in_proj_weight"] = (3456, 1152)
            expected[f"{prefix}.in_proj_bias"] = (3456,)
            expected[f"{prefix}.out_proj.weight"] = (1152, 1152)
            expected[f"{prefix}.out_proj.bias"] = (1152,)
        expected[f"layers.{layer}.mlp.0.weight"] = (4608, 1152)
        expected[f"layers.{layer}.mlp.0.bias"] = (4608,)
        expected[f"layers.{layer}.mlp.2.weight"] = (1152, 4608)
        expected[f"layers.{layer}.mlp.2.bias"] = (1152,)
    assert found == expected
    assert expert_shape(found, heads=16) == ExpertShape()


def test_router_has_the_published_weights() -> None:
    with torch.device("meta"):
        router = Router(RouterShape())
    assert sum(weight.numel() for weight in router.parameters()) == 129_136_904
    found = sizes(router)
    expected = {
        "patch_embed.weight": (768, 4, 2, 2),
        "patch_embed.bias": (768,),
        "pos_embed": (1, 256, 768),
        "cls_token": (1, 1, 768),
        "time_embed.mlp.0.weight": (768, 256),
        "time_embed.mlp.0.bias": (768,),
        "time_embed.mlp.2.weight": (768, 768),
        "time_embed.mlp.2.bias": (768,),
        "head.0.weight": (768, 768),
        "head.0.bias": (768,),
        "head.2.weight": (768,),
        "head.2.bias": (768,),
        "head.4.weight": (8, 768),
        "head.4.bias": (8,),
    }
    for layer in range(12):
        expected[f"layers.{layer}.adaLN_modulation.1.weight"] = (4608, 768)
        expected[f"layers.{layer}.adaLN_modulation.1.bias"] = (4608,)
        expected[f"layers.{layer}.attn.in_proj_weight"] = (2304, 768)
        expected[f"layers.{layer}.attn.in_proj_bias"] = (2304,)
        expected[f"layers.{layer}.attn.out_proj.weight"] = (768, 768)
        expected[f"layers.{layer}.attn.out_proj.bias"] = (768,)
        expected[f"layers.{layer}.mlp.0.weight"] = (3072, 768)
        expected[f"layers.{layer}.mlp.0.bias"] = (3072,)
        expected[f"layers.{layer}.mlp.2.weight"] = (768, 3072)
        expected[f"layers.{layer}.mlp.2.bias"] = (768,)
    assert found == expected
    assert router_shape(found, heads=12) == RouterShape()


def test_attention_agrees_with_multihead_attention() -> None:
    torch.manual_seed(0)
    ours = Attention(16, 4)
    nn.init.normal_(ours.in_proj_bias)
    reference = nn.MultiheadAttention(16, 4, batch_first=True)
    reference.load_state_dict(ours.state_dict())
    queries, context = torch.randn(3, 5, 16), torch.randn(3, 7, 16)
    expected, _ = reference(queries, context, context)
    torch.testing.assert_close(ours(queries, context), expected)


def test_time_features_are_cosines_then_sines() -> None:
    features = time_features(torch.tensor([0.0, 500.0]))
    torch.testing.assert_close(features[0], torch.cat([torch.ones(128), torch.zeros(128)]))
    torch.testing.assert_close(features[1, 0], torch.tensor(500.0).cos())
    torch.testing.assert_close(features[1, 128], torch.tensor(500.0).sin())
    torch.testing.assert_close(features[1, 64], torch.tensor(500 / 10000**0.5).cos())


def test_expert_follows_the_published_equations() -> None:
    """Recomputes one layer in the simplest way."""
    shape = ExpertShape(
        latent_channels=2, latent_side=4, hidden_size=8, layers=1, heads=2, text_size=6
    )
    # The port's layer norms set no epsilon, so PyTorch's default applies.
    assert shape.norm_eps == nn.LayerNorm(8).eps
    expert = tiny_expert(3, shape)
    latent, time, text = torch.randn(1, 2, 4, 4), torch.tensor([400.0]), torch.randn(1, 5, 6)
    weights = expert.state_dict()

    def norm(x: torch.Tensor) -> torch.Tensor:
        return (x - x.mean(-1, keepdim=True)) / (
            x.var(-1, unbiased=False, keepdim=True) + 1e-5
        ).sqrt()

    def attend(name: str, queries: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        module = nn.MultiheadAttention(8, 2, batch_first=True)
        prefix = f"layers.0.{name}."
        module.load_state_dict(
            {key.removeprefix(prefix): w for key, w in weights.items() if key.startswith(prefix)}
        )
        return module(queries, context, context)[0]

    patches = F.unfold(latent, 2, stride=2).transpose(1, 2)
    x = patches @ weights["patch_embed.weight"].flatten(1).T + weights["patch_embed.bias"]
    x = x + weights["pos_embed"]
    hidden = F.silu(expert.time_embed.mlp[0](time_features(time)))
    embedded = expert.time_embed.mlp[2](hidden)
    table = weights["layers.0.scale_shift_table"] + expert.t_block[1](F.silu(embedded)).view(6, 8)
    context = expert.text_proj(text)
    normed = norm(x) * (1 + table[1]) + table[0]
    x = x + table[2] * attend("attn", normed, normed)
    x = x + attend("cross_attn", x, context)
    mlp = expert.get_submodule("layers.0.mlp")
    x = x + table[5] * mlp(norm(x) * (1 + table[4]) + table[3])
    final = weights["final_layer.scale_shift_table"] + embedded
    x = expert.final_layer.linear(norm(x) * (1 + final[1]) + final[0])
    expected = torch.zeros(1, 2, 4, 4)
    for row in range(2):
        for column in range(2):
            block = x[0, row * 2 + column].view(2, 2, 2)
            expected[0, :, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = block.permute(
                2, 0, 1
            )
    torch.testing.assert_close(expert(latent, time, text), expected, atol=1e-5, rtol=1e-4)


def test_settings_without_weights_default_to_the_port() -> None:
    """The signal is so small that the epsilon matters."""
    expert, router = tiny_expert(3), Router(TINY_ROUTER)
    other = Expert(replace(TINY_EXPERT, norm_eps=1e-6))
    other.load_state_dict(expert.state_dict())
    faint = torch.randn(1, 4, 4, 4) * 1e-3
    for model in (expert, other):
        assert model.patch_embed.bias is not None
        nn.init.zeros_(model.patch_embed.bias)
        nn.init.zeros_(model.pos_embed)
    time, text = torch.tensor([400.0]), torch.zeros(1, 3, 384)
    assert not torch.allclose(expert(faint, time, text), other(faint, time, text), rtol=1e-3)
    assert [m.approximate for m in router.head if isinstance(m, nn.GELU)] == ["tanh", "tanh"]
    plain = Router(replace(TINY_ROUTER, head_gelu="none"))
    assert [m.approximate for m in plain.head if isinstance(m, nn.GELU)] == ["tanh", "none"]


def test_untrained_expert_predicts_zero_and_router_is_uniform() -> None:
    expert = Expert(TINY_EXPERT)
    expert.initialise(1)
    velocity = expert(torch.randn(2, 4, 4, 4), torch.tensor([1.0, 900.0]), torch.randn(2, 3, 384))
    assert torch.equal(velocity, torch.zeros_like(velocity))
    router = Router(
        RouterShape(latent_channels=4, latent_side=4, hidden_size=16, layers=1, heads=2)
    )
    router.initialise(1)
    logits = router(torch.randn(2, 4, 4, 4), torch.tensor([1.0, 900.0]))
    torch.testing.assert_close(logits.softmax(-1), torch.full((2, 8), 1 / 8))
