"""Divides pictures into the clusters that Paris' experts are trained on.

Two stages, as in Paris: many fine clusters by k-means, then k-means over their centres.

The router sees the noisy latent but not the prompt. Mixing experts by p(k | x_t) gives the flow for
a prompt c only if p(k | x_t, c) = p(k | x_t), so clusters must be independent of the caption. The
captions' information is therefore removed from the embedding first, and pictures are grouped by
what captions do not describe (shade, light, position, texture).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.latent_cache import LatentCache

TEXTS_AT_ONCE = 64
RIDGE = 1e-2
# Share of all pictures; rarer words are only covered by the sentence vectors.
PHRASE_SHARE = 0.005
GROUPS_MAX = 64
PICTURES_A_GROUP = 256
# The regularisation of whitening, relative to a group's mean variance.
SHRINKAGE = 2.0
KMEANS_ROUNDS = 50
POOLED_SIDE = 4


def appearance_embedding(latents: Tensor) -> Tensor:
    """Returns latents averaged over a coarse grid, [n, features]: colour and light by place."""
    pooled = torch.nn.functional.adaptive_avg_pool2d(latents.float(), POOLED_SIDE)
    return pooled.flatten(1)


def frequent_phrases(texts: Sequence[str], uses: np.ndarray) -> tuple[list[str], Tensor]:
    """Returns frequent words and pairs of neighbouring words, and which text has which, as zeros
    and ones, [texts, phrases]. `uses` counts the pictures of each text."""
    held = []
    for text in texts:
        words = text.split()
        held.append({*words, *(" ".join(pair) for pair in pairwise(words))})
    counts: Counter[str] = Counter()
    for phrases, count in zip(held, uses.tolist(), strict=True):
        counts.update(dict.fromkeys(phrases, count))
    frequent = sorted(
        phrase for phrase, count in counts.items() if count >= PHRASE_SHARE * uses.sum()
    )
    holds = [[float(phrase in phrases) for phrase in frequent] for phrases in held]
    return frequent, torch.tensor(holds).reshape(len(texts), len(frequent))


def predicted_by_captions(embedding: Tensor, features: Tensor) -> Tensor:
    """Returns the part of the embedding that a ridge regression predicts from the captions'
    features."""
    inputs = torch.cat([features, torch.ones(len(features), 1)], dim=1).double()
    gram = inputs.T @ inputs + RIDGE * torch.eye(inputs.shape[1], dtype=torch.float64)
    return (inputs @ torch.linalg.solve(gram, inputs.T @ embedding.double())).float()


def without_captions(embedding: Tensor, predicted: Tensor, seed: int) -> Tensor:
    """Returns the part of the embedding that captions do not determine, as unit vectors;
    `predicted` is the part that a regression found.

    Captions shift the appearance, with interactions between their parts, and also affect its
    variance. So pictures are grouped by the predicted appearance, and each group is centred and
    whitened.
    """
    left = embedding - predicted
    groups = caption_groups(predicted, seed)
    for group in np.unique(groups):
        rows = torch.from_numpy(np.flatnonzero(groups == group))
        left[rows] = _whitened(left[rows])
    return torch.nn.functional.normalize(left, dim=1)


def caption_groups(predicted: Tensor, seed: int) -> np.ndarray:
    """Returns groups of pictures whose captions predict a similar appearance."""
    count = max(1, min(GROUPS_MAX, len(predicted) // PICTURES_A_GROUP))
    return kmeans(predicted, count, seed)[0]


def _whitened(points: Tensor) -> Tensor:
    centred = points - points.mean(dim=0)
    covariance = centred.T @ centred / len(centred)
    # A group of equal pictures has almost no variance.
    floor = SHRINKAGE * covariance.diagonal().mean().clamp_min(1e-6)
    values, directions = torch.linalg.eigh(covariance + floor * torch.eye(len(covariance)))
    return centred @ directions @ torch.diag(values.rsqrt()) @ directions.T


def two_stage_clusters(points: Tensor, fine: int, coarse: int, seed: int) -> np.ndarray:
    """Returns the coarse cluster of each point, 0..coarse-1, numbered from the largest to the
    smallest."""
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
    """Runs Lloyd's k-means from k-means++ seeds; returns each point's cluster, and the centres."""
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
        # A centre that lost all its points restarts at the point farthest from its centre.
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
        # If all points equal a chosen one, any point will do.
        chances = chances if float(chances.sum()) > 0 else weights
        chosen.append(int(torch.multinomial(chances, 1, generator=generator)))
        distances = torch.minimum(distances, (points - points[chosen[-1]]).square().sum(dim=1))
    return points[chosen].clone()


def mutual_information(clusters: np.ndarray, labels: np.ndarray) -> float:
    """Returns the mutual information of cluster and label, in bits."""
    _, rows = np.unique(clusters, return_inverse=True)
    _, columns = np.unique(labels, return_inverse=True)
    joint = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(joint, (rows, columns), 1 / len(rows))
    independent = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / independent[seen])).sum())


def most_distinctive(
    clusters: np.ndarray, phrases: Sequence[str], holds: np.ndarray
) -> dict[str, object]:
    """Returns the phrase that is most over-represented in one cluster: `share` of its pictures are
    in the cluster, but only `of_all` of all pictures. `holds` marks which row has which phrase."""
    if len(phrases) == 0:
        return {"phrase": None, "share": 0.0, "of_all": 0.0}
    of_all = np.bincount(clusters) / len(clusters)
    member = np.eye(len(of_all))[clusters]
    shares = (holds.T @ member) / np.maximum(holds.sum(axis=0), 1)[:, None]
    phrase, cluster = np.unravel_index((shares - of_all).argmax(), shares.shape)
    return {
        "phrase": phrases[phrase],
        "share": round(float(shares[phrase, cluster]), 3),
        "of_all": round(float(of_all[cluster]), 3),
    }


@dataclass(frozen=True)
class Clustering:
    """The cluster of each row, and a summary: the sizes, the mutual information of cluster and
    caption next to the cluster's entropy, and the phrase that is most concentrated in one cluster,
    with its share and the share of all pictures."""

    clusters: np.ndarray
    summary: dict[str, object]


def cluster_latents(
    cache: LatentCache, sentences: SentenceText, fine: int, coarse: int, seed: int
) -> Clustering:
    """Divides the examples of a cache into `coarse` clusters, independent of its captions."""
    vectors = torch.cat(
        [
            sentences.sentences(cache.texts[start : start + TEXTS_AT_ONCE])
            for start in range(0, len(cache.texts), TEXTS_AT_ONCE)
        ]
    ).cpu()
    rows = cache.text_of
    uses = np.bincount(rows.numpy(), minlength=len(cache.texts))
    phrases, holds = frequent_phrases(cache.texts, uses)
    features = torch.cat([vectors, holds], dim=1)[rows]
    embedding = appearance_embedding(cache.latents)
    predicted = predicted_by_captions(embedding, features)
    clusters = two_stage_clusters(without_captions(embedding, predicted, seed), fine, coarse, seed)
    # Uses other groups than the whitening, which made its own groups equal.
    groups = caption_groups(predicted, seed + 1)
    caption_bits = mutual_information(clusters, groups)
    by_chance = mutual_information(np.random.default_rng(seed).permutation(clusters), groups)
    cluster_bits = mutual_information(clusters, clusters)
    summary: dict[str, object] = {
        "sizes": np.bincount(clusters, minlength=coarse).tolist(),
        "bits_about_caption": round(max(0.0, caption_bits - by_chance), 4),
        "bits_of_cluster": round(cluster_bits, 4),
        "most_telling": most_distinctive(clusters, phrases, holds[rows].numpy()),
    }
    return Clustering(clusters, summary)
