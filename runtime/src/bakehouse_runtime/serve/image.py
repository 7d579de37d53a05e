"""`serve` for pictures: one model in this process, its sampler, and the calls in front of it."""

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
    """Serves until it is stopped. Returns the exit status."""
    return serve(spec, lambda inputs: ImageServer(spec, inputs))


class ImageServer:
    """Generates for clients that send the API key."""

    def __init__(self, spec: ServeImageSpec, inputs: dict[str, Path]) -> None:
        """Starts to answer, and to load the model: `/health` says when it is there."""
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
        """Raises what the sampler failed with, loading included: the workload reports it."""
        self._sampler.raise_if_ended()
        return None

    def in_flight(self) -> int:
        """Requests being generated, waiting, or being answered."""
        return self._calls.in_flight

    def advances(self) -> bool:
        """Whether the sampler makes progress."""
        return self._sampler.advances()

    def close(self) -> None:
        """Ends the sampler; waiting requests get an error. Where its step hangs, or the model is
        still being loaded, this process ends with it: nothing else can end a thread, and a GPU may
        not be left before."""
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
