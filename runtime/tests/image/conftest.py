"""A Paris of a few thousand weights, and the text encoder, for tests of seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from diffusers.models.autoencoders.autoencoder_kl import AutoencoderKL
from PIL import Image, ImageDraw

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.model import Expert, ExpertShape, Router, RouterShape
from bakehouse_runtime.image.paris.weights import save_expert, save_router
from bakehouse_runtime.image.scenes.objects import CutOut
from bakehouse_runtime.image.text import SentenceText
from bakehouse_runtime.image.training.bank import Bank, write_bank
from bakehouse_runtime.image.training.scene_examples import SceneExamples
from bakehouse_runtime.train.autoencoder.model import AutoencoderShape, build_autoencoder

from .line import Recorder

TINY_EXPERT = ExpertShape(
    latent_channels=4, latent_side=4, hidden_size=16, layers=2, heads=2, text_size=384
)
TINY_ROUTER = RouterShape(latent_channels=4, latent_side=4, hidden_size=16, layers=1, heads=2)
TINY_AUTOENCODER = AutoencoderShape(channels=(8, 8, 8, 8), latent_channels=4, picture_side=32)


@contextmanager
def one_sentence(part: str) -> Iterator[None]:
    """Expects a PlainError of one line that says this."""
    with pytest.raises(PlainError) as raised:
        yield
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)


def randomised(model: torch.nn.Module, seed: int) -> None:
    """Weights of which none is zero, so that every part of the model shows in the output."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))


def tiny_expert(seed: int, shape: ExpertShape = TINY_EXPERT) -> Expert:
    expert = Expert(shape)
    randomised(expert, seed)
    return expert.eval()


@pytest.fixture(scope="session")
def sentences() -> SentenceText:
    return SentenceText()


@pytest.fixture
def paris_folder(tmp_path: Path) -> Path:
    """A whole tiny Paris as the starter model is laid out."""
    folder = tmp_path / "paris"
    for number in range(TINY_ROUTER.experts):
        save_expert(tiny_expert(number), folder / f"expert_{number}", torch.float16)
    router = Router(TINY_ROUTER)
    randomised(router, 99)
    save_router(router, folder / "router", torch.float16)
    autoencoder = build_autoencoder(TINY_AUTOENCODER, seed=0)
    autoencoder.register_to_config(shift_factor=0.1, scaling_factor=0.5)
    autoencoder.save_pretrained(folder / "vae")
    (folder / "model_index.json").write_text(
        json.dumps({"_class_name": "DDMPipeline", "text_window": 32})
    )
    return folder


@pytest.fixture(scope="session")
def cut_outs() -> list[CutOut]:
    """Six drawn objects: three shapes in two sizes of canvas."""
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
def autoencoder() -> AutoencoderKL:
    model = build_autoencoder(TINY_AUTOENCODER, seed=0)
    model.register_to_config(shift_factor=0.1, scaling_factor=0.5)
    return model.eval()


@pytest.fixture(scope="session")
def scene_bank(
    cut_outs: list[CutOut],
    autoencoder: AutoencoderKL,
    sentences: SentenceText,
    tmp_path_factory: pytest.TempPathFactory,
) -> Bank:
    folder = tmp_path_factory.mktemp("bank")
    examples = SceneExamples(cut_outs, side=32, count=40, seed=1)
    assert write_bank(folder, examples, autoencoder, sentences, Recorder())
    return Bank(folder)
