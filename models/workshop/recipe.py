"""The recipe: the settings and the result of each step."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

Recipe = dict[str, Any]

MODELS = Path(__file__).resolve().parents[1]
# The settings for starting from shipped weights, each the name of a folder.
TAKEN = ("initial", "trained")

# The settings that a step's result depends on; its own come last.
ENCODED = ("packages", "picture_side", "autoencoder", "text_window")
VIDEOS = ("packages", "film", "film_autoencoder")
SETTINGS = {
    "autoencoder": ("packages", "picture_side", "autoencoder"),
    "classifier": ("packages", "classifier"),
    "decoder": ("packages", "picture_side", "autoencoder", "classifier", "decoder"),
    "latents": (*ENCODED, "latents"),
    "base": (*ENCODED, "latents", "expert_shape", "base"),
    "clusters": (*ENCODED, "latents", "clusters"),
    "expert": (*ENCODED, "latents", "expert_shape", "base", "clusters", "expert"),
    "router": (*ENCODED, "latents", "clusters", "router_shape", "router"),
    "judge": ("packages", "judge"),
    "kontext-latents": (*ENCODED, "kontext_latents"),
    "kontext": (*ENCODED, "kontext_latents", "kontext_shape", "kontext"),
    "film-autoencoder": VIDEOS,
    "film-latents": (*VIDEOS, "text_window", "film_latents"),
    "wan": (*VIDEOS, "text_window", "film_latents", "wan_shape", "wan"),
}


def results(recipe: Recipe) -> dict[str, str]:
    """Returns the results of finished trainings, in order of their dependencies."""
    return {
        "fetch": "packages/unicode-emoji-json",
        "autoencoder": "autoencoder/model",
        "classifier": "classifier/classifier.safetensors",
        "decoder": "decoder/model",
        "latents": "latents/texts.npz",
        "base": "base/model",
        "clusters": "clusters/clusters.npy",
        "router": "router/model",
        **{f"expert_{number}": f"expert_{number}/model" for number in experts(recipe)},
        "judge": "judge/judge.safetensors",
        "kontext-latents": "kontext-pictures-held-out/texts.npz",
        "kontext": "kontext/model",
        "film-autoencoder": "film-autoencoder/model",
        "film-latents": "film-latents-held-out/texts.npz",
        "wan": "wan/model",
    }


def experts(recipe: Recipe) -> range:
    return range(recipe["router_shape"]["experts"])


def claim(folder: Path, step: str, recipe: Recipe) -> None:
    """Rejects a folder that was started with other settings, because its content would count as
    done."""
    settings = {name: recipe[name] for name in SETTINGS[step]} | _taken_weights(step, recipe)
    text = json.dumps(settings, indent=2) + "\n"
    path = folder / "settings.json"
    begun = folder.exists() and any(folder.iterdir())
    if begun and not (path.exists() and path.read_text() == text):
        raise SystemExit(
            f"{folder} was made with other settings. Remove it to start over, or correct its "
            "settings.json if it may continue with these."
        )
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _taken_weights(step: str, recipe: Recipe) -> dict[str, str]:
    """Returns digests of the shipped weights that a step depends on, by folder: a release replaces
    them under the same name."""
    parts = [recipe[name] for name in SETTINGS[step] if isinstance(recipe[name], dict)]
    folders = {part[key] for part in parts for key in TAKEN if key in part}
    return {folder: _digest(MODELS / folder) for folder in sorted(folders)}


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
