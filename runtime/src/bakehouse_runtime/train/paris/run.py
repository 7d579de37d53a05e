"""`train` for the method `paris`: one part of a Paris on a person's pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import torch

from ...device import use_all_cores
from ...errors import PlainError
from ...image.autoencoder import load_autoencoder
from ...image.clusters import cluster_bank
from ...image.paris.pipeline import load_text_encoder
from ...image.paris.weights import load_expert, load_router, save_expert, save_router
from ...image.text import LONGEST_SENTENCE_WINDOW, SentenceText
from ...image.training.bank import Bank, write_bank
from ...image.training.dataset import (
    PictureExamples,
    check_caption_lengths,
    hold_out_pictures,
    read_captioned_pictures,
)
from ...image.training.device import training_device
from ...workload import workload
from ..picture_run import (
    PictureReporter,
    fresh_outputs,
    loop_settings,
    required_input,
    upload_result,
    write_card,
)
from .train import PartTraining, train_expert, train_router

if TYPE_CHECKING:
    from pathlib import Path

    from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL

    from ...protocol import TrainParisSpec
    from ...workload import Workload

CLUSTERS_FILE = "clusters.json"
FINE_CLUSTERS = 256
SAMPLE_TEXTS = 9


def run(spec: TrainParisSpec) -> int:
    """Trains, or goes on from the last checkpoint, until done or stopped."""
    with workload(spec, "choose a smaller batch size") as work:
        _run(spec, work)
    return 0


def _run(spec: TrainParisSpec, work: Workload) -> None:
    inputs = work.inputs()
    base, dataset = (required_input(inputs, name) for name in ("base_model", "dataset"))
    reporter = PictureReporter(work)
    reporter.phase("reading data")
    use_all_cores()
    pictures = read_captioned_pictures(dataset, spec.data.metadata_path)
    text_encoder = load_text_encoder(base)
    check_caption_lengths(pictures, text_encoder)
    autoencoder = load_autoencoder(base / "vae", training_device(spec.device))
    side = int(autoencoder.config["sample_size"])
    examples = PictureExamples(pictures, side, spec.data.seed)
    folder = work.work_dir / "bank"
    if not write_bank(folder, examples, autoencoder, text_encoder, reporter):
        work.reporter.stopped(0)
        return
    bank = Bank(folder)
    split = hold_out_pictures(examples.picture_of_row())
    outputs = fresh_outputs(work)
    if spec.part == "clusters":
        finished = _clusters(spec, base, bank, outputs, reporter)
    elif spec.part == "expert":
        clusters = _read_clusters(inputs["clusters"], bank) if "clusters" in inputs else None
        finished = _expert(spec, work, base, bank, split, clusters, autoencoder, outputs, reporter)
    else:
        clusters = _read_clusters(required_input(inputs, "clusters"), bank)
        finished = _router(spec, work, base, bank, split, clusters, outputs, reporter)
    if not finished:
        work.reporter.stopped(reporter.last_step)
        return
    what = {"clusters": "Clusters", "expert": f"Expert {spec.expert}", "router": "The router"}
    write_card(outputs, spec, f"{what[spec.part]} of a Paris", len(pictures), reporter.latest)
    upload_result(work, outputs, reporter)


def _clusters(
    spec: TrainParisSpec, base: Path, bank: Bank, outputs: Path, reporter: PictureReporter
) -> bool:
    reporter.phase("clustering")
    experts = load_router(base / "router").shape.experts
    if len(bank) < experts:
        raise PlainError(f"{len(bank)} examples cannot be divided among {experts} experts.")
    fine = min(FINE_CLUSTERS, len(bank))
    sentences = SentenceText(LONGEST_SENTENCE_WINDOW)
    found = cluster_bank(bank, sentences, fine, experts, spec.data.seed)
    content = {"clusters": found.clusters.tolist(), **found.summary}
    (outputs / CLUSTERS_FILE).write_text(json.dumps(content))
    return True


def _read_clusters(folder: Path, bank: Bank) -> np.ndarray:
    try:
        clusters = np.asarray(json.loads((folder / CLUSTERS_FILE).read_text())["clusters"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PlainError(f"The input clusters holds no readable {CLUSTERS_FILE}.") from error
    if clusters.shape != (len(bank),):
        raise PlainError("The clusters were made of another dataset: the examples do not agree.")
    return clusters


def _expert(
    spec: TrainParisSpec,
    work: Workload,
    base: Path,
    bank: Bank,
    split: tuple[np.ndarray, np.ndarray],
    clusters: np.ndarray | None,
    autoencoder: AutoencoderKL,
    outputs: Path,
    reporter: PictureReporter,
) -> bool:
    if spec.expert is None:
        raise PlainError("The spec does not say which expert to train.")
    name = f"expert_{spec.expert}"
    expert = load_expert(base / name)
    dtype = expert.pos_embed.dtype
    rows, held_out = split
    if clusters is not None:
        rows, held_out = (part[clusters[part] == spec.expert] for part in (rows, held_out))
        if len(rows) == 0:
            raise PlainError(f"The cluster of expert {spec.expert} has no picture.")
    # A small cluster may have nothing to spare: then it is measured on what it is trained on.
    held_out = held_out if len(held_out) > 0 else rows
    settings = PartTraining(
        loop_settings(spec.parameters, spec.data.seed), spec.parameters.batch_size
    )
    texts = torch.tensor(list(dict.fromkeys(bank.text_of[rows].tolist()))[:SAMPLE_TEXTS])
    if not train_expert(
        expert.float(), bank, rows, held_out, settings, texts, autoencoder, work.work_dir,
        reporter, spec.device,
    ):  # fmt: skip
        return False
    reporter.phase("saving", counted=False)
    save_expert(expert, outputs / name, dtype)
    return True


def _router(
    spec: TrainParisSpec,
    work: Workload,
    base: Path,
    bank: Bank,
    split: tuple[np.ndarray, np.ndarray],
    clusters: np.ndarray,
    outputs: Path,
    reporter: PictureReporter,
) -> bool:
    router = load_router(base / "router")
    dtype = router.pos_embed.dtype
    if int(clusters.max()) >= router.shape.experts:
        raise PlainError(f"There are more clusters than the router's {router.shape.experts}.")
    rows, held_out = split
    settings = PartTraining(
        loop_settings(spec.parameters, spec.data.seed), spec.parameters.batch_size
    )
    if not train_router(
        router.float(), bank, clusters, rows, held_out, settings, work.work_dir, reporter,
        spec.device,
    ):  # fmt: skip
        return False
    reporter.phase("saving", counted=False)
    save_router(router, outputs / "router", dtype)
    return True
