"""`train` for a diffusion model: a network of a family on a person's pictures or edits."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from ...device import use_all_cores
from ...errors import PlainError
from ...image.training.dataset import (
    PictureExamples,
    check_caption_lengths,
    hold_out_pictures,
    read_captioned_pictures,
)
from ...image.training.device import training_device
from ...image.training.latent_cache import LatentCache, write_latent_cache
from ...image.training.loop import LoopSettings
from ...workload import workload
from ..card import front_matter, origin
from .networks import open_network
from .reporter import DiffusionReporter
from .train import DiffusionTraining, TrainingData, train_network

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...protocol import PictureTrainingParameters, TrainFluxSpec, TrainParisSpec
    from ...workload import Workload


def run(spec: TrainFluxSpec | TrainParisSpec) -> int:
    """Trains, or goes on from the last checkpoint, until done or stopped."""
    saves_memory = "choose a smaller batch size"
    if spec.method == "flux":
        saves_memory += ", or train an adapter (LoRA) of a small rank"
    with workload(spec, saves_memory) as work:
        _run(spec, work)
    return 0


def _run(spec: TrainFluxSpec | TrainParisSpec, work: Workload) -> None:
    inputs = work.inputs()
    base, dataset = (_required_input(inputs, name) for name in ("base_model", "dataset"))
    reporter = DiffusionReporter(work)
    reporter.phase("reading data")
    use_all_cores()
    pictures = read_captioned_pictures(dataset, spec.data.metadata_path)
    reporter.phase("loading model")
    opened = open_network(spec, base, training_device(spec.device))
    family = opened.family
    check_caption_lengths(pictures, family.text_encoder)
    examples = PictureExamples(pictures, family.side, spec.data.seed)
    folder = work.work_dir / "latents"
    if not write_latent_cache(folder, examples, family, reporter):
        work.reporter.stopped(0)
        return
    family.drop_text_encoder()
    cache = LatentCache(folder)
    rows, held_out = hold_out_pictures(examples.picture_of_row())
    if not train_network(
        family,
        opened.network,
        TrainingData.of(cache.select(rows)),
        TrainingData.of(cache.select(held_out)),
        DiffusionTraining(
            _loop_settings(spec.parameters, spec.data.seed), spec.parameters.batch_size
        ),
        work.work_dir,
        reporter,
        spec.device,
    ):
        work.reporter.stopped(reporter.last_step)
        return
    reporter.phase("saving", counted=False)
    outputs = work.work_dir / "outputs"
    shutil.rmtree(outputs, ignore_errors=True)
    outputs.mkdir(parents=True)
    opened.save(outputs)
    _write_card(outputs, spec, opened.title, len(pictures), reporter.latest)
    work.reporter.result(work.upload(outputs), {**reporter.latest, "steps": reporter.last_step})


def _loop_settings(parameters: PictureTrainingParameters, seed: int) -> LoopSettings:
    """For a person's run: a curve of some hundred points."""
    return LoopSettings(
        steps=parameters.steps,
        learning_rate=parameters.learning_rate,
        seed=seed,
        warmup_steps=min(100, parameters.steps // 10),
        report_every=max(1, parameters.steps // 300),
        checkpoint_every=parameters.checkpoint_every,
    )


def _required_input(inputs: Mapping[str, Path], name: str) -> Path:
    if name not in inputs:
        raise PlainError(f"The spec has no input {name}.")
    return inputs[name]


def _write_card(
    outputs: Path,
    spec: TrainFluxSpec | TrainParisSpec,
    what: str,
    pictures: int,
    measured: Mapping[str, float],
) -> None:
    """The model card: what was trained on what, how, and the curves' last values."""
    parameters = spec.parameters
    title = " ".join(spec.title.split())
    metadata = {
        **origin(spec.base_model_title, spec.dataset_title),
        "library_name": "diffusers",
        "tags": [spec.method, "bakehouse"],
    }
    lines = [
        *front_matter(metadata),
        f"# {title}",
        "",
        f"{what}, made from {pictures} pictures of {spec.dataset_title}.",
        "",
        "| | |",
        "|---|---|",
        f"| Steps | {parameters.steps} |",
        f"| Learning rate | {parameters.learning_rate:g} |",
        f"| Batch size | {parameters.batch_size} |",
        f"| Seed | {spec.data.seed} |",
        *(f"| {name} at the end | {value:.4g} |" for name, value in sorted(measured.items())),
        "",
    ]
    (outputs / "README.md").write_text("\n".join(lines), encoding="utf-8")
