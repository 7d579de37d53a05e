"""The trainings of the starter Wan and their preparation, one function each; stopped ones
resume."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
import torch
from diffusers.models.autoencoders.autoencoder_kl_wan import AutoencoderKLWan

from bakehouse_runtime.image.model_files import load_picture_model
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.device import training_device
from bakehouse_runtime.image.training.latent_cache import LatentCache, write_latent_cache
from bakehouse_runtime.image.training.loop import LoopSettings
from bakehouse_runtime.image.wan.family import Wan
from bakehouse_runtime.train.diffusion.train import (
    DiffusionTraining,
    TrainingData,
    train_network,
)

from ..console_reporter import ConsoleReporter
from ..recipe import Recipe, claim
from ..scenes.objects import load_cut_outs
from .autoencoder import (
    VideoAutoencoderShape,
    VideoAutoencoderTraining,
    build_video_autoencoder,
    export_video_autoencoder,
    train_video_autoencoder,
)
from .examples import SceneVideos, VideoExamples
from .scenes import VideoShape, draw_video_scene, render_video, video_objects
from .transformer import build_video_transformer, export_wan

# Held-out videos of an autoencoder: for its curve, and for the scale of its latents.
EVAL_VIDEOS = 8
SCALE_VIDEOS = 48
SAMPLED = ("train", "held-out")


def make_video_autoencoder(work: Path, recipe: Recipe) -> None:
    settings = recipe["film_autoencoder"]
    folder = work / "film-autoencoder"
    claim(folder, "film-autoencoder", recipe)
    cut_outs = load_cut_outs(work / "packages")
    shape = VideoShape(**recipe["film"])
    # A separate random stream: these videos are never trained on.
    rng = np.random.default_rng((settings["loop"]["seed"], 2**40))
    objects = video_objects(cut_outs, shape)
    held_out = [
        render_video(
            draw_video_scene(rng, cut_outs, objects, objects[number % len(objects)]),
            cut_outs,
            shape,
        )
        for number in range(SCALE_VIDEOS)
    ]
    wanted = settings["shape"] | {"multiples": tuple(settings["shape"]["multiples"])}
    model = build_video_autoencoder(VideoAutoencoderShape(**wanted), settings["loop"]["seed"])
    training = VideoAutoencoderTraining(
        LoopSettings(**settings["loop"]), tuple(tuple(cut) for cut in settings["cuts"])
    )
    videos = SceneVideos(cut_outs, shape)
    reporter = ConsoleReporter(folder)
    if train_video_autoencoder(model, videos, held_out[:EVAL_VIDEOS], training, folder, reporter):
        export_video_autoencoder(model, held_out, folder / "model")


def make_video_latents(work: Path, recipe: Recipe) -> None:
    cut_outs = load_cut_outs(work / "packages")
    shape = VideoShape(**recipe["film"])
    text = SentenceText(recipe["text_window"])
    text.to(training_device("auto"))
    family = Wan(trained_video_autoencoder(work), text, shape.fps)
    for part in SAMPLED:
        settings = recipe["film_latents"][part]
        examples = VideoExamples(cut_outs, shape, settings["examples"], settings["seed"])
        folder = work / f"film-latents-{part}"
        claim(folder, "film-latents", recipe)
        if not write_latent_cache(folder, examples, family, ConsoleReporter(folder)):
            return


def make_wan(work: Path, recipe: Recipe) -> None:
    settings = recipe["wan"]
    folder = work / "wan"
    claim(folder, "wan", recipe)
    transformer = build_video_transformer(**recipe["wan_shape"], seed=settings["loop"]["seed"])
    autoencoder = trained_video_autoencoder(work)
    data, held_out = (
        with_first_frames(LatentCache(work / f"film-latents-{part}")) for part in SAMPLED
    )
    training = DiffusionTraining(
        LoopSettings(**settings["loop"]),
        settings["batch_size"],
        # For videos, an edit is a continuation of the first frame.
        edit_share=settings["picture_share"],
        time_shift=settings["time_shift"],
        eval_rows=settings["eval_rows"],
        compiled=settings.get("compiled", False),
    )
    family = Wan(autoencoder, None, recipe["film"]["fps"])
    reporter = ConsoleReporter(folder)
    if train_network(family, transformer, data, held_out, training, folder, reporter):
        export_wan(transformer, autoencoder, folder / "model", torch.float32, 1.0, {})


MAKE = {
    "film-autoencoder": make_video_autoencoder,
    "film-latents": make_video_latents,
    "wan": make_wan,
}


def with_first_frames(cache: LatentCache) -> TrainingData:
    """Returns all videos of a cache twice: with their first frames as condition, which Wan's
    autoencoder encodes separately, and from text alone."""
    begun = copy(cache)
    begun.sources = cache.latents[:, :, :1]
    return TrainingData(begun.all_rows(), cache.all_rows())


def trained_video_autoencoder(work: Path) -> AutoencoderKLWan:
    """Returns the autoencoder on the training device."""
    model = load_picture_model(
        AutoencoderKLWan,
        work / "film-autoencoder" / "model",
        "The video autoencoder",
        torch.float32,
    )
    return model.to(training_device("auto"))  # pyright: ignore[reportArgumentType]
