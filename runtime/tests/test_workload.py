from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime.device import require_devices
from bakehouse_runtime.errors import MachineError, PlainError
from bakehouse_runtime.protocol import ServeTextSpec
from bakehouse_runtime.workload import pull, workload
from serving import serve_spec

if TYPE_CHECKING:
    from bakehouse_server import BakehouseServer


SOURCE = str(Path(__file__).parent.parent / "src")


def out_of_memory(kind: str) -> Exception:
    import torch

    if kind == "gpu":
        return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    if kind == "cpu":
        return RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes.")
    return MemoryError()


@pytest.mark.parametrize("kind", ["gpu", "cpu", "python"])
@pytest.mark.parametrize(
    ("remedy", "said"),
    [
        (["choose a smaller rank"], "choose a smaller rank."),
        ([], "deploy a smaller model, or on a machine with more of it."),
    ],
)
def test_reports_out_of_memory_with_a_remedy(
    server: BakehouseServer, tmp_path: Path, kind: str, remedy: list[str], said: str
) -> None:
    spec: Any = SimpleNamespace(**server.workload(tmp_path, []))
    spec.server = SimpleNamespace(**spec.server)
    with pytest.raises(PlainError, match="The memory is not enough"), workload(spec, *remedy):
        raise out_of_memory(kind)
    (failed,) = server.of_type("failed")
    assert failed["message"] == f"The memory is not enough: {said}"


def test_reports_an_unexpected_error_with_its_name(server: BakehouseServer, tmp_path: Path) -> None:
    spec: Any = SimpleNamespace(**server.workload(tmp_path, []), kind="serve")
    spec.server = SimpleNamespace(**spec.server)
    with pytest.raises(RuntimeError), workload(spec):
        raise RuntimeError("out of flour")
    (failed,) = server.of_type("failed")
    assert failed["message"] == "The workload failed unexpectedly (RuntimeError: out of flour)."


FULL = "No space left on device"


def full_disk(kind: str) -> Exception:
    full = OSError(errno.ENOSPC, FULL, "/data/workloads/w-1/work/adapter")
    if kind == "torch":
        error = RuntimeError("[enforce fail at inline_container.cc] unexpected pos 64 vs 0")
        error.__context__ = full
        return error
    if kind == "rust":
        return RuntimeError(f"Error while serializing: I/O error: {FULL} (os error 28)")
    return full


@pytest.mark.parametrize("kind", ["python", "torch", "rust"])
def test_machine_errors_do_not_fail_the_work(
    server: BakehouseServer, tmp_path: Path, kind: str
) -> None:
    spec: Any = SimpleNamespace(**server.workload(tmp_path, []), kind="serve")
    spec.server = SimpleNamespace(**spec.server)
    said = f"^The machine could not go on: {FULL}.$"
    with pytest.raises(MachineError, match=said), workload(spec):
        raise full_disk(kind)
    assert server.of_type("failed") == []


def test_reports_a_librarys_error_about_invalid_files(
    server: BakehouseServer, tmp_path: Path
) -> None:
    spec: Any = SimpleNamespace(**server.workload(tmp_path, []), kind="serve")
    spec.server = SimpleNamespace(**spec.server)
    with pytest.raises(OSError, match="no config"), workload(spec):
        raise OSError("there is no config.json")
    assert len(server.of_type("failed")) == 1


def test_rejects_other_gpus_and_torchrun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(PlainError, match="sees 2 GPUs, and the run trains on 1"):
        require_devices("cuda")
    require_devices("cuda", 2)
    require_devices("cpu")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    require_devices("cuda")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(PlainError, match="start it without torchrun"):
        require_devices("cpu")
    monkeypatch.delenv("WORLD_SIZE")
    monkeypatch.setenv("PET_NNODES", "2")
    with pytest.raises(PlainError, match="trains on one node"):
        require_devices("cpu")


def test_pull_executes_its_command_unless_stopped(server: BakehouseServer, tmp_path: Path) -> None:
    inputs = [{"name": "dataset", "files": [server.add_input(b"rows", "rows.csv")]}]
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(serve_spec(server, tmp_path, inputs)))
    rows = str(tmp_path / "inputs/dataset/rows.csv")

    def pull() -> str:
        words = ["pull", "--cache", str(tmp_path / "cache"), str(spec), "cat", "--", rows]
        command = [sys.executable, "-m", "bakehouse_runtime", *words]
        env = {"PYTHONPATH": SOURCE, "PATH": os.environ["PATH"]}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        return done.stdout

    assert pull() == "rows"
    server.command = "stop"
    assert pull() == ""


@pytest.mark.parametrize(
    ("lost", "status", "begins"),
    [("checkpoint", 409, True), ("checkpoint", 422, False), ("dataset", 409, False)],
)
def test_starts_over_if_the_server_lost_the_checkpoint(
    server: BakehouseServer, tmp_path: Path, lost: str, status: int, begins: bool
) -> None:
    inputs = [
        {"name": "dataset", "files": [server.add_input(b"rows", "rows.csv")]},
        {"name": "checkpoint", "files": [server.add_input(b"half done", "checkpoint.tar")]},
    ]
    sha256 = next(one for one in inputs if one["name"] == lost)["files"][0]["sha256"]
    server.refused[sha256] = status
    spec = ServeTextSpec.model_validate(serve_spec(server, tmp_path, inputs))
    if begins:
        assert pull(spec, tmp_path / "cache")
        assert (tmp_path / "inputs/dataset/rows.csv").read_bytes() == b"rows"
        assert not (tmp_path / "inputs/checkpoint/checkpoint.tar").exists()
        (note,) = server.of_type("log")
        assert "the server has lost the checkpoint" in note["line"]
    else:
        with pytest.raises(PlainError, match=f"refused GET .* with {status}"):
            pull(spec, tmp_path / "cache")
