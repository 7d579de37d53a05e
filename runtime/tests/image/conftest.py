"""Tiny models and a latent cache of generated examples, for tests of seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.family import Paris
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.latent_cache import LatentCache, write_latent_cache

from .line import Recorder
from .tiny import DrawnExamples, tiny_autoencoder, write_tiny_paris


@contextmanager
def one_sentence(part: str) -> Iterator[None]:
    """Expects a PlainError of one line that contains `part`."""
    with pytest.raises(PlainError) as raised:
        yield
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)


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
def drawn_cache(
    autoencoder: AutoencoderKL,
    sentences: SentenceText,
    tmp_path_factory: pytest.TempPathFactory,
) -> LatentCache:
    folder = tmp_path_factory.mktemp("latents")
    family = Paris(autoencoder, sentences)
    assert write_latent_cache(folder, DrawnExamples(40), family, Recorder())
    return LatentCache(folder)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    rows = []
    for number, colour in enumerate(("red", "green", "blue", "orange")):
        for kind, size in (("plain", (40, 40)), ("wide", (80, 40))):
            name = f"{kind}-{colour}.png"
            Image.new("RGB", size, colour).save(folder / name)
            rows.append({"file_name": name, "text": f"a {kind} {colour} field number {number}"})
    (folder / "metadata.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder
