"""The trainings and their preparation, one function each; stopped ones resume."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from diffusers.models.transformers.transformer_flux import FluxTransformer2DModel

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.autoencoder import load_autoencoder
from bakehouse_runtime.image.flux.family import Flux
from bakehouse_runtime.image.flux.text import FluxText
from bakehouse_runtime.image.paris.family import Paris
from bakehouse_runtime.image.paris.model import Expert, ExpertShape, Router, RouterShape
from bakehouse_runtime.image.paris.weights import load_expert, save_expert, save_router
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.device import training_device
from bakehouse_runtime.image.training.latent_cache import LatentCache, write_latent_cache
from bakehouse_runtime.image.training.loop import LoopSettings
from bakehouse_runtime.train.diffusion.train import (
    DiffusionTraining,
    TrainingData,
    train_network,
)

from .autoencoder import (
    AutoencoderShape,
    AutoencoderTraining,
    build_autoencoder,
    export_autoencoder,
    save_autoencoder,
    train_autoencoder,
)
from .classifier import Classifier, load_classifier, train_classifier
from .clusters import cluster_latents
from .console_reporter import ConsoleReporter
from .evaluation.judge import Judge
from .flux import build_transformer, export_kontext, initialise_from
from .recipe import MODELS, Recipe, claim
from .scenes.examples import EditExamples, LatentWeights, SceneExamples, ScenePictures
from .scenes.objects import load_cut_outs
from .train_judge import train_judge
from .train_router import train_router

# Held-out pictures of an expert.
EVAL_ROWS = 256


def make_autoencoder(work: Path, recipe: Recipe) -> None:
    """Trains an autoencoder, or copies the recipe's `trained` one: a base with initial weights
    needs the same latents as they do."""
    settings = recipe["autoencoder"]
    folder = work / "autoencoder"
    claim(folder, "autoencoder", recipe)
    if "trained" in settings:
        shutil.copytree(MODELS / settings["trained"], folder / "model", dirs_exist_ok=True)
        return
    shape = AutoencoderShape(picture_side=recipe["picture_side"])
    pictures = ScenePictures(load_cut_outs(work / "packages"), shape.picture_side)
    # A separate random stream: these pictures are never trained on.
    held_out = pictures.draw(np.random.default_rng((settings["loop"]["seed"], 2**40)), 64)
    model = build_autoencoder(shape, settings["loop"]["seed"])
    training = AutoencoderTraining(LoopSettings(**settings["loop"]), settings["batch_size"])
    if train_autoencoder(model, pictures, held_out, training, folder, ConsoleReporter(folder)):
        export_autoencoder(model, held_out, folder / "model")


def make_classifier(work: Path, recipe: Recipe) -> None:
    settings = recipe["classifier"]
    folder = work / "classifier"
    claim(folder, "classifier", recipe)
    cut_outs = load_cut_outs(work / "packages")
    loop = LoopSettings(**settings["loop"])
    torch.manual_seed(loop.seed)
    train_classifier(
        Classifier(len(cut_outs)), cut_outs, loop, settings["batch_size"], folder,
        ConsoleReporter(folder),
    )  # fmt: skip


def make_decoder(work: Path, recipe: Recipe) -> None:
    """Trains only the decoder of the autoencoder, with the classifier's features, so that latents
    stay valid."""
    settings = recipe["decoder"]
    folder = work / "decoder"
    claim(folder, "decoder", recipe)
    device = training_device("auto")
    pictures = ScenePictures(load_cut_outs(work / "packages"), recipe["picture_side"])
    held_out = pictures.draw(np.random.default_rng((settings["loop"]["seed"], 2**40)), 64)
    model = load_autoencoder(work / "autoencoder" / "model", device)
    training = AutoencoderTraining(
        LoopSettings(**settings["loop"]),
        settings["batch_size"],
        feature_weight=settings["feature_weight"],
        freeze_encoder=True,
    )
    classifier = load_classifier(work / "classifier" / "classifier.safetensors", device)
    reporter = ConsoleReporter(folder)
    if train_autoencoder(
        model, pictures, held_out, training, folder, reporter, classifier=classifier
    ):
        save_autoencoder(model, folder / "model")


def make_latents(work: Path, recipe: Recipe) -> None:
    settings = recipe["latents"]
    cut_outs = load_cut_outs(work / "packages")
    examples = SceneExamples(
        cut_outs, recipe["picture_side"], settings["examples"], settings["seed"]
    )
    folder = work / "latents"
    claim(folder, "latents", recipe)
    text = SentenceText(recipe["text_window"])
    text.to(training_device("auto"))
    family = Paris(trained_autoencoder(work), text)
    write_latent_cache(folder, examples, family, ConsoleReporter(folder))


def make_base(work: Path, recipe: Recipe) -> None:
    """Trains from scratch, or from the `initial` weights of the recipe."""
    cache = LatentCache(work / "latents")
    rows, held_out = one_row_in_fifty(len(cache))
    named = recipe["base"].get("initial")
    initial = None if named is None else MODELS / named
    train_one_expert(work, recipe, "base", cache, rows, held_out, initial)


def train_one_expert(
    work: Path,
    recipe: Recipe,
    name: str,
    cache: LatentCache,
    rows: np.ndarray,
    held_out: np.ndarray,
    initial: Path | None,
) -> None:
    step = name.partition("_")[0]
    settings = recipe[step]
    folder = work / name
    claim(folder, step, recipe)
    shape = ExpertShape(**recipe["expert_shape"])
    if initial is None:
        expert = Expert(shape)
        expert.initialise(settings["loop"]["seed"])
    else:
        expert = load_expert(initial).float()
        if expert.shape != shape:
            raise PlainError(f"The weights in {initial} do not have the recipe's expert_shape.")
    training = DiffusionTraining(
        LoopSettings(**settings["loop"]),
        settings["batch_size"],
        eval_rows=EVAL_ROWS,
        compiled=settings.get("compiled", False),
    )
    finished = train_network(
        Paris(trained_autoencoder(work), None),
        expert,
        TrainingData.of(cache.select(rows)),
        TrainingData.of(cache.select(held_out)),
        training,
        folder,
        ConsoleReporter(folder),
    )
    if finished:
        save_expert(expert, folder / "model", torch.float32)


def trained_autoencoder(work: Path) -> AutoencoderKL:
    """Returns the autoencoder on the training device."""
    return load_autoencoder(work / "autoencoder" / "model", training_device("auto"))


def one_row_in_fifty(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Splits rows into training rows and one in fifty for measurements."""
    rows = np.arange(count)
    return rows[rows % 50 != 0], rows[rows % 50 == 0]


def make_judge(work: Path, recipe: Recipe) -> None:
    settings = recipe["judge"]
    folder = work / "judge"
    claim(folder, "judge", recipe)
    cut_outs = load_cut_outs(work / "packages")
    loop = LoopSettings(**settings["loop"])
    torch.manual_seed(loop.seed)
    train_judge(
        Judge(len(cut_outs)), cut_outs, SentenceText(), loop, settings["batch_size"],
        settings["scenes"], folder, ConsoleReporter(folder),
    )  # fmt: skip


def make_clusters(work: Path, recipe: Recipe) -> None:
    settings = recipe["clusters"]
    folder = work / "clusters"
    claim(folder, "clusters", recipe)
    sentences = SentenceText(recipe["text_window"])
    sentences.to(training_device("auto"))
    found = cluster_latents(
        LatentCache(work / "latents"),
        sentences,
        settings["fine"],
        settings["coarse"],
        settings["seed"],
    )
    np.save(folder / "clusters.npy", found.clusters)
    (folder / "summary.json").write_text(json.dumps(found.summary, indent=2) + "\n")
    print(json.dumps(found.summary))


def make_expert(work: Path, recipe: Recipe, number: int) -> None:
    cache = LatentCache(work / "latents")
    clusters = np.load(work / "clusters" / "clusters.npy")
    rows, held_out = (part[clusters[part] == number] for part in one_row_in_fifty(len(cache)))
    # A cluster may be too small to hold out rows; then the training rows are measured.
    held_out = held_out if len(held_out) > 0 else rows
    train_one_expert(
        work, recipe, f"expert_{number}", cache, rows, held_out, work / "base" / "model"
    )


def make_router(work: Path, recipe: Recipe) -> None:
    settings = recipe["router"]
    cache = LatentCache(work / "latents")
    clusters = np.load(work / "clusters" / "clusters.npy")
    rows, held_out = one_row_in_fifty(len(cache))
    router = Router(RouterShape(**recipe["router_shape"]))
    router.initialise(settings["loop"]["seed"])
    folder = work / "router"
    claim(folder, "router", recipe)
    finished = train_router(
        router, cache, clusters, rows, held_out, LoopSettings(**settings["loop"]),
        settings["batch_size"], folder, ConsoleReporter(folder),
    )  # fmt: skip
    if finished:
        save_router(router, folder / "model", torch.float32)


def make_kontext_latents(work: Path, recipe: Recipe) -> None:
    cut_outs = load_cut_outs(work / "packages")
    text = FluxText.of_sentence_encoder(recipe["text_window"])
    text.to(training_device("auto"))
    family = Flux(trained_autoencoder(work), text)
    settings = recipe["kontext_latents"]
    weights = LatentWeights(**settings["weights"])
    for part in ("train", "held-out"):
        seed, side = settings[part]["seed"], recipe["picture_side"]
        edits, pictures = settings[part]["edits"], settings[part]["pictures"]
        for name, examples in (
            ("edits", EditExamples(cut_outs, side, edits, seed, weights, settings["kinds"])),
            ("pictures", SceneExamples(cut_outs, side, pictures, seed, weights)),
        ):
            folder = work / f"kontext-{name}-{part}"
            claim(folder, "kontext-latents", recipe)
            if not write_latent_cache(folder, examples, family, ConsoleReporter(folder)):
                return


def make_kontext(work: Path, recipe: Recipe) -> None:
    settings = recipe["kontext"]
    shape = recipe["kontext_shape"] | {"axes": tuple(recipe["kontext_shape"]["axes"])}
    transformer = build_transformer(**shape, seed=settings["loop"]["seed"])
    if "initial" in settings:
        initial = FluxTransformer2DModel.from_pretrained(
            MODELS / settings["initial"], dtype=torch.float32
        )
        initialise_from(transformer, initial)
    autoencoder = trained_autoencoder(work)
    data, held_out = (
        TrainingData(
            LatentCache(work / f"kontext-edits-{part}").all_rows(),
            LatentCache(work / f"kontext-pictures-{part}").all_rows(),
        )
        for part in ("train", "held-out")
    )
    folder = work / "kontext"
    claim(folder, "kontext", recipe)
    training = DiffusionTraining(
        LoopSettings(**settings["loop"]),
        settings["batch_size"],
        edit_share=settings["edit_share"],
        guidance=tuple(settings["guidance"]),
        time_shift=settings["time_shift"],
        compiled=settings.get("compiled", False),
    )
    reporter = ConsoleReporter(folder)
    family = Flux(autoencoder, None)
    if train_network(family, transformer, data, held_out, training, folder, reporter):
        export_kontext(transformer, autoencoder, folder / "model", torch.float32)


# The step names of make.py; experts also have a number.
MAKE = {
    "autoencoder": make_autoencoder,
    "classifier": make_classifier,
    "decoder": make_decoder,
    "latents": make_latents,
    "base": make_base,
    "clusters": make_clusters,
    "router": make_router,
    "kontext-latents": make_kontext_latents,
    "kontext": make_kontext,
    "judge": make_judge,
}
