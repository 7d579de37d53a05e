"""`train` for a diffusion model: trains a network on a user's pictures or edits."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...device import use_all_cores
from ...errors import PlainError
from ...image.training.captioned import Captions, read_picture_set
from ...image.training.dataset import (
    PictureExamples,
    by_size,
    cuts_of,
    held_out_pictures,
    rows_of,
)
from ...image.training.device import training_device
from ...image.training.latent_cache import CachedRows, LatentCache, write_latent_cache
from ...image.training.loop import LoopSettings
from ...image.training.sizes import training_sizes
from ...workload import workload
from ..card import front_matter, trained_origin
from .networks import open_encoders
from .reporter import FIRST_SAMPLES, DiffusionReporter
from .train import Data, DiffusionTraining, SizedData, TrainingData, train_network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...image.family import Family
    from ...image.training.captioned import CaptionedPicture
    from ...protocol import SamplePrompt, TrainFluxSpec, TrainParisSpec
    from ...workload import Workload


def run(spec: TrainFluxSpec | TrainParisSpec) -> int:
    """Trains from the start or the last checkpoint until done or stopped."""
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
    use_all_cores()
    reporter.phase("loading encoders")
    opened = open_encoders(spec, base, work.work_dir, training_device(spec.device))
    family = opened.family
    reporter.phase("reading data")
    pictures = read_pictures(spec, dataset, family, reporter)
    encoded = encode_pictures(spec, pictures, family, work.work_dir / "latents", reporter)
    if encoded is None:
        work.reporter.stopped(0)
        return
    family.drop_text_encoder("", *(one.prompt for one in sample_prompts(spec)))
    reporter.phase("loading model")
    network = opened.open_network()
    if encoded.held_out:
        # Bypasses the curves' reporter, which records the first measurements.
        work.reporter.metrics(0, {"held_out_rows": encoded.held_out})
    if not train_network(
        family,
        network.network,
        encoded.trained,
        encoded.measured,
        training_settings(spec, encoded),
        work.work_dir,
        reporter,
        spec.device,
        network.write_samples,
    ):
        reporter.stopped()
        return
    reporter.phase("saving", counted=False)
    outputs = work.work_dir / "outputs"
    shutil.rmtree(outputs, ignore_errors=True)
    outputs.mkdir(parents=True)
    network.save(outputs)
    has_samples = network.write_samples is not None
    if has_samples:
        _copy_samples(work.work_dir, outputs / "samples")
    _write_card(outputs, spec, network.title, len(pictures), reporter.latest)
    work.reporter.result(work.upload(outputs), _summary(reporter))


def sample_prompts(spec: TrainFluxSpec | TrainParisSpec) -> list[SamplePrompt]:
    """Returns the spec's prompts for samples at each checkpoint."""
    return spec.sample_prompts if spec.method == "flux" else []


def read_pictures(
    spec: TrainFluxSpec | TrainParisSpec,
    dataset: Path,
    family: Family,
    reporter: DiffusionReporter,
) -> list[CaptionedPicture]:
    """Returns the usable pictures; logs the others. Raises PlainError if none is usable."""
    encoder = family.text_encoder
    captions = Captions(spec.data.trigger_word, encoder.window, encoder.length)
    found = read_picture_set(dataset, spec.data.metadata_path, captions, family.side)
    for note in found.left_out:
        reporter.log(f"Left out: {note.message}")
    if not found.kept:
        raise PlainError(
            f"No picture of the dataset can be trained on. {found.left_out[0].message}"
        )
    return found.kept


@dataclass(frozen=True)
class EncodedPictures:
    """The rows to train and to measure on; the same rows if nothing is held out."""

    trained: Data
    measured: Data
    held_out: int


def encode_pictures(
    spec: TrainFluxSpec | TrainParisSpec,
    pictures: Sequence[CaptionedPicture],
    family: Family,
    folder: Path,
    reporter: DiffusionReporter,
) -> EncodedPictures | None:
    """Returns the pictures as latents, each in its best size; None if it was stopped."""
    sizes = by_size(pictures, training_sizes(family.side, spec.parameters.resolution))
    held_out = held_out_pictures(pictures)
    others = frozenset(range(len(pictures))) - held_out
    cuts = cuts_of(family.side)
    trained: list[CachedRows] = []
    measured: list[CachedRows] = []
    for size, places in sizes.items():
        chosen = [pictures[place] for place in places]
        examples = PictureExamples(chosen, size, spec.data.seed, cuts, places)
        cached = folder if len(sizes) == 1 else folder / f"{size[0]}x{size[1]}"
        if not write_latent_cache(cached, examples, family, reporter):
            return None
        cache = LatentCache(cached)
        for part, numbers in ((trained, others), (measured, held_out or others)):
            rows = rows_of(places, numbers, cuts)
            if len(rows) > 0:
                part.append(cache.select(rows))
    return EncodedPictures(_data(trained), _data(measured), held_out=len(held_out))


def _data(parts: list[CachedRows]) -> Data:
    return TrainingData.of(parts[0]) if len(parts) == 1 else SizedData(tuple(parts))


def training_settings(
    spec: TrainFluxSpec | TrainParisSpec, encoded: EncodedPictures
) -> DiffusionTraining:
    """Returns the settings of a user's run, with a curve of a few hundred points."""
    parameters = spec.parameters
    loop = LoopSettings(
        steps=parameters.steps,
        learning_rate=parameters.learning_rate,
        seed=spec.data.seed,
        warmup_steps=min(100, parameters.steps // 10),
        report_every=max(1, parameters.steps // 300),
        checkpoint_every=parameters.checkpoint_every,
        accumulation=parameters.gradient_accumulation_steps,
        samples_first=bool(sample_prompts(spec)),
    )
    return DiffusionTraining(
        loop,
        parameters.batch_size,
        text_dropout=parameters.caption_dropout,
        eval_name="eval_loss" if encoded.held_out else "trained_loss",
    )


def _summary(reporter: DiffusionReporter) -> dict[str, float]:
    """Returns the last values of the curves, with the held-out loss before the first step."""
    latest = dict(reporter.latest)
    if "loss" in latest:
        latest["train_loss_end"] = latest.pop("loss")
    if "eval_loss" in reporter.first:
        latest["eval_loss_base"] = reporter.first["eval_loss"]
    return {**latest, "steps": reporter.last_step}


def _copy_samples(work_dir: Path, outputs: Path) -> None:
    last = max(folder for folder in (work_dir / "samples").iterdir() if folder.is_dir())
    for name, folder in (("before", work_dir / FIRST_SAMPLES), ("after", last)):
        if folder.is_dir():
            shutil.copytree(folder, outputs / name)


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
    """Writes the model card: data, parameters, the last values of the curves, and samples."""
    parameters = spec.parameters
    title = " ".join(spec.title.split())
    word = spec.data.trigger_word
    is_adapter = spec.method == "flux" and spec.lora is not None
    metadata = {
        **trained_origin(spec),
        "library_name": "diffusers",
        "tags": [spec.method, *(["lora", "text-to-image"] if is_adapter else []), "bakehouse"],
        **({"instance_prompt": word} if word else {}),
    }
    rows = {
        "Steps": str(parameters.steps),
        "Learning rate": f"{parameters.learning_rate:g}",
        "Batch size": str(parameters.batch_size),
        "Gradient accumulation": str(parameters.gradient_accumulation_steps),
        "Caption dropout": f"{parameters.caption_dropout:g}",
        "Seed": str(spec.data.seed),
        **{f"{name} at the end": f"{value:.4g}" for name, value in sorted(measured.items())},
    }
    lines = [
        *front_matter(metadata),
        f"# {title}",
        "",
        f"{what}, made from {pictures} pictures of {spec.dataset_title}.",
        "",
        *([f"Write `{word}` into the prompt to activate it.", ""] if word else []),
        "| | |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows.items()),
        "",
    ]
    if (outputs / "samples").is_dir():
        lines += [*_before_and_after(sample_prompts(spec)), ""]
    (outputs / "README.md").write_text("\n".join(lines), encoding="utf-8")


def _before_and_after(prompts: Sequence[SamplePrompt]) -> list[str]:
    """Returns a table of the sample prompts without and with the adapter."""
    return [
        "## Before and after",
        "",
        "| prompt | seed | before | after |",
        "|---|---|---|---|",
        *(
            f"| {_cell(one.prompt)} | {one.seed} | ![before](samples/before/{number}.png) "
            f"| ![after](samples/after/{number}.png) |"
            for number, one in enumerate(prompts, start=1)
        ),
    ]


def _cell(text: str) -> str:
    """Escapes a user's text for a cell of a Markdown table."""
    return re.sub(r"([\\`*_{}\[\]<>()#!|~])", r"\\\1", " ".join(text.split()))
