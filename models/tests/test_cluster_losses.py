"""Tests the losses of experts by cluster."""

from __future__ import annotations

import numpy as np
import pytest

from bakehouse_runtime.image.paris.family import Paris
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.latent_cache import LatentCache, write_latent_cache
from image.line import Recorder
from image.tiny import DrawnExamples, tiny_autoencoder, tiny_expert
from workshop.evaluation.cluster_losses import cluster_losses
from workshop.figure_tables import expert_table


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> LatentCache:
    folder = tmp_path_factory.mktemp("latents")
    family = Paris(tiny_autoencoder(), SentenceText(32))
    write_latent_cache(folder, DrawnExamples(8), family, Recorder())
    return LatentCache(folder)


def test_separates_own_and_other_clusters_and_measures_the_base_on_the_same_rows(
    cache: LatentCache,
) -> None:
    clusters = np.arange(8) % 2
    rows = np.arange(8)
    experts = [tiny_expert(1), tiny_expert(2)]
    figures = cluster_losses(experts, tiny_expert(1), cache, clusters, rows)
    assert figures["expert_0_loss_own"] == figures["expert_0_loss_of_base"]
    assert figures["expert_1_loss_own"] != figures["expert_1_loss_of_base"]
    # Expert 0 is the base here, so its loss on the other cluster is the base's loss on expert 1's
    # own.
    assert figures["expert_0_loss_others"] == figures["expert_1_loss_of_base"]
    assert len(expert_table(figures).splitlines()) == 2 + len(experts)


def test_ignores_rows_that_are_not_requested(cache: LatentCache) -> None:
    clusters = np.asarray([0, 0, 1, 1, 0, 0, 1, 1])
    some = cluster_losses([tiny_expert(1)], tiny_expert(2), cache, clusters, np.arange(4))
    moved = np.where(np.arange(8) < 4, clusters, 1 - clusters)
    again = cluster_losses([tiny_expert(1)], tiny_expert(2), cache, moved, np.arange(4))
    assert some == again
