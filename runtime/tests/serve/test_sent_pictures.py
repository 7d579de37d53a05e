"""Tests many uploaded pictures at a time."""

from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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
from bakehouse_server import AUTHORIZED_CLIENT, MODEL_KEY
from image.tiny import write_tiny_paris
from picture_requests import request_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bakehouse_runtime.protocol import KontextImageRequest


@contextmanager
def serve(folder: Path, unpack: Callable[..., object]) -> Iterator[ImageCalls]:
    """A Kontext server that unpacks pictures with `unpack`."""
    paris = ParisPipeline.from_folder(write_tiny_paris(folder / "paris"), torch.device("cpu"))
    sampler = Sampler(lambda: paris, 1)
    engine = replace(image_engines["kontext"], to_request=unpack)
    loras = LoraFiles(ServerClient("w-1", "http://127.0.0.1:9", ""), folder / "loras")
    calls = ImageCalls(("127.0.0.1", 0), MODEL_KEY, sampler, engine, loras)
    threading.Thread(target=calls.serve_forever, args=(0.02,), daemon=True).start()
    try:
        until(lambda: sampler.is_loaded)
        yield calls
    finally:
        sampler.close(60)
        calls.shutdown()
        calls.server_close()


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


BODY = request_body() | {"picture": "damaged"}


def test_unpacks_at_most_two_pictures_at_a_time(tmp_path: Path) -> None:
    unpacked: list[int] = []
    unpacking = threading.Semaphore(8)

    def unpack(*_: object) -> object:
        with unpacking:
            unpacked.append(8 - unpacking._value)
            time.sleep(0.03)
        raise PlainError("The picture is damaged or incomplete.")

    with serve(tmp_path, unpack) as calls, ThreadPoolExecutor(8) as asking:
        url = f"http://127.0.0.1:{calls.server_port}/generate"
        answers = list(
            asking.map(lambda _: AUTHORIZED_CLIENT.post(url, json=BODY, timeout=60), range(8))
        )
    assert [answer.status_code for answer in answers] == [400] * 8
    assert max(unpacked) == 2


def test_drops_a_disconnected_client_that_waits_for_unpacking(tmp_path: Path) -> None:
    unpacked: list[int] = []
    let = threading.Event()

    def unpack(request: KontextImageRequest, _: object) -> object:
        unpacked.append(request.seed)
        let.wait(60)
        raise PlainError("The picture is damaged or incomplete.")

    def asking(calls: ImageCalls, seed: int) -> socket.socket:
        body = json.dumps(BODY | {"seed": seed})
        head = f"POST /generate HTTP/1.1\r\nAuthorization: Bearer {MODEL_KEY}\r\n"
        connection = socket.create_connection(("127.0.0.1", calls.server_port), 60)
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return connection

    with (
        serve(tmp_path, unpack) as calls,
        asking(calls, 1) as first,
        asking(calls, 2) as second,
    ):
        until(lambda: len(unpacked) == 2)
        with asking(calls, 3):
            until(lambda: calls.in_flight == 3)
        until(lambda: calls.in_flight == 2)
        let.set()
        assert [b" 400 " in one.recv(65536) for one in (first, second)] == [True, True]
    assert sorted(unpacked) == [1, 2]
