"""Clustering by what captions leave open."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bakehouse_runtime.image.clusters import (
    kmeans,
    mutual_information,
    two_stage_clusters,
    without_captions,
)


def blobs(count: int, each: int, seed: int) -> tuple[torch.Tensor, np.ndarray]:
    generator = torch.Generator().manual_seed(seed)
    centres = 10 * torch.randn(count, 5, generator=generator)
    labels = np.repeat(np.arange(count), each)
    return centres[labels] + 0.1 * torch.randn(count * each, 5, generator=generator), labels


def test_kmeans_finds_separate_blobs() -> None:
    points, labels = blobs(6, 30, seed=1)
    found, centres = kmeans(points, 6, seed=3)
    assert mutual_information(found, labels) == pytest.approx(np.log2(6))
    assert centres.shape == (6, 5)


def test_kmeans_repeats_itself_and_survives_equal_points() -> None:
    points = torch.ones(10, 3)
    first, _ = kmeans(points, 3, seed=1)
    again, _ = kmeans(points, 3, seed=1)
    assert (first == again).all()
    with pytest.raises(ValueError, match="11 clusters cannot be made of 10 points"):
        kmeans(points, 11, seed=1)


def test_two_stages_number_the_clusters_by_size() -> None:
    points, labels = blobs(4, 50, seed=2)
    uneven = np.concatenate([np.arange(50), np.arange(50, 80), np.arange(100, 200)])
    clusters = two_stage_clusters(points[uneven], fine=12, coarse=4, seed=0)
    sizes = np.bincount(clusters)
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)
    assert mutual_information(clusters, labels[uneven]) == pytest.approx(
        mutual_information(labels[uneven], labels[uneven])
    )


def test_clusters_say_nothing_about_the_caption() -> None:
    """The embedding mixes what the caption says with what it leaves open; only the latter stays."""
    generator = torch.Generator().manual_seed(4)
    said = torch.randint(0, 4, (800,), generator=generator)
    open_ = torch.randint(0, 4, (800,), generator=generator)
    sentences = torch.nn.functional.one_hot(said, 4).float()
    directions = torch.randn(8, 12, generator=generator)
    embedding = 5 * sentences @ directions[:4] + directions[4:][open_]
    embedding = embedding + 0.05 * torch.randn(800, 12, generator=generator)
    clusters, _ = kmeans(without_captions(embedding, sentences), 4, seed=1)
    assert mutual_information(clusters, said.numpy()) < 0.05
    assert mutual_information(clusters, open_.numpy()) > 1.9
    plain, _ = kmeans(embedding, 4, seed=1)
    assert mutual_information(plain, said.numpy()) > 1.5
