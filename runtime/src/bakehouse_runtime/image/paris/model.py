"""Paris: the transformer of each expert, and the router that weighs the experts.

Parameter names match the published weights, so that a state dict loads without a mapping. Source:
arXiv 2510.03434 and its public port `modeling_paris.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

TIME_FEATURES = 256
TIME_MAX_PERIOD = 10000.0


@dataclass(frozen=True)
class ExpertShape:
    """The shape of one expert; the defaults are the published Paris. `norm_eps` applies to the
    modulated layer norms; the port does not set it, so PyTorch's default applies."""

    latent_channels: int = 4
    latent_side: int = 32
    patch_size: int = 2
    hidden_size: int = 1152
    layers: int = 28
    heads: int = 16
    mlp_ratio: int = 4
    text_size: int = 768
    norm_eps: float = 1e-5


@dataclass(frozen=True)
class RouterShape:
    """The shape of the router; the defaults are the published Paris. `norm_eps` applies to the
    modulated layer norms, and `head_gelu` is the approximation of the head's second GELU, `tanh` in
    the port as for the first."""

    latent_channels: int = 4
    latent_side: int = 32
    patch_size: int = 2
    hidden_size: int = 768
    layers: int = 12
    heads: int = 12
    mlp_ratio: int = 4
    experts: int = 8
    norm_eps: float = 1e-5
    head_gelu: Literal["tanh", "none"] = "tanh"


def time_features(time: Tensor) -> Tensor:
    """Returns sinusoids of `time` (0..1000, one per sample): cosines, then sines."""
    half = TIME_FEATURES // 2
    exponents = torch.arange(half, dtype=torch.float32, device=time.device) / half
    angles = time.float()[:, None] * torch.exp(-math.log(TIME_MAX_PERIOD) * exponents)
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


class TimeEmbedding(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(TIME_FEATURES, hidden_size), nn.SiLU(), nn.Linear(hidden_size, hidden_size)
        )

    def forward(self, time: Tensor) -> Tensor:
        return self.mlp(time_features(time).to(next(self.parameters()).dtype))


class Attention(nn.MultiheadAttention):
    """The parameters of `nn.MultiheadAttention`, computed by the fused kernel."""

    def __init__(self, hidden_size: int, heads: int) -> None:
        super().__init__(hidden_size, heads, batch_first=True)

    def forward(self, queries: Tensor, context: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        weights = self.in_proj_weight.chunk(3)
        biases = self.in_proj_bias.chunk(3)
        inputs = (queries, context, context)
        query, key, value = (
            F.linear(x, w, b).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)
            for x, w, b in zip(inputs, weights, biases, strict=True)
        )
        attended = F.scaled_dot_product_attention(query, key, value)
        return self.out_proj(attended.transpose(1, 2).flatten(2))


def _mlp(hidden_size: int, ratio: int) -> nn.Sequential:
    wide = hidden_size * ratio
    return nn.Sequential(
        nn.Linear(hidden_size, wide), nn.GELU(approximate="tanh"), nn.Linear(wide, hidden_size)
    )


def _modulation(hidden_size: int) -> nn.Sequential:
    """Maps the time embedding to shift, scale and gate of attention and MLP."""
    return nn.Sequential(nn.SiLU(), nn.Linear(hidden_size, 6 * hidden_size))


def _modulated(x: Tensor, shift: Tensor, scale: Tensor, eps: float) -> Tensor:
    normed = F.layer_norm(x, x.shape[-1:], eps=eps)
    return normed * (1 + scale) + shift


class ExpertLayer(nn.Module):
    """Self-attention, text cross-attention and MLP. The modulation is the shared time signal plus a
    learnt table per layer (AdaLN-single)."""

    def __init__(self, shape: ExpertShape) -> None:
        super().__init__()
        self.norm_eps = shape.norm_eps
        self.scale_shift_table = nn.Parameter(torch.zeros(6, shape.hidden_size))
        self.attn = Attention(shape.hidden_size, shape.heads)
        self.cross_attn = Attention(shape.hidden_size, shape.heads)
        self.mlp = _mlp(shape.hidden_size, shape.mlp_ratio)

    def forward(self, x: Tensor, text: Tensor, time_signal: Tensor) -> Tensor:
        table = self.scale_shift_table + time_signal
        shift_attn, scale_attn, gate_attn, shift_mlp, scale_mlp, gate_mlp = table.chunk(6, dim=1)
        normed = _modulated(x, shift_attn, scale_attn, self.norm_eps)
        x = x + gate_attn * self.attn(normed, normed)
        x = x + self.cross_attn(x, text)
        return x + gate_mlp * self.mlp(_modulated(x, shift_mlp, scale_mlp, self.norm_eps))

    def initialise(self) -> None:
        # The cross-attention has no gate, so its contribution starts at zero.
        nn.init.zeros_(self.cross_attn.out_proj.weight)
        # Rows 2 and 5 are the gates, which start at one so that all layers act from the first step.
        nn.init.normal_(self.scale_shift_table, std=0.02)
        self.scale_shift_table.data[[2, 5]] += 1.0


class FinalLayer(nn.Module):
    def __init__(self, shape: ExpertShape) -> None:
        super().__init__()
        self.norm_eps = shape.norm_eps
        self.scale_shift_table = nn.Parameter(torch.zeros(2, shape.hidden_size))
        self.linear = nn.Linear(shape.hidden_size, shape.patch_size**2 * shape.latent_channels)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        shift, scale = (self.scale_shift_table + time[:, None]).chunk(2, dim=1)
        return self.linear(_modulated(x, shift, scale, self.norm_eps))


class Expert(nn.Module):
    """Predicts the velocity `noise - data` at a noisy latent, given text."""

    def __init__(self, shape: ExpertShape) -> None:
        super().__init__()
        self.shape = shape
        size, patch = shape.hidden_size, shape.patch_size
        self.patch_embed = nn.Conv2d(shape.latent_channels, size, patch, stride=patch)
        self.pos_embed = nn.Parameter(torch.zeros(1, (shape.latent_side // patch) ** 2, size))
        self.time_embed = TimeEmbedding(size)
        self.text_proj = nn.Linear(shape.text_size, size)
        self.t_block = _modulation(size)
        self.layers = nn.ModuleList(ExpertLayer(shape) for _ in range(shape.layers))
        self.final_layer = FinalLayer(shape)

    def forward(self, latent: Tensor, time: Tensor, text: Tensor) -> Tensor:
        """`latent` [n, channels, side, side], `time` [n] in 0..1000, `text` [n, tokens, size]."""
        x = self.patch_embed(latent).flatten(2).transpose(1, 2) + self.pos_embed
        embedded_time = self.time_embed(time)
        time_signal = self.t_block(embedded_time).unflatten(1, (6, -1))
        context = self.text_proj(text)
        for layer in self.layers:
            x = layer(x, context, time_signal)
        return self._unpatched(self.final_layer(x, embedded_time))

    def _unpatched(self, x: Tensor) -> Tensor:
        patch, channels = self.shape.patch_size, self.shape.latent_channels
        rows = self.shape.latent_side // patch
        x = x.reshape(-1, rows, rows, patch, patch, channels)
        side = self.shape.latent_side
        return x.permute(0, 5, 1, 3, 2, 4).reshape(-1, channels, side, side)

    def initialise(self, seed: int) -> None:
        """Sets the weights for training from scratch: the output starts at zero."""
        torch.manual_seed(seed)
        _initialise(self, self.pos_embed, rows=self.shape.latent_side // self.shape.patch_size)
        for weight in self.t_block.parameters():
            nn.init.normal_(weight, std=0.02)
        for layer in self.layers:
            assert isinstance(layer, ExpertLayer)
            layer.initialise()
        nn.init.zeros_(self.final_layer.linear.weight)


class RouterLayer(nn.Module):
    """Self-attention and MLP with a modulation per layer (AdaLN-zero)."""

    def __init__(self, shape: RouterShape) -> None:
        super().__init__()
        self.norm_eps = shape.norm_eps
        size = shape.hidden_size
        self.adaLN_modulation = _modulation(size)
        self.attn = Attention(size, shape.heads)
        self.mlp = _mlp(size, shape.mlp_ratio)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        modulation = self.adaLN_modulation(time)[:, None].chunk(6, dim=-1)
        shift_attn, scale_attn, gate_attn, shift_mlp, scale_mlp, gate_mlp = modulation
        normed = _modulated(x, shift_attn, scale_attn, self.norm_eps)
        x = x + gate_attn * self.attn(normed, normed)
        return x + gate_mlp * self.mlp(_modulated(x, shift_mlp, scale_mlp, self.norm_eps))


class Router(nn.Module):
    """Predicts the cluster, and so the expert, of a noisy latent from the latent and the time
    alone."""

    def __init__(self, shape: RouterShape) -> None:
        super().__init__()
        self.shape = shape
        size, patch = shape.hidden_size, shape.patch_size
        self.patch_embed = nn.Conv2d(shape.latent_channels, size, patch, stride=patch)
        self.pos_embed = nn.Parameter(torch.zeros(1, (shape.latent_side // patch) ** 2, size))
        self.cls_token = nn.Parameter(torch.zeros(1, 1, size))
        self.time_embed = TimeEmbedding(size)
        self.layers = nn.ModuleList(RouterLayer(shape) for _ in range(shape.layers))
        self.head = nn.Sequential(
            nn.Linear(size, size),
            nn.GELU(approximate="tanh"),
            nn.LayerNorm(size),
            nn.GELU(approximate=shape.head_gelu),
            nn.Linear(size, shape.experts),
        )

    def forward(self, latent: Tensor, time: Tensor) -> Tensor:
        """Returns one logit per expert, [n, experts]."""
        x = self.patch_embed(latent).flatten(2).transpose(1, 2) + self.pos_embed
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)
        embedded_time = self.time_embed(time)
        for layer in self.layers:
            x = layer(x, embedded_time)
        return self.head(x[:, 0])

    def initialise(self, seed: int) -> None:
        """Sets the weights for training from scratch: every layer starts as the identity."""
        torch.manual_seed(seed)
        _initialise(self, self.pos_embed, rows=self.shape.latent_side // self.shape.patch_size)
        nn.init.normal_(self.cls_token, std=0.02)
        for layer in self.layers:
            assert isinstance(layer, RouterLayer)
            for weight in layer.adaLN_modulation.parameters():
                nn.init.zeros_(weight)
        *_, last = self.head
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)


def _initialise(model: nn.Module, positions: nn.Parameter, rows: int) -> None:
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Conv2d):
            nn.init.xavier_uniform_(module.weight.view(len(module.weight), -1))
            nn.init.zeros_(module.bias) if module.bias is not None else None
        elif isinstance(module, Attention):
            for part in module.in_proj_weight.chunk(3):
                nn.init.xavier_uniform_(part)
            nn.init.zeros_(module.in_proj_bias)
    positions.data.copy_(_grid_positions(positions.shape[-1], rows))


def _grid_positions(size: int, rows: int) -> Tensor:
    """Returns sinusoids of the row in the first half of the features, of the column in the
    second."""
    quarter = size // 4
    frequencies = TIME_MAX_PERIOD ** (-torch.arange(quarter) / quarter)
    angles = torch.arange(rows)[:, None] * frequencies
    line = torch.cat([angles.sin(), angles.cos()], dim=-1)
    table = torch.zeros(rows, rows, size)
    table[..., : 2 * quarter] = line[:, None]
    table[..., 2 * quarter : 4 * quarter] = line[None]
    return table.reshape(1, rows * rows, size)
