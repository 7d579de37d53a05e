"""Pictures that many send at once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.pipeline import ParisPipeline
from bakehouse_runtime.serve.image_calls import ImageCalls
from bakehouse_runtime.serve.image_engines import image_engines
from bakehouse_runtime.serve.lora_files import LoraFiles
from bakehouse_runtime.serve.sampler import Sampler
from bakehouse_runtime.server_client import ServerClient
from bakehouse_server import ASKING, MODEL_KEY
from image.tiny import write_tiny_paris
from picture_requests import request_body

if TYPE_CHECKING:
    from pathlib import Path


def test_no_more_than_two_are_unpacked_at_once(tmp_path: Path) -> None:
    unpacked: list[int] = []
    unpacking = threading.Semaphore(8)

    def unpack(*_: object) -> object:
        with unpacking:
            unpacked.append(8 - unpacking._value)
            time.sleep(0.03)
        raise PlainError("The picture is damaged or incomplete.")

    paris = ParisPipeline.from_folder(write_tiny_paris(tmp_path / "paris"), torch.device("cpu"))
    sampler = Sampler(lambda: paris, 1)
    engine = replace(image_engines["kontext"], to_request=unpack)
    loras = LoraFiles(ServerClient("w-1", "http://127.0.0.1:9", ""), tmp_path / "loras")
    calls = ImageCalls(("127.0.0.1", 0), MODEL_KEY, sampler, engine, loras)
    threading.Thread(target=calls.serve_forever, args=(0.02,), daemon=True).start()
    body = request_body() | {"picture": "damaged"}
    url = f"http://127.0.0.1:{calls.server_port}/generate"
    try:
        while not sampler.is_loaded:
            time.sleep(0.001)
        with ThreadPoolExecutor(8) as asking:
            answers = list(asking.map(lambda _: ASKING.post(url, json=body, timeout=60), range(8)))
        assert [answer.status_code for answer in answers] == [400] * 8
        assert max(unpacked) == 2
    finally:
        sampler.close(60)
        calls.shutdown()
        calls.server_close()
