"""Tests LoRAs of requests to an image model server: downloads by hash, and errors."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
import torch

from bakehouse_runtime.errors import StopRequested
from bakehouse_runtime.image.flux.pipeline import KontextPipeline, KontextRequest
from bakehouse_runtime.image.lora import ChosenLora
from bakehouse_runtime.protocol import ImageLora
from bakehouse_runtime.serve.image_calls import ImageCalls
from bakehouse_runtime.serve.image_engines import image_engines
from bakehouse_runtime.serve.lora_files import LoraFiles, LoraMissingError
from bakehouse_runtime.serve.sampler import Sampler
from bakehouse_runtime.server_client import ServerClient
from bakehouse_server import AUTHORIZED_CLIENT, MODEL_KEY, TOKEN
from image.tiny import lora_weights, write_lora, write_tiny_kontext
from picture_requests import events, picture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bakehouse_server import BakehouseServer


@pytest.fixture(scope="module")
def kontext(tmp_path_factory: pytest.TempPathFactory) -> KontextPipeline:
    folder = write_tiny_kontext(tmp_path_factory.mktemp("model") / "kontext")
    return KontextPipeline.from_folder(folder, torch.device("cpu"))


@pytest.fixture
def lora_file(kontext: KontextPipeline, tmp_path: Path) -> Path:
    weights = lora_weights(kontext.transformer, seed=1)
    return write_lora(tmp_path / "lora.safetensors", weights)


@pytest.fixture
def loras(server: BakehouseServer, tmp_path: Path) -> LoraFiles:
    return LoraFiles(ServerClient("w-1", server.url, TOKEN), tmp_path / "loras")


@pytest.fixture
def calls(kontext: KontextPipeline, loras: LoraFiles) -> Iterator[ImageCalls]:
    sampler = Sampler(lambda: kontext, 4)
    while not sampler.is_loaded:
        time.sleep(0.001)
    engine = image_engines["kontext"]
    calls = ImageCalls(("127.0.0.1", 0), MODEL_KEY, sampler, engine, loras)
    threading.Thread(target=calls.serve_forever, args=(0.02,), daemon=True).start()
    yield calls
    sampler.close(60)
    calls.shutdown()
    calls.server_close()


@pytest.fixture
def url(calls: ImageCalls) -> str:
    return f"http://127.0.0.1:{calls.server_port}/generate"


def offer(server: BakehouseServer, content: bytes, **changed: Any) -> dict[str, Any]:
    """Returns the LoRA of a request, stored on the server."""
    file = server.add_input(content, "lora.safetensors")
    return {"id": "r1", "sha256": file["sha256"], "size_bytes": len(content), "scale": 1} | changed


def generate(url: str, lora: dict[str, Any] | None, timeout_s: float = 60) -> httpx.Response:
    body = {
        "prompt": "make it blue",
        "seed": 7,
        "steps": 3,
        "guidance": 2.5,
        "preview_every": 0,
        "format": "png",
        "metadata": {},
        "picture": None,
    }
    return AUTHORIZED_CLIENT.post(
        url, json=body | ({"lora": lora} if lora else {}), timeout=timeout_s
    )


def test_applies_the_lora_of_a_request(
    url: str, server: BakehouseServer, kontext: KontextPipeline, lora_file: Path
) -> None:
    lora = offer(server, lora_file.read_bytes(), scale=0.5)
    generated = [picture(events(generate(url, one))[-1]) for one in (None, lora, lora)]
    asked = KontextRequest("make it blue", 7, 3, 2.5, None, ChosenLora("r2", lora_file, 0.5))
    [alone] = kontext.generate([asked])
    assert np.abs(generated[1] - np.asarray(alone.media).astype(int)).max() <= 1
    assert np.abs(generated[1] - generated[0]).max() > 1
    assert np.array_equal(generated[1], generated[2])
    assert [path for _, path, _ in server.requests] == [
        f"/runtime/v1/workloads/w-1/inputs/{lora['sha256']}"
    ]


def test_rejects_unusable_loras_by_name(url: str, server: BakehouseServer, lora_file: Path) -> None:
    text = offer(server, b"just text", id="r3")
    answer = generate(url, text)
    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "message": "This LoRA does not fit the model: its file cannot be read as safetensors.",
        "param": "lora",
    }
    unknown = {**text, "id": "r4", "sha256": hashlib.sha256(b"nobody has it").hexdigest()}
    missing = generate(url, unknown)
    assert missing.status_code == 503
    assert missing.json()["error"] == {
        "message": "The model server could not fetch the LoRA.",
        "param": "lora",
    }
    strong = generate(url, offer(server, lora_file.read_bytes(), scale=2.5))
    assert (strong.status_code, strong.json()["error"]["param"]) == (400, "lora.scale")
    assert events(generate(url, None))[-1]["type"] == "done"


def test_caches_files_while_there_is_room(
    server: BakehouseServer, loras: LoraFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bakehouse_runtime.serve.lora_files._KEPT_BYTES", 10)
    one, two = (ImageLora(**offer(server, content)) for content in (b"12345678", b"abcdefgh"))

    def asked() -> int:
        return len(server.requests)

    with loras.lent(one) as first, loras.lent(two), loras.lent(one) as again:
        assert first is not None
        assert again is not None
        assert first.read_bytes() == again.read_bytes() == b"12345678"
        assert asked() == 2
    assert not first.exists()
    assert not again.exists()
    with loras.lent(one), loras.lent(None) as nothing:
        assert nothing is None
    # The cache has room for one of the two.
    assert asked() == 2
    with loras.lent(two):
        assert asked() == 3
    unknown = one.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(LoraMissingError), loras.lent(unknown):
        pass


def test_times_out_quickly_if_the_server_is_unreachable(
    server: BakehouseServer, tmp_path: Path
) -> None:
    lora = ImageLora(**offer(server, b"12345678"))
    loras = LoraFiles(ServerClient("w-1", server.url, TOKEN, input_timeout_s=0), tmp_path / "loras")
    server.faults = [503] * 100
    with pytest.raises(LoraMissingError), loras.lent(lora):
        pass
    server.stop()
    with pytest.raises(LoraMissingError), loras.lent(lora):
        pass


def test_does_not_fetch_an_unwanted_lora(server: BakehouseServer, loras: LoraFiles) -> None:
    lora = ImageLora(**offer(server, b"12345678"))
    with pytest.raises(StopRequested), loras.lent(lora, lambda: False):
        pass
    assert server.requests == []


class Endless:
    """A source that sends single bytes forever."""

    offset = 0

    @contextlib.contextmanager
    def read_input(self, sha256: str, offset: int, *, follow_links: bool) -> Iterator[Endless]:
        yield self

    def __iter__(self) -> Iterator[bytes]:
        while True:
            time.sleep(0.01)
            yield b"x"


def test_a_disconnect_ends_the_download_of_its_lora(calls: ImageCalls, tmp_path: Path) -> None:
    calls.loras = LoraFiles(Endless(), tmp_path / "slow")
    lora = {"id": "r9", "sha256": "0" * 64, "size_bytes": 1 << 20, "scale": 1}
    with pytest.raises(httpx.ReadTimeout):
        generate(f"http://127.0.0.1:{calls.server_port}/generate", lora, timeout_s=0.3)
    until = time.monotonic() + 30
    while calls.in_flight > 0:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_reports_an_unwritable_folder_as_a_missing_lora(
    server: BakehouseServer, tmp_path: Path
) -> None:
    lora = ImageLora(**offer(server, b"12345678"))
    (tmp_path / "file").touch()
    loras = LoraFiles(ServerClient("w-1", server.url, TOKEN), tmp_path / "file" / "loras")
    with pytest.raises(LoraMissingError), loras.lent(lora):
        pass
