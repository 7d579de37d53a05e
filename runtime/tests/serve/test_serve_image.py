"""Tests an image model server in its own process, with the starter model."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest

from bakehouse_runtime.device import serving_dtype
from bakehouse_runtime.image.paris.pipeline import ParisPipeline, ParisRequest
from bakehouse_server import AUTHORIZED_CLIENT
from picture_requests import events, parsed, picture, request_body
from serving import Serving, serve_image_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakehouse_server import BakehouseServer

STARTER = Path(__file__).parents[3] / "models" / "starter-paris"


@pytest.fixture
def serving(server: BakehouseServer, tmp_path: Path) -> Iterator[Serving]:
    running = Serving(server, tmp_path, serve_image_spec(server, tmp_path, STARTER))
    yield running
    running.process.kill()
    running.process.wait()


def test_generates_the_same_pictures_as_the_pipeline(serving: Serving) -> None:
    assert httpx.get(f"{serving.url}/health", trust_env=False).is_success
    answer = AUTHORIZED_CLIENT.post(f"{serving.url}/generate", json=request_body(), timeout=120)
    *steps, done = events(answer)
    assert [step["step"] for step in steps] == [1, 2, 3, 4]
    assert all(sum(weight > 0 for weight in step["expert_weights"]) == 2 for step in steps)
    assert (done["type"], done["media_type"]) == ("done", "image/png")
    assert (done["width"], done["height"]) == (128, 128)
    import torch

    paris = ParisPipeline.from_folder(STARTER, torch.device("cpu"), serving_dtype("cpu"))
    alone = paris.generate([ParisRequest("a red apple on a table", 7, 4, 7.5)])[0]
    assert done["expert_used"] == alone.expert_used
    assert done["routing_confidence"] == pytest.approx(alone.routing_confidence, abs=1e-4)
    assert np.abs(picture(done) - np.asarray(alone.media).astype(int)).max() <= 2


def test_stop_waits_for_the_running_picture(serving: Serving) -> None:
    with AUTHORIZED_CLIENT.stream(
        "POST", f"{serving.url}/generate", json=request_body(), timeout=120
    ) as answer:
        pieces = answer.iter_bytes()
        content = next(pieces)
        assert parsed(content)[0]["step"] == 1
        serving.process.send_signal(signal.SIGTERM)
        content += b"".join(pieces)
    assert parsed(content)[-1]["type"] == "done"
    assert serving.process.wait(60) == 0
    assert serving.server.reports[-1]["type"] == "stopped"


@pytest.mark.soak
def test_exits_if_the_server_no_longer_knows_the_workload(serving: Serving) -> None:
    assert AUTHORIZED_CLIENT.get(f"{serving.url}/health").is_success
    serving.server.faults = [410]
    assert serving.process.wait(60) == 0


@pytest.mark.soak
def test_reports_an_invalid_folder_in_one_sentence(server: BakehouseServer, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "README.md").write_text("nothing")
    running = Serving(server, tmp_path, serve_image_spec(server, tmp_path, tmp_path / "empty"))
    assert running.process.wait(60) == 1
    assert server.reports[-1]["type"] == "failed"
    assert "it is not a Paris model" in server.reports[-1]["message"]


# Runs `serve` with a second step that never ends, and with short timeouts.
HANGS = """
import sys, threading
from bakehouse_runtime.cli import main
from bakehouse_runtime.image.paris.pipeline import ParisPipeline
from bakehouse_runtime.serve import image, serving

serving._CHECK_INTERVAL_S = serving._POLL_READY_S = 0.01
image.CLOSE_S = 1
step = ParisPipeline.step

def hanging(self, samplings):
    if samplings[0].steps_done == 1:
        threading.Event().wait()
    step(self, samplings)

ParisPipeline.step = hanging
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.soak
def test_a_hanging_sampler_ends_its_process(server: BakehouseServer, tmp_path: Path) -> None:
    spec = serve_image_spec(server, tmp_path, STARTER)
    running = Serving(server, tmp_path, spec, [sys.executable, "-c", HANGS])
    try:
        with (
            pytest.raises(httpx.HTTPError),
            AUTHORIZED_CLIENT.stream(
                "POST", f"{running.url}/generate", json=request_body(), timeout=60
            ) as answer,
        ):
            events(answer)
        assert running.process.wait(60) != 0
        assert "hangs" in server.of_type("failed")[0]["message"]
    finally:
        running.process.kill()
        running.process.wait()
