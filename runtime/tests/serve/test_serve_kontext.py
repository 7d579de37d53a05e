"""Tests a server of the starter editor in its own process."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_server import AUTHORIZED_CLIENT
from picture_requests import events, picture
from serving import Serving, serve_image_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakehouse_server import BakehouseServer

STARTER = Path(__file__).parents[3] / "models" / "starter-kontext"


@pytest.fixture(scope="module")
def condition() -> Image.Image:
    with Image.open(STARTER / "samples.png") as samples:
        return samples.convert("RGB").crop((0, 0, 128, 128))


@pytest.fixture
def serving(server: BakehouseServer, tmp_path: Path) -> Iterator[Serving]:
    spec = serve_image_spec(server, tmp_path, STARTER) | {"engine": "kontext"}
    running = Serving(server, tmp_path, spec)
    yield running
    running.process.kill()
    running.process.wait()


def request_body(content: bytes | None, **changed: Any) -> dict[str, Any]:
    return {
        "prompt": "make it blue",
        "seed": 7,
        "steps": 4,
        "guidance": 2.5,
        "preview_every": 2,
        "format": "png",
        "metadata": {"prompt": "make it blue"},
        "picture": None if content is None else base64.b64encode(content).decode(),
    } | changed


def png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def test_edits_like_the_pipeline(serving: Serving, condition: Image.Image) -> None:
    url = f"{serving.url}/generate"
    content = png(condition)

    def ask(url: str = url, **changed: Any) -> list[dict[str, Any]]:
        return events(
            AUTHORIZED_CLIENT.post(url, json=request_body(content, **changed), timeout=120)
        )

    with ThreadPoolExecutor() as asking:
        longer = asking.submit(lambda: ask(seed=8, steps=12))
        *steps, done = ask()
        longer_events = longer.result(120)
    assert [(step["step"], step["expert_weights"]) for step in steps] == [
        (step, None) for step in (1, 2, 3, 4)
    ]
    assert (done["width"], done["height"], done["expert_used"]) == (128, 128, None)
    import torch

    kontext = KontextPipeline.from_folder(STARTER, torch.device("cpu"))
    for event, request in (
        (done, KontextRequest("make it blue", 7, 4, 2.5, condition)),
        (longer_events[-1], KontextRequest("make it blue", 8, 12, 2.5, condition)),
    ):
        alone = np.asarray(kontext.generate([request])[0].media).astype(int)
        # In bfloat16 a batch of two is rounded differently than a single picture.
        assert np.abs(picture(event) - alone).mean() <= 1
    assert np.abs(picture(done) - picture(longer_events[-1])).mean() > 4
    assert np.abs(picture(done) - np.asarray(condition).astype(int)).mean() > 4

    mask = Image.new("RGBA", condition.size, "black")
    mask.paste((0, 0, 0, 0), (40, 40, 80, 80))
    sent = base64.b64encode(png(mask)).decode()
    masked = picture(ask(f"{serving.url}/edit", mask=sent)[-1])
    inside = np.asarray(mask)[..., 3] == 0
    changed = (masked != np.asarray(condition).astype(int)).any(axis=-1)
    assert (changed[~inside].any(), changed[inside].mean() > 0.9) == (False, True)

    opaque = base64.b64encode(png(Image.new("RGBA", condition.size, "black"))).decode()
    for wrong, param, message in (
        (request_body(content, mask=opaque), "mask", "The mask has no transparent area"),
        (request_body(content, negative_prompt="cat " * 40), "negative_prompt", "Negative prompt:"),
        (request_body(b"just text"), "picture", "The picture must be a PNG, JPEG or WebP file."),
        (request_body(content[:-40]), "picture", "The picture is damaged or incomplete."),
        (request_body(None, picture="no base64!"), "picture", "picture is not base64."),
        (request_body(content, prompt="cat " * 40), "prompt", "The prompt is 42 tokens long"),
    ):
        answer = AUTHORIZED_CLIENT.post(url, json=wrong, timeout=60)
        assert answer.status_code == 400, wrong
        error = answer.json()["error"]
        assert (error["param"], error["message"].startswith(message)) == (param, True), error
