"""`serve` for pictures: one model in this process, its sampler, and the HTTP server."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..device import choose_device, serving_dtype
from ..errors import PlainError
from ..server_client import ServerClient
from .engine import CLOSE_S
from .image_calls import ImageCalls
from .image_engines import image_engines
from .lora_files import LORA_TIMEOUT_S, LoraFiles
from .sampler import Sampler
from .serving import serve

if TYPE_CHECKING:
    from ..image.pipeline import Pipeline
    from ..protocol import ServeImageSpec


def serve_image(spec: ServeImageSpec) -> int:
    """Serves until stopped. Returns the exit status."""
    return serve(spec, lambda inputs: ImageServer(spec, inputs))


class ImageServer:
    """Generates media for clients that send the API key."""

    def __init__(self, spec: ServeImageSpec, inputs: dict[str, Path]) -> None:
        """Starts to answer and to load the model; `/health` reports when it is loaded."""
        engine = image_engines[spec.engine]
        self._client = ServerClient(
            spec.workload_id, spec.server.base_url, spec.server.token, LORA_TIMEOUT_S
        )
        loras = LoraFiles(self._client, Path(spec.work_dir) / "loras")
        self._sampler = Sampler(lambda: _load(spec, inputs), spec.parallel_requests)
        self._calls = ImageCalls((spec.host, spec.port), spec.api_key, self._sampler, engine, loras)
        self.base_url = f"http://{spec.host}:{self._calls.server_port}"
        threading.Thread(target=self._calls.serve_forever, name="calls", daemon=True).start()

    def ended(self) -> str | None:
        """Raises the sampler's error, including load errors; the workload reports it."""
        self._sampler.raise_if_ended()
        return None

    def in_flight(self) -> int:
        """Returns the number of requests that are generated, queued or answered."""
        return self._calls.in_flight

    def advances(self) -> bool:
        return self._sampler.advances()

    def close(self) -> None:
        """Ends the sampler; queued requests receive an error. If its step hangs, or the model is
        still loading, an alarm ends this process: a thread cannot be killed, and it may hold the
        GPU."""
        if not self._sampler.close(CLOSE_S):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(CLOSE_S)
        until = time.monotonic() + 1
        while self._calls.in_flight > 0 and time.monotonic() < until:
            time.sleep(0.02)
        self._calls.shutdown()
        self._calls.server_close()
        self._client.close()


def _load(spec: ServeImageSpec, inputs: dict[str, Path]) -> Pipeline[Any, Any]:
    if "model" not in inputs:
        raise PlainError("The spec has no input model.")
    torch.set_num_threads(spec.threads)
    device = choose_device("cuda" if spec.gpus > 0 else "cpu")
    return image_engines[spec.engine].load(
        inputs["model"], torch.device(device), serving_dtype(device)
    )
