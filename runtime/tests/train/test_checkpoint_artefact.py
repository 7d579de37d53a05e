from __future__ import annotations

import shutil
import tarfile
from typing import TYPE_CHECKING

from bakehouse_runtime.protocol import WorkloadInput
from bakehouse_runtime.train.cadence import Cadence
from bakehouse_runtime.train.checkpoint_artefact import CheckpointArtefact
from bakehouse_runtime.train.lora.checkpoints import last_checkpoint
from bakehouse_runtime.workload import CHECKPOINT_FILE, CHECKPOINT_INPUT, workload
from train_spec import finish, losses, start, train_spec, when

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def test_uploads_at_a_stop_if_the_work_folder_is_deleted(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = train_spec(server, tmp_path, tied_model, epochs=8)
    gone = spec.model_copy(update={"keeps_work_dir": False})

    def stop() -> None:
        server.command = "stop"

    when(server, "metrics", 10, stop)
    assert finish(start(gone)) == 0
    saved = last_checkpoint(tmp_path / "work" / "checkpoints")
    assert saved is not None
    stopped = server.reports[-1]
    assert (stopped["type"], stopped["step"]) == ("stopped", saved.step)
    with tarfile.open(server.artefacts / CHECKPOINT_FILE) as archive:
        assert f"checkpoints/{saved.path.name}/whole.json" in archive.getnames()


def test_resumes_from_the_servers_checkpoint_on_another_machine(
    server: BakehouseServer, tmp_path: Path, tied_model: Path
) -> None:
    spec = train_spec(server, tmp_path, tied_model)

    def stop() -> None:
        server.command = "stop"

    when(server, "metrics", 5, stop)
    assert finish(start(spec)) == 0
    # A stop uploads nothing if the work folder stays.
    assert not (server.artefacts / CHECKPOINT_FILE).exists()
    server.command = "continue"
    work_dir = tmp_path / "work"
    saved = last_checkpoint(work_dir / "checkpoints")
    assert saved is not None
    with workload(spec) as work:
        artefact = CheckpointArtefact(work, Cadence(0.0, 0.0, 0.0))
        # The report of a checkpoint precedes its upload, so that the server knows its step.
        requests_before: list[int] = []
        when(server, "checkpoint", saved.step, lambda: requests_before.append(len(server.requests)))
        work.reporter.checkpoint(saved.step)
        artefact.upload([saved.path, work_dir / "base_evaluation.json"])
    (stored,) = [at for at, (_, path, _) in enumerate(server.requests) if CHECKPOINT_FILE in path]
    assert requests_before[0] <= stored
    shutil.rmtree(work_dir)
    shutil.rmtree(tmp_path / "inputs")
    kept = server.add_input(server.artefacts / CHECKPOINT_FILE, CHECKPOINT_FILE)
    given = WorkloadInput.model_validate({"name": CHECKPOINT_INPUT, "files": [kept]})
    work_dir.mkdir()
    resumed = spec.model_copy(update={"inputs": [*spec.inputs, given]})
    assert finish(start(resumed)) == 0
    assert server.reports[-1]["type"] == "result"
    assert sorted(losses(server)) == list(range(1, 33))
    assert all(len(set(values)) == 1 for values in losses(server).values())
    assert f"step {saved.step}." in "".join(one["line"] for one in server.of_type("log"))
