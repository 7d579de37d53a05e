"""Tests the HTTP server of a video model with a tiny model."""

from __future__ import annotations

import base64
import json
import threading
import time
from io import BytesIO
from typing import TYPE_CHECKING, Any

import av
import httpx
import numpy as np
import pytest
import torch
from PIL import Image

from bakehouse_runtime.serve.image_calls import ImageCalls
from bakehouse_runtime.serve.image_engines import image_engines
from bakehouse_runtime.serve.lora_files import LoraFiles
from bakehouse_runtime.serve.sampler import Sampler
from bakehouse_runtime.server_client import ServerClient
from bakehouse_server import AUTHORIZED_CLIENT, MODEL_KEY
from image.wan.tiny import write_starter_wan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAN = image_engines["wan"]


@pytest.fixture(scope="module")
def sampler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sampler]:
    folder = write_starter_wan(tmp_path_factory.mktemp("wan"))
    sampler = Sampler(lambda: WAN.load(folder, torch.device("cpu"), torch.float32), 2)
    yield sampler
    sampler.close(60)


@pytest.fixture
def url(sampler: Sampler, tmp_path: Path) -> Iterator[str]:
    nobody = LoraFiles(ServerClient("w-1", "http://127.0.0.1:9", ""), tmp_path)
    calls = ImageCalls(("127.0.0.1", 0), MODEL_KEY, sampler, WAN, nobody)
    threading.Thread(target=calls.serve_forever, args=(0.02,), daemon=True).start()
    while not sampler.is_loaded:
        sampler.raise_if_ended()
        time.sleep(0.02)
    yield f"http://127.0.0.1:{calls.server_port}/generate"
    calls.shutdown()
    calls.server_close()


def asked(**changed: Any) -> dict[str, Any]:
    return {
        "prompt": "a red apple spins",
        "negative_prompt": "",
        "picture": None,
        "seconds": 5,
        "width": 832,
        "height": 480,
        "steps": 3,
        "guidance": 3.0,
        "seed": 7,
        "preview_every": 1,
        "metadata": {"prompt": "a red apple spins"},
    } | changed


def parts(answer: httpx.Response) -> tuple[list[dict[str, Any]], list[bytes]]:
    """Returns the lines of a response, and the files after them."""
    answer.raise_for_status()
    content, lines = answer.read(), []
    while not lines or lines[-1]["type"] != "done":
        line, _, content = content.partition(b"\n")
        lines.append(json.loads(line))
    files = []
    for size in (lines[-1]["size_bytes"], *(one["size_bytes"] for one in lines[-1]["beside"])):
        files.append(content[:size])
        content = content[size:]
    assert content == b""
    return lines, files


def frames(file: bytes) -> np.ndarray:
    with av.open(BytesIO(file), "r") as opened:
        return np.stack([one.to_ndarray(format="rgb24") for one in opened.decode(video=0)])


def png(colour: str) -> str:
    file = BytesIO()
    Image.new("RGB", (60, 40), colour).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def test_returns_a_video_with_poster_and_strip(url: str) -> None:
    lines, (video, poster, strip) = parts(AUTHORIZED_CLIENT.post(url, json=asked(), timeout=60))
    *steps, done = lines
    assert [(step["step"], step["expert_weights"]) for step in steps] == [
        (step, None) for step in (1, 2, 3)
    ]
    beside = done.pop("beside")
    assert done == {
        "type": "done", "media_type": "video/mp4", "size_bytes": len(video), "width": 32,
        "height": 32, "duration_s": 9 / 8, "expert_used": None, "routing_confidence": None,
    }  # fmt: skip
    assert frames(video).shape == (9, 32, 32, 3)
    with av.open(BytesIO(video), "r") as opened:
        assert json.loads(opened.metadata["comment"]) == {"prompt": "a red apple spins"}
    for said, file, role, size in zip(
        beside, (poster, strip), ("poster", "strip"), ((32, 32), (8 * 32, 32)), strict=True
    ):
        assert (said["role"], said["media_type"]) == (role, "image/webp")
        with Image.open(BytesIO(file)) as picture:
            assert picture.format == "WEBP"
            assert picture.size == (said["width"], said["height"]) == size


def test_seed_and_picture_determine_the_video(url: str) -> None:
    def video(**changed: Any) -> np.ndarray:
        return frames(
            parts(AUTHORIZED_CLIENT.post(url, json=asked(**changed), timeout=60))[1][0]
        ).astype(int)

    assert np.array_equal(video(), video())
    assert np.abs(video() - video(seed=8)).mean() > 1
    assert np.abs(video() - video(negative_prompt="a lemon")).mean() > 0
    assert np.abs(video(picture=png("red"))[0] - video(picture=png("blue"))[0]).mean() > 1


@pytest.mark.parametrize(
    ("changed", "param", "message"),
    [
        ({"prompt": "cat " * 40}, "prompt", "The prompt is 42 tokens long"),
        ({"negative_prompt": "cat " * 40}, "negative_prompt", "The negative prompt is 42 tokens"),
        ({"picture": "no base64!"}, "picture", "picture is not base64."),
        ({"picture": base64.b64encode(b"text").decode()}, "picture", "The picture must be a PNG"),
        ({"metadata": {"": "x"}}, "metadata", "The key '' of metadata"),
        ({"seconds": 0}, "seconds", "seconds: "),
        ({"width": 8}, "width", "width: "),
    ],
)
def test_rejects_impossible_requests(
    url: str, changed: dict[str, Any], param: str, message: str
) -> None:
    answer = AUTHORIZED_CLIENT.post(url, json=asked(**changed), timeout=60)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["param"], error["message"].startswith(message)) == (param, True), error


def test_a_disconnect_ends_the_work(url: str, sampler: Sampler) -> None:
    endless = asked(steps=1000, preview_every=0)
    with AUTHORIZED_CLIENT.stream("POST", url, json=endless, timeout=60) as answer:
        next(answer.iter_bytes())
        (row,) = sampler._rows
    until = time.monotonic() + 20
    while sampler._rows and time.monotonic() < until:
        time.sleep(0.02)
    assert not sampler._rows
    assert row.sampling.steps_done < 1000
