"""Tests clustering by the appearance that captions do not describe."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from workshop.clusters import (
    frequent_phrases,
    kmeans,
    most_distinctive,
    mutual_information,
    predicted_by_captions,
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


def test_kmeans_is_deterministic_and_handles_equal_points() -> None:
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


def test_clusters_are_independent_of_the_caption() -> None:
    """The embedding mixes what the caption describes with what it does not; only the latter should
    remain."""
    generator = torch.Generator().manual_seed(4)
    subject = torch.randint(0, 4, (1600,), generator=generator)
    style = torch.randint(0, 3, (1600,), generator=generator)
    open_ = torch.randint(0, 4, (1600,), generator=generator)
    features = torch.cat(
        [
            torch.nn.functional.one_hot(subject, 4).float(),
            torch.nn.functional.one_hot(style, 3).float(),
        ],
        dim=1,
    )
    directions = torch.randn(23, 12, generator=generator)
    # The effect of each feature, of both together, and of the undescribed part, with varying
    # strength.
    embedding = 5 * features @ directions[:7] + 2 * directions[7:19][3 * subject + style]
    embedding = embedding + (1 + style[:, None]) * directions[19:][open_]
    embedding = embedding + 0.05 * torch.randn(1600, 12, generator=generator)
    predicted = predicted_by_captions(embedding, features)
    clusters, _ = kmeans(without_captions(embedding, predicted, seed=2), 4, seed=1)
    assert mutual_information(clusters, (3 * subject + style).numpy()) < 0.05
    assert mutual_information(clusters, open_.numpy()) > 1.9
    plain, _ = kmeans(embedding, 4, seed=1)
    assert mutual_information(plain, subject.numpy()) > 1


def test_finds_frequent_phrases_and_the_most_distinctive_one() -> None:
    texts = ["a red apple", "an apple", "a rare bird"]
    phrases, holds = frequent_phrases(texts, np.asarray([500, 500, 1]))
    assert phrases == ["a", "a red", "an", "an apple", "apple", "red", "red apple"]
    assert holds.tolist() == [[1, 1, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0]]
    clusters = np.asarray([0, 0, 0, 1, 1, 1, 1, 1])
    holds = np.asarray([[0, 1], [1, 1], [0, 1], [1, 0], [0, 0], [1, 1], [0, 0], [1, 0]])
    found = most_distinctive(clusters, ["at night", "red"], holds)
    assert found == {"phrase": "red", "share": 0.75, "of_all": 0.375}
