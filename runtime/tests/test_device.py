"""Tests the dtypes and memory measurements of devices."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch
from trl.kernels import chunked_logprob

from bakehouse_runtime.device import (
    has_c_compiler,
    peak_memory,
    serving_dtype,
    weights_dtype,
)
from bakehouse_runtime.train.lora import trainer
from serving import ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path


def test_serves_in_bfloat16_on_a_cpu_that_supports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    capabilities: dict[str, bool] = {}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert serving_dtype("cpu") == torch.float32
    for name in ("avx512_bf16", "amx_bf16", "bf16"):
        capabilities = {name: True}
        assert serving_dtype("cpu") == torch.bfloat16
    assert weights_dtype("cpu") == torch.float32, "what is trained stays exact"


def test_finds_a_c_compiler_where_triton_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not has_c_compiler()
    (tmp_path / "gcc").write_text("#!/bin/sh\n")
    (tmp_path / "gcc").chmod(0o755)
    assert has_c_compiler()


def test_trains_without_triton_if_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunked_logprob, "_TRITON_AVAILABLE", True)
    for found in (True, False):
        monkeypatch.setattr(trainer, "has_c_compiler", lambda found=found: found)
        trainer._leave_out_triton_without_compiler()
        assert chunked_logprob._use_triton(torch.device("cuda")) is found


def test_peak_memory_counts_memory_that_was_freed() -> None:
    held = bytearray(os.urandom(1)) * 500_000_000
    said = subprocess.check_output(
        [
            sys.executable,
            "-c",
            "from bakehouse_runtime.device import peak_memory\n"
            "held = bytearray(b'x') * 200_000_000\n"
            "del held\n"
            "print(peak_memory('cpu'))",
        ],
        env=ENVIRONMENT,
    )
    assert len(held) > 400_000_000 > int(said) > 200_000_000


def test_peak_memory_of_a_gpu_includes_memory_of_cuda_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (70, 80))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 8)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 50)
    assert peak_memory("cuda") == 52


_HEAPS = """
import ctypes, sys, threading
from bakehouse_runtime.device import use_single_malloc_arena
if sys.argv[1] == "shared":
    use_single_malloc_arena()
def allocate():
    kept.append(ctypes.create_string_buffer(1000))
    done.wait()
kept, done = [], threading.Event()
threads = [threading.Thread(target=allocate) for _ in range(3)]
for thread in threads:
    thread.start()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
out = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, ctypes.c_void_p(out))
libc.fclose(ctypes.c_void_p(out))
done.set()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="The heaps are glibc's")
@pytest.mark.parametrize("how", ["shared", "apart"])
def test_threads_share_one_heap_on_request(how: str, tmp_path: Path) -> None:
    info = tmp_path / "info.xml"
    command = [sys.executable, "-c", _HEAPS, how, str(info)]
    subprocess.run(command, check=True, env=ENVIRONMENT)
    heaps = info.read_text().count("<heap nr=")
    assert (heaps == 1) == (how == "shared")
