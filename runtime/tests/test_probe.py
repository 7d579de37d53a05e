from __future__ import annotations

import pytest
import torch

from bakehouse_runtime import probe as probe_module
from bakehouse_runtime.cli import main
from bakehouse_runtime.probe import probe


@pytest.fixture
def one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulates one GPU; nothing is computed on it."""
    monkeypatch.setattr(torch.version, "cuda", "13.2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA L4")
    monkeypatch.setattr(probe_module, "_compute", lambda _: None)


def test_reports_a_machine_without_a_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["probe"]) == 1
    assert capsys.readouterr().err == "PyTorch finds no GPU on this machine that it can use.\n"


@pytest.mark.usefixtures("one_gpu")
def test_names_a_working_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe"]) == 0
    assert capsys.readouterr().out == "NVIDIA L4\n"


@pytest.mark.usefixtures("one_gpu")
def test_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("no kernel image is available\nCompile with ...")

    monkeypatch.setattr(probe_module, "_compute", fail)
    with pytest.raises(
        Exception, match=r"cannot compute on NVIDIA L4: no kernel image is available$"
    ):
        probe()


@pytest.mark.usefixtures("one_gpu")
@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 MiB."),
        torch.AcceleratorError("CUDA error: out of memory\nCUDA kernel errors might be ..."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
)
def test_accepts_a_gpu_filled_by_other_work(
    monkeypatch: pytest.MonkeyPatch, error: RuntimeError
) -> None:
    def fail(_: str) -> None:
        raise error

    monkeypatch.setattr(probe_module, "_compute", fail)
    assert probe() == ["NVIDIA L4"]


@pytest.mark.usefixtures("one_gpu")
def test_skips_gpus_with_a_cpu_build_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert probe() == []


def test_computes_the_expected_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "weights_dtype", lambda _: torch.bfloat16)
    probe_module._compute("cpu")
