"""Drawn objects, and the tiny models of the runtime's tests."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

# More threads only compete, and change sums.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image, ImageDraw

from bakehouse_runtime.image.text import SentenceText
from image.tiny import tiny_autoencoder, write_tiny_paris
from workshop.scenes.objects import CutOut


@pytest.fixture(scope="session")
def sentences() -> SentenceText:
    return SentenceText()


@pytest.fixture
def paris_folder(tmp_path: Path) -> Path:
    return write_tiny_paris(tmp_path / "paris")


@pytest.fixture(scope="session")
def autoencoder() -> AutoencoderKL:
    return tiny_autoencoder()


@pytest.fixture(scope="session")
def cut_outs() -> list[CutOut]:
    """Six drawn objects, three shapes in two canvas sizes, and a hat."""
    objects = []
    for name, colour in (("red ball", "red"), ("blue box", "blue"), ("green tree", "green")):
        for size in ((40, 40), (40, 24)):
            pixels = Image.new("RGBA", size)
            draw = ImageDraw.Draw(pixels)
            box = (0, 0, size[0] - 1, size[1] - 1)
            (draw.ellipse if name == "red ball" else draw.rectangle)(box, fill=colour)
            called = name if size[1] == 40 else f"flat {name.split()[1]}"
            objects.append(CutOut(called, ("thing",), "Objects", pixels, recolourable=True))
    hat = Image.new("RGBA", (30, 20), "black")
    return [*objects, CutOut("top hat", (), "Objects", hat, recolourable=False)]


@pytest.fixture(scope="session")
def objects(cut_outs: list[CutOut]) -> list[CutOut]:
    """The drawn objects and the two hats that some edits add."""
    crown, cap = (replace(cut_outs[-1], name=name) for name in ("crown", "graduation cap"))
    return [*cut_outs, crown, cap]


def shaded(name: str, seed: int) -> CutOut:
    """Returns a round object with shading and a pattern, without any symmetry."""
    rng = np.random.default_rng(seed)
    side = 80
    down, across = np.mgrid[0:side, 0:side] / side
    patches = np.kron(rng.uniform(0.3, 1, (5, 5)), np.ones((16, 16)))
    light = patches * (0.6 + 0.4 * across * (1 - down))
    colour = rng.permutation([1.0, 0.45, 0.2])
    alpha = ((down - 0.5) ** 2 + (across - 0.5) ** 2 < 0.25)[..., None]
    rgba = np.concatenate([light[..., None] * colour, alpha], axis=-1)
    pixels = Image.fromarray((255 * rgba).astype(np.uint8))
    return CutOut(name, (), "Objects", pixels, recolourable=True)


@pytest.fixture(scope="session")
def shaded_objects() -> list[CutOut]:
    names = ("ball", "box", "tree", "car", "top hat", "crown", "graduation cap")
    return [shaded(name, seed) for seed, name in enumerate(names)]
