"""Tests the HTTP server of an image model with a tiny model whose steps the test controls."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
import torch
from PIL import Image

from bakehouse_runtime.errors import PlainError
from bakehouse_runtime.image.paris.pipeline import (
    ParisPipeline,
    ParisRequest,
    ParisSampling,
)
from bakehouse_runtime.image.sampling import Generated
from bakehouse_runtime.serve import image_calls
from bakehouse_runtime.serve.image_calls import ImageCalls
from bakehouse_runtime.serve.image_engines import image_engines
from bakehouse_runtime.serve.lora_files import LoraFiles
from bakehouse_runtime.serve.sampler import Sampler
from bakehouse_runtime.server_client import ServerClient
from bakehouse_server import AUTHORIZED_CLIENT, MODEL_KEY
from image.tiny import write_tiny_paris
from picture_requests import events, picture, request_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

PARIS = image_engines["paris"]
Answer = Future[list[dict[str, Any]]]


class Gated(ParisPipeline):
    """Runs a step only when released, and records the seeds in it."""

    is_open = False
    # The seed of the request that fails.
    broken_seed = -1

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.let = threading.Semaphore(0)
        self.seeds: list[list[int]] = []

    def step(self, samplings: Sequence[ParisSampling]) -> None:
        self.seeds.append([sampling.request.seed for sampling in samplings])
        if not self.is_open:
            self.let.acquire()
        super().step(samplings)

    def finish(self, samplings: Sequence[ParisSampling]) -> list[Generated]:
        if samplings[0].request.seed == self.broken_seed:
            raise PlainError("The model computed no numbers.")
        return super().finish(samplings)

    def open(self) -> None:
        """Stops blocking steps."""
        self.is_open = True
        self.let.release()


class Server:
    def __init__(self, paris: Gated, rows_max: int, folder: Path) -> None:
        self.paris = paris
        self.sampler = Sampler(lambda: paris, rows_max)
        until(lambda: self.sampler.is_loaded)
        # Paris has no LoRAs, so this client is never used.
        nobody = ServerClient("w-1", "http://127.0.0.1:9", "")
        loras = LoraFiles(nobody, folder)
        self.calls = ImageCalls(("127.0.0.1", 0), MODEL_KEY, self.sampler, PARIS, loras)
        self.url = f"http://127.0.0.1:{self.calls.server_port}/generate"
        self._asking = ThreadPoolExecutor(16)
        threading.Thread(target=self.calls.serve_forever, args=(0.02,), daemon=True).start()

    def ask(self, **changed: Any) -> Answer:
        """Sends a request, and waits until the sampler has it."""
        known = self._known()
        answer = self._asking.submit(
            lambda: events(
                AUTHORIZED_CLIENT.post(self.url, json=request_body(**changed), timeout=60)
            )
        )
        until(lambda: self._known() > known)
        return answer

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.calls.server_port), 60)

    def _known(self) -> int:
        sampler = self.sampler
        return len(sampler._arrived) + len(sampler._waiting) + len(sampler._rows)

    def step(self) -> list[int]:
        """Releases the next step and waits until another has started; returns its seeds."""
        count = len(self.paris.seeds)
        self.paris.let.release()
        until(lambda: len(self.paris.seeds) > count)
        return self.paris.seeds[-1]

    def close(self) -> None:
        self.paris.open()
        self.sampler.close(60)
        self.calls.shutdown()
        self.calls.server_close()
        self._asking.shutdown()


def raw_request(**changed: Any) -> bytes:
    body = json.dumps(request_body(**changed)).encode()
    head = f"POST /generate HTTP/1.1\r\nAuthorization: Bearer {MODEL_KEY}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.fixture(scope="module")
def tiny_paris(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_paris(tmp_path_factory.mktemp("model") / "paris")


@pytest.fixture
def serve(tiny_paris: Path, tmp_path: Path) -> Iterator[Callable[[int], Server]]:
    running: list[Server] = []

    def start(rows_max: int) -> Server:
        paris = Gated.from_folder(tiny_paris, torch.device("cpu"))
        assert isinstance(paris, Gated)
        running.append(Server(paris, rows_max, tmp_path))
        return running[-1]

    yield start
    for server in running:
        server.close()


def of_type(kind: str, answer: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in answer if event["type"] == kind]


def test_requests_join_and_leave_between_steps(
    serve: Callable[[int], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bakehouse_runtime.serve.sampler.PROGRESS_INTERVAL_S", 0)
    server = serve(4)
    first = server.ask(seed=1, steps=5)
    until(lambda: server.paris.seeds == [[1]])
    others = [
        server.ask(seed=2, steps=1, guidance=1, strategy="full"),
        server.ask(seed=3, steps=2, strategy="top1"),
        server.ask(seed=4, steps=3, k=3, preview_every=2),
    ]
    assert server.step() == [1, 2, 3, 4]
    assert server.step() == [1, 3, 4]
    assert others[0].result(60)[-1]["type"] == "done"
    assert server.step() == [1, 4]
    server.paris.open()
    answers = [answer.result(60) for answer in (first, *others)]
    assert [len(of_type("step", answer)) for answer in answers] == [5, 1, 2, 3]
    assert not any(of_type("queued", answer) for answer in answers)
    assert [bool(step["preview"]) for step in answers[3][:-1]] == [False, True, False]
    with Image.open(BytesIO(base64.b64decode(answers[3][1]["preview"]))) as preview:
        assert (preview.format, 2 * preview.width) == ("JPEG", len(picture(answers[3][-1])))
    alone = server.paris.generate(
        [
            ParisRequest(request_body()["prompt"], 1, 5, 7.5, "topk", 2),
            ParisRequest(request_body()["prompt"], 2, 1, 1, "full", 2),
            ParisRequest(request_body()["prompt"], 3, 2, 7.5, "top1", 2),
            ParisRequest(request_body()["prompt"], 4, 3, 7.5, "topk", 3),
        ]
    )
    for answer, expected in zip(answers, alone, strict=True):
        assert np.abs(picture(answer[-1]) - np.asarray(expected.media).astype(int)).max() <= 2
        assert answer[-1]["expert_used"] == expected.expert_used


def test_requests_wait_in_order_and_report_their_position(
    serve: Callable[[int], Server],
) -> None:
    server = serve(2)
    answers = [server.ask(seed=1, steps=2)]
    until(lambda: server.paris.seeds == [[1]])
    answers += [server.ask(seed=seed, steps=1) for seed in (2, 3, 4)]
    assert server.step() == [1, 2]
    assert server.step() == [3, 4]
    server.paris.open()
    events_of = [answer.result(60) for answer in answers]
    assert [of_type("queued", one) for one in events_of] == [
        [],
        [],
        [{"type": "queued", "position": 1}],
        [{"type": "queued", "position": 2}],
    ]
    assert all(one[-1]["type"] == "done" for one in events_of)


def test_queue_positions_move_up(serve: Callable[[int], Server]) -> None:
    server = serve(1)
    server.ask(seed=1, steps=2)
    until(lambda: server.paris.seeds == [[1]])
    server.ask(seed=2, steps=1)
    last = server.ask(seed=3, steps=1)
    assert server.step() == [1]
    assert server.step() == [2]
    assert server.step() == [3]
    server.paris.open()
    assert [event["position"] for event in of_type("queued", last.result(60))] == [2, 1]


def test_cancels_a_generation_within_a_step_of_a_disconnect(
    serve: Callable[[int], Server],
) -> None:
    server = serve(1)
    with server.connect() as running, server.connect() as waiting:
        running.sendall(raw_request(seed=1, steps=1000))
        until(lambda: server.paris.seeds == [[1]])
        waiting.sendall(raw_request(seed=2))
        until(lambda: len(server.sampler._arrived) == 1)
        assert server.step() == [1]
        last = server.ask(seed=3, steps=1)
        assert server.step() == [1]
    until(lambda: server.calls.in_flight == 1)
    assert server.step() == [3]
    server.paris.open()
    assert last.result(60)[-1]["type"] == "done"


def test_a_failed_picture_does_not_affect_others(serve: Callable[[int], Server]) -> None:
    server = serve(2)
    server.paris.broken_seed = 2
    good = server.ask(seed=1, steps=2)
    until(lambda: server.paris.seeds == [[1]])
    bad = server.ask(seed=2, steps=1)
    server.paris.open()
    assert good.result(60)[-1]["type"] == "done"
    error = {"type": "error", "message": "The model computed no numbers."}
    assert bad.result(60)[-1] == error


def test_a_failed_sampler_answers_every_request(
    serve: Callable[[int], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(1)
    running, waiting = server.ask(seed=1), server.ask(seed=2)

    def fail(*_: object) -> None:
        raise torch.AcceleratorError("CUDA error")

    monkeypatch.setattr(server.paris, "step", fail)
    server.paris.open()
    for answer in (running, waiting):
        assert answer.result(60)[-1]["message"] == "The model server failed."
    with pytest.raises(torch.AcceleratorError, match="CUDA error"):
        server.sampler.raise_if_ended()
    answer = AUTHORIZED_CLIENT.post(server.url, json=request_body(), timeout=60)
    assert events(answer) == [{"type": "error", "message": "The model server is stopping."}]


def test_close_answers_waiting_requests(serve: Callable[[int], Server]) -> None:
    server = serve(1)
    running, waiting = server.ask(seed=1), server.ask(seed=2)
    server.paris.let.release()
    threading.Thread(target=server.close, daemon=True).start()
    for answer in (running, waiting):
        assert "stopped before the picture was done" in answer.result(60)[-1]["message"]


def test_reports_no_progress_only_for_stalled_work(serve: Callable[[int], Server]) -> None:
    server = serve(1)
    assert server.sampler.advances()
    assert server.sampler.advances()
    server.ask(seed=1, steps=2)
    until(lambda: server.paris.seeds == [[1]])
    assert server.sampler.advances()
    assert not server.sampler.advances()
    server.step()
    assert server.sampler.advances()


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer another"}])
def test_requires_the_api_key(serve: Callable[[int], Server], headers: dict[str, str]) -> None:
    server = serve(1)
    answer = httpx.post(server.url, json=request_body(), headers=headers, trust_env=False)
    assert answer.status_code == 401
    assert server.paris.seeds == []


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        (request_body(steps=0), "steps", "steps: Input should be greater than or equal to 1."),
        (request_body(steps=1001), "steps", "steps: Input should be less than or equal to 1000."),
        (request_body(steps="4"), "steps", "steps: Input should be a valid integer."),
        (request_body(k=0), "k", "k: Input should be greater than or equal to 1."),
        (request_body(seed=-1), "seed", "seed: Input should be greater than or equal to 0."),
        (
            request_body(seed=2**32),
            "seed",
            "seed: Input should be less than or equal to 4294967295.",
        ),
        (
            request_body(strategy="best"),
            "strategy",
            "strategy: Input should be 'top1', 'topk' or 'full'.",
        ),
        (request_body(format="gif"), "format", "format: Input should be 'png', 'jpeg' or 'webp'."),
        (request_body(preview_every=-1), "preview_every", "preview_every: Input should be greater"),
        (
            request_body(metadata={"seed": 7}),
            "metadata.seed",
            "metadata.seed: Input should be a valid",
        ),
        (request_body(metadata={"": "x"}), "metadata", "The key '' of metadata is not"),
        (request_body(metadata={"a": "é" * 11_000}), "metadata", "metadata has 66009 bytes"),
        (
            request_body(guidance=float("nan")),
            "guidance",
            "guidance: Input should be a finite number.",
        ),
        (request_body(guidance=None), "guidance", "guidance: Input should be a valid number."),
        (
            request_body(prompt="cat " * 40),
            "prompt",
            "The prompt is 42 tokens long, but this model reads",
        ),
        ([], None, "Input should be an object."),
    ],
)
def test_rejects_an_invalid_body_by_field(
    serve: Callable[[int], Server], body: Any, param: str | None, message: str
) -> None:
    answer = AUTHORIZED_CLIENT.post(
        serve(1).url, content=json.dumps(body, ensure_ascii=False).encode(), timeout=60
    )
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["param"] == param
    assert error["message"].startswith(message)


def test_rejects_malformed_requests(serve: Callable[[int], Server]) -> None:
    url = serve(1).url
    assert AUTHORIZED_CLIENT.post(url, content=b"{").status_code == 400
    assert AUTHORIZED_CLIENT.post(url, content=b" " * (PARIS.body_bytes_max + 1)).status_code == 413
    assert AUTHORIZED_CLIENT.post(url, content=iter([b"{}"])).status_code == 411
    assert AUTHORIZED_CLIENT.post(url + "/other", json=request_body()).status_code == 404
    assert AUTHORIZED_CLIENT.get(url).status_code == 404
    assert AUTHORIZED_CLIENT.put(url).status_code == 501


def test_queues_prepared_requests(
    serve: Callable[[int], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(1)
    monkeypatch.setattr(server.paris, "prepared", lambda request: replace(request, seed=9))
    answer = server.ask(seed=1, steps=1)
    until(lambda: server.paris.seeds == [[9]])
    server.paris.open()
    assert answer.result(60)[-1]["type"] == "done"


def test_rejects_too_many_concurrent_requests(
    serve: Callable[[int], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_calls, "_IN_FLIGHT_MAX", 2)
    server = serve(1)
    answers = [server.ask(seed=1, steps=1), server.ask(seed=2, steps=1)]
    assert AUTHORIZED_CLIENT.post(server.url, json=request_body()).status_code == 503
    server.paris.open()
    assert all(answer.result(60)[-1]["type"] == "done" for answer in answers)
    assert AUTHORIZED_CLIENT.post(server.url, json=request_body(), timeout=60).status_code == 200


def test_reuses_a_connection_after_a_picture(serve: Callable[[int], Server]) -> None:
    server = serve(1)
    server.paris.open()
    with server.connect() as connection:
        for _ in range(2):
            connection.sendall(raw_request(steps=1))
            answer = b""
            while not answer.endswith(b"\r\n0\r\n\r\n"):
                answer += connection.recv(65536)
            assert b'"type":"done"' in answer
