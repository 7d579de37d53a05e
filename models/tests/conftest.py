"""Drawn objects, and the tiny models of the runtime's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# More threads than this only fight, and make sums differ.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"

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
    """Six drawn objects: three shapes in two sizes of canvas; and a hat."""
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
