"""Tests the mathematics of decentralised flows against closed forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)
from torch import Tensor

from bakehouse_runtime.image.flow import guided, time_steps
from bakehouse_runtime.image.paris.pipeline import (
    PUBLISHED_DEFAULTS,
    ParisPipeline,
    ParisRequest,
)
from bakehouse_runtime.image.paris.sampling import (
    ExpertVelocity,
    RoutedSampling,
    RouterProbabilities,
    Strategy,
    expert_weights,
    mixed_velocity,
    routed_velocity,
)
from bakehouse_runtime.image.sampling import advance_batch

from .conftest import one_sentence
from .tiny import difference, write_tiny_paris


class GaussianMixture:
    """A mixture of isotropic Gaussians, whose flow is known exactly.

    x_t = (1 - t) x_0 + t e. Component i of mean m and deviation s gives x_t ~ N((1-t) m, v) with v
    = (1-t)^2 s^2 + t^2, and E[e - x_0 | x_t, i] is linear in x_t.
    """

    def __init__(self, means: Tensor, deviation: float, shares: Tensor) -> None:
        self.means, self.deviation, self.shares = means, deviation, shares

    def log_densities(self, x: Tensor, t: Tensor) -> Tensor:
        """Returns the log of share times density at x_t for each component, up to a constant."""
        variance = (1 - t) ** 2 * self.deviation**2 + t**2
        distance = (x[:, None] - (1 - t)[:, None, None] * self.means).square().sum(-1)
        dimensions = x.shape[-1]
        return (
            self.shares.log()
            - distance / (2 * variance[:, None])
            - dimensions / 2 * variance[:, None].log()
        )

    def velocity(self, x: Tensor, t: Tensor) -> Tensor:
        """Returns E[e - x_0 | x_t] in closed form."""
        responsibilities = self.log_densities(x, t).softmax(dim=1)
        variance = (1 - t) ** 2 * self.deviation**2 + t**2
        offset = x[:, None] - (1 - t)[:, None, None] * self.means
        gain = (t - (1 - t) * self.deviation**2) / variance
        each = gain[:, None, None] * offset - self.means
        return (responsibilities[..., None] * each).sum(1)


def sampled(
    noise: Tensor,
    steps: int,
    router: RouterProbabilities,
    experts: list[ExpertVelocity],
    strategy: Strategy,
    k: int,
) -> list[RoutedSampling]:
    samplings = [RoutedSampling(row, steps, strategy, k) for row in noise]
    while not samplings[0].is_done:
        routed_step(samplings, router, experts)
    return samplings


def routed_step(
    samplings: list[RoutedSampling], router: RouterProbabilities, experts: list[ExpertVelocity]
) -> None:
    advance_batch(samplings, lambda x, t: routed_velocity(samplings, x, t, router, experts))


def divided_mixture() -> tuple[GaussianMixture, list[GaussianMixture]]:
    """Returns 24 components in 8 clusters of 3, and each cluster as a mixture of its own."""
    generator = torch.Generator().manual_seed(5)
    means = 2 * torch.randn(24, 6, generator=generator, dtype=torch.float64)
    shares = torch.rand(24, generator=generator, dtype=torch.float64)
    shares = shares / shares.sum()
    whole = GaussianMixture(means, 0.4, shares)
    parts = [
        GaussianMixture(m, 0.4, s / s.sum())
        for m, s in zip(means.split(3), shares.split(3), strict=True)
    ]
    return whole, parts


def analytic_router(whole: GaussianMixture, x: Tensor, t: Tensor) -> Tensor:
    """Returns p_t(k | x), by Bayes over the components of each cluster."""
    return whole.log_densities(x, t).softmax(dim=1).unflatten(1, (8, 3)).sum(-1)


@pytest.mark.parametrize("t", [0.999, 0.7, 0.4, 0.1])
def test_full_ensemble_is_the_global_flow(t: float) -> None:
    whole, parts = divided_mixture()
    x = torch.randn(50, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    times = torch.full((50,), t, dtype=torch.float64)
    weights = expert_weights(analytic_router(whole, x, times), "full", 8)
    mixed = mixed_velocity(
        x, times, weights, [lambda x, t, _, p=p: p.velocity(x, t) for p in parts]
    )
    assert float((mixed - whole.velocity(x, times)).abs().max()) < 1e-5


def test_sampling_the_ensemble_follows_the_global_flow() -> None:
    whole, parts = divided_mixture()
    noise = torch.randn(20, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    together = sampled(
        noise,
        40,
        lambda x, t: analytic_router(whole, x, t.double()),
        [lambda x, t, _, p=p: p.velocity(x, t.double()) for p in parts],
        "full",
        8,
    )
    alone = sampled(
        noise,
        40,
        lambda x, t: torch.ones(len(x), 1, dtype=torch.float64),
        [lambda x, t, _: whole.velocity(x, t.double())],
        "top1",
        1,
    )
    ends = torch.stack([sampling.latents for sampling in alone])
    mixed = torch.stack([sampling.latents for sampling in together])
    assert float((mixed - ends).abs().max()) < 1e-5
    nearest = torch.cdist(ends, whole.means).amin(1)
    assert float(nearest.mean()) < 3 * 0.4 * 6**0.5, "the flow ends where the data is"


def test_strategies_weigh_experts() -> None:
    probabilities = torch.tensor([[0.1, 0.4, 0.3, 0.2], [0.7, 0.1, 0.1, 0.1]])
    top1 = expert_weights(probabilities, "top1", 3)
    assert top1.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]
    top2 = expert_weights(probabilities, "topk", 2)
    torch.testing.assert_close(top2[0], torch.tensor([0, 4 / 7, 3 / 7, 0]))
    assert int((top2[1] > 0).sum()) == 2
    torch.testing.assert_close(top2.sum(1), torch.ones(2))
    assert expert_weights(probabilities, "full", 1) is probabilities
    torch.testing.assert_close(expert_weights(probabilities, "topk", 9), probabilities)
    assert torch.equal(expert_weights(probabilities, "topk", 1), top1)


def test_does_not_call_an_expert_without_weight() -> None:
    calls: list[list[int]] = []

    def expert(x: Tensor, t: Tensor, rows: Tensor) -> Tensor:
        calls.append(rows.tolist())
        return torch.ones_like(x)

    weights = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    velocity = mixed_velocity(torch.zeros(2, 3), torch.ones(2), weights, [expert] * 3)
    assert calls == [[0, 1], [1]]
    torch.testing.assert_close(velocity, torch.ones(2, 3))


def test_guidance_1_is_the_conditional_model() -> None:
    conditional, unconditional = torch.randn(2, 4, 8)
    torch.testing.assert_close(guided(conditional, unconditional, 1.0), conditional)
    torch.testing.assert_close(guided(conditional, unconditional, 0.0), unconditional)
    torch.testing.assert_close(
        guided(conditional, unconditional, 4.0), 4 * conditional - 3 * unconditional
    )


@pytest.mark.parametrize("steps", [1, 5, 20])
def test_uses_the_times_of_the_flow_match_scheduler(steps: int) -> None:
    scheduler = FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000, shift=1.0)
    scheduler.set_timesteps(steps)
    torch.testing.assert_close(torch.tensor(time_steps(steps)), scheduler.sigmas)
    assert time_steps(5) == pytest.approx([1.0, 0.75025, 0.5005, 0.25075, 0.001, 0.0])


def test_a_sampling_records_its_routing() -> None:
    confidences = iter((0.75, 0.6, 0.3))
    sampling = RoutedSampling(torch.zeros(2), 10, "top1", 1)
    for _ in range(3):
        of_second = next(confidences)
        routed_step(
            [sampling],
            lambda x, t, share=of_second: torch.tensor([[1 - share, share]]),
            [lambda x, t, _: torch.ones_like(x), lambda x, t, _: 2 * torch.ones_like(x)],
        )
    assert sampling.steps_done == 3
    assert not sampling.is_done
    assert sampling.expert_weights == [1, 0]
    assert sampling.expert_used == 1
    assert sampling.routing_confidence == pytest.approx((0.75 + 0.6 + 0.7) / 3)
    times = time_steps(10)
    moved = 2 * (times[2] - times[0]) + (times[3] - times[2])
    torch.testing.assert_close(sampling.latents, torch.full((2,), moved))
    # From the start of the third step straight to the end.
    torch.testing.assert_close(
        sampling.predicted, torch.full((2,), 2 * (times[2] - times[0]) - times[2])
    )


def test_uses_the_defaults_of_the_models_folder(tmp_path: Path) -> None:
    folder, cpu = write_tiny_paris(tmp_path / "paris"), torch.device("cpu")

    def loaded(**named: Any) -> ParisPipeline:
        index = {"text_window": 32, **named}
        (folder / "model_index.json").write_text(json.dumps(index))
        return ParisPipeline.from_folder(folder, cpu)

    def pixels(paris: ParisPipeline, request: ParisRequest) -> np.ndarray:
        return np.asarray(paris.generate([request])[0].media)

    assert loaded().defaults == PUBLISHED_DEFAULTS
    paris = loaded(default_steps=3, default_guidance=6)
    unsaid = pixels(paris, ParisRequest("a red apple", 1))
    assert (unsaid == pixels(paris, ParisRequest("a red apple", 1, 3, 6.0))).all()
    assert (unsaid != pixels(paris, ParisRequest("a red apple", 1, guidance=1.0))).any()
    with one_sentence("The default_steps in paris/model_index.json is not a number from 1 on."):
        loaded(default_steps=0)
    with one_sentence("The default_guidance in paris/model_index.json is no number."):
        loaded(default_guidance="much")


def test_reloads_an_offloaded_text_encoder_for_the_next_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paris = ParisPipeline.from_folder(write_tiny_paris(tmp_path / "paris"), torch.device("cpu"))
    request = ParisRequest("a red apple", 1, steps=2)
    before = paris.generate([request])[0].media
    places: list[torch.device] = []
    to = paris.family.text_encoder.to
    monkeypatch.setattr(
        paris.family.text_encoder, "to", lambda device: places.append(device) or to(device)
    )
    monkeypatch.setattr(paris, "device", torch.device("cpu", 0))
    paris.offload()
    assert difference(paris.generate([request])[0].media, before) <= 1
    assert places == [torch.device("cpu"), torch.device("cpu", 0)]
