"""Dividing pictures into the clusters that Paris' experts are trained on.

Two stages, as Paris does it: many fine clusters by k-means, then k-means over their centres.

What is clustered matters, because the router sees the noisy latent but not the prompt. Mixing
experts by p(k | x_t) gives the flow for a prompt c only if p(k | x_t, c) = p(k | x_t): the
cluster must say nothing about the caption. So captions are regressed out of the embedding first:
pictures are grouped by what their captions leave open (shade, light, position, texture).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .text import SentenceText
from .training.bank import Bank

TEXTS_AT_ONCE = 64
RIDGE = 1e-2
KMEANS_ROUNDS = 50
POOLED_SIDE = 4


def appearance_embedding(latents: Tensor) -> Tensor:
    """Latents averaged over a coarse grid: colour and light by place, [n, features]."""
    pooled = torch.nn.functional.adaptive_avg_pool2d(latents.float(), POOLED_SIDE)
    return pooled.flatten(1)


def without_captions(embedding: Tensor, sentences: Tensor) -> Tensor:
    """What a linear (ridge) regression on the captions' sentence vectors leaves of the embedding,
    as unit vectors."""
    features = torch.cat([sentences, torch.ones(len(sentences), 1)], dim=1).double()
    wanted = embedding.double()
    penalty = RIDGE * torch.eye(features.shape[1], dtype=torch.float64)
    gram = features.T @ features + penalty
    solution = torch.linalg.solve(gram, features.T @ wanted)
    residual = (wanted - features @ solution).float()
    return torch.nn.functional.normalize(residual, dim=1)


def two_stage_clusters(points: Tensor, fine: int, coarse: int, seed: int) -> np.ndarray:
    """The coarse cluster of each point, 0..coarse-1, numbered from the largest to the smallest."""
    fine_of, centres = kmeans(points, fine, seed)
    counts = np.bincount(fine_of, minlength=fine)
    coarse_of, _ = kmeans(centres, coarse, seed, torch.from_numpy(counts).float())
    clusters = coarse_of[fine_of]
    order = np.argsort(-np.bincount(clusters, minlength=coarse), kind="stable")
    rank = np.empty(coarse, dtype=np.int64)
    rank[order] = np.arange(coarse)
    return rank[clusters]


def kmeans(
    points: Tensor, count: int, seed: int, weights: Tensor | None = None
) -> tuple[np.ndarray, Tensor]:
    """Lloyd's k-means from k-means++ seeds: each point's cluster, and the centres."""
    if count > len(points):
        raise ValueError(f"{count} clusters cannot be made of {len(points)} points.")
    generator = torch.Generator().manual_seed(seed)
    weights = torch.ones(len(points)) if weights is None else weights
    centres = _seeds(points, count, weights, generator)
    nearest = torch.full((len(points),), -1)
    for _ in range(KMEANS_ROUNDS):
        distances = torch.cdist(points, centres)
        moved = distances.argmin(dim=1)
        if torch.equal(moved, nearest):
            break
        nearest = moved
        totals = torch.zeros(count).index_add_(0, nearest, weights)
        sums = torch.zeros_like(centres).index_add_(0, nearest, points * weights[:, None])
        # A centre that lost all its points starts again at the point that is worst served.
        worst = distances.amin(dim=1).argmax()
        centres = torch.where(
            totals[:, None] > 0, sums / totals[:, None].clamp_min(1e-9), points[worst]
        )
    return nearest.numpy(), centres


def _seeds(points: Tensor, count: int, weights: Tensor, generator: torch.Generator) -> Tensor:
    chosen = [int(torch.multinomial(weights, 1, generator=generator))]
    distances = (points - points[chosen[0]]).square().sum(dim=1)
    for _ in range(count - 1):
        chances = distances * weights
        # All points may be equal to a chosen one already: then any point will do.
        chances = chances if float(chances.sum()) > 0 else weights
        chosen.append(int(torch.multinomial(chances, 1, generator=generator)))
        distances = torch.minimum(distances, (points - points[chosen[-1]]).square().sum(dim=1))
    return points[chosen].clone()


def mutual_information(clusters: np.ndarray, labels: np.ndarray) -> float:
    """How many bits the cluster tells of the label (or the label of the cluster)."""
    _, rows = np.unique(clusters, return_inverse=True)
    _, columns = np.unique(labels, return_inverse=True)
    joint = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(joint, (rows, columns), 1 / len(rows))
    independent = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / independent[seen])).sum())


@dataclass(frozen=True)
class Clustering:
    """The cluster of each row, and what is known of the clusters: their sizes, and the bits that a
    cluster tells about the caption against those that it could."""

    clusters: np.ndarray
    summary: dict[str, object]


def cluster_bank(
    bank: Bank, sentences: SentenceText, fine: int, coarse: int, seed: int
) -> Clustering:
    """Divides a bank into `coarse` clusters by what its captions leave open."""
    vectors = torch.cat(
        [
            sentences.sentences(bank.texts[start : start + TEXTS_AT_ONCE])
            for start in range(0, len(bank.texts), TEXTS_AT_ONCE)
        ]
    )
    rows = torch.from_numpy(bank.text_of)
    points = without_captions(appearance_embedding(bank.latents), vectors[rows])
    clusters = two_stage_clusters(points, fine, coarse, seed)
    # Captions are grouped by k-means too: hardly two of them are equal.
    topics, _ = kmeans(vectors, min(coarse, len(vectors)), seed)
    told = mutual_information(clusters, topics[bank.text_of])
    could = mutual_information(clusters, clusters)
    summary: dict[str, object] = {
        "sizes": np.bincount(clusters, minlength=coarse).tolist(),
        "bits_about_caption": round(told, 4),
        "bits_of_cluster": round(could, 4),
    }
    return Clustering(clusters, summary)
