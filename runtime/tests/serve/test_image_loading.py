"""Tests how an image model server loads its model, and its responses before that."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import torch

from bakehouse_runtime.image.paris.pipeline import PUBLISHED_DEFAULTS, ParisPipeline, ParisRequest
from bakehouse_runtime.serve.image_calls import ImageCalls
from bakehouse_runtime.serve.image_engines import image_engines
from bakehouse_runtime.serve.lora_files import LoraFiles
from bakehouse_runtime.serve.sampler import Sampler
from bakehouse_runtime.server_client import ServerClient
from bakehouse_server import AUTHORIZED_CLIENT, MODEL_KEY
from image.tiny import write_published_paris, write_tiny_paris
from picture_requests import events, request_body

if TYPE_CHECKING:
    from pathlib import Path


# The files that the server deploys: in folders, plus the index.
DEPLOYED = {".safetensors", ".json", ".txt"}


def test_serves_a_deployment_from_the_deployed_files(tmp_path: Path) -> None:
    published = write_published_paris(tmp_path / "published")
    deployed = tmp_path / "deployed"
    for file in [published / "model_index.json", *published.glob("*/*")]:
        if file.suffix in DEPLOYED:
            place = deployed / file.relative_to(published)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
    paris = image_engines["paris"].load(deployed, torch.device("cpu"), torch.bfloat16)
    assert isinstance(paris, ParisPipeline)
    assert paris.family.text_encoder.window == 77
    assert paris.defaults == PUBLISHED_DEFAULTS
    assert paris.generate([ParisRequest("abc", 1, steps=2)])[0].media.size == (32, 32)


def test_does_not_generate_before_the_model_is_loaded(tmp_path: Path) -> None:
    folder = write_tiny_paris(tmp_path / "paris")
    opened = threading.Event()

    def load() -> ParisPipeline:
        assert opened.wait(60)
        return ParisPipeline.from_folder(folder, torch.device("cpu"))

    sampler = Sampler(load, 1)
    loras = LoraFiles(ServerClient("w-1", "http://127.0.0.1:9", ""), tmp_path / "loras")
    calls = ImageCalls(("127.0.0.1", 0), MODEL_KEY, sampler, image_engines["paris"], loras)
    threading.Thread(target=calls.serve_forever, args=(0.02,), daemon=True).start()
    url = f"http://127.0.0.1:{calls.server_port}"
    try:
        assert AUTHORIZED_CLIENT.get(f"{url}/health").status_code == 503
        refused = AUTHORIZED_CLIENT.post(f"{url}/generate", json=request_body())
        assert refused.status_code == 503
        assert refused.json()["error"]["message"] == "The model is still being loaded."
        opened.set()
        while AUTHORIZED_CLIENT.get(f"{url}/health").status_code != 200:
            sampler.raise_if_ended()
            time.sleep(0.01)
        answer = AUTHORIZED_CLIENT.post(f"{url}/generate", json=request_body(), timeout=60)
        assert events(answer)[-1]["type"] == "done"
    finally:
        opened.set()
        sampler.close(60)
        calls.shutdown()
        calls.server_close()
