from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from bakehouse_runtime import probe as probe_module
from bakehouse_runtime.cli import main
from bakehouse_runtime.probe import has_c_compiler, probe

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch says that it has one, which nothing is computed on."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA L4")
    monkeypatch.setattr(probe_module, "has_c_compiler", lambda: True)
    monkeypatch.setattr(probe_module, "_compute", lambda _: None)


def test_a_machine_without_a_gpu_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["probe"]) == 1
    assert capsys.readouterr().err == "PyTorch finds no GPU on this machine that it can use.\n"


@pytest.mark.usefixtures("one_gpu")
def test_a_gpu_that_computes_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe"]) == 0
    assert capsys.readouterr().out == "NVIDIA L4\n"


@pytest.mark.usefixtures("one_gpu")
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("no kernel image is available\nCompile with ...")

    monkeypatch.setattr(probe_module, "_compute", fail)
    with pytest.raises(
        Exception, match=r"cannot compute on NVIDIA L4: no kernel image is available$"
    ):
        probe()
    monkeypatch.setattr(probe_module, "has_c_compiler", lambda: False)
    with pytest.raises(Exception, match=r"no C compiler.* install gcc"):
        probe()


def test_a_compiler_is_found_as_triton_finds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not has_c_compiler()
    (tmp_path / "gcc").write_text("#!/bin/sh\n")
    (tmp_path / "gcc").chmod(0o755)
    assert has_c_compiler()


def test_the_numbers_are_those_that_are_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "weights_dtype", lambda _: torch.bfloat16)
    probe_module._compute("cpu")
