"""Writes the trainings' reports to the terminal and a log."""

from __future__ import annotations

import json
import math
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import torch

from bakehouse_runtime.device import choose_device


class ConsoleReporter:
    """Writes one JSON line per report to `log.jsonl` and stdout; stops on SIGTERM and SIGINT, and
    at the end of the session."""

    # In time.monotonic(), for all steps of this process.
    ends_at = math.inf

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log_file = (folder / "log.jsonl").open("a", buffering=1)
        self._stopped = False
        self._write("machine", device=choose_device("auto"), threads=torch.get_num_threads())
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    @property
    def stop_requested(self) -> bool:
        return self._stopped or time.monotonic() > self.ends_at

    def _stop(self, *_: object) -> None:
        self._stopped = True

    def _write(self, kind: str, **values: object) -> None:
        line = json.dumps({"at": round(time.time(), 1), "type": kind, **values})
        self._log_file.write(line + "\n")
        print(line, flush=True)

    def phase(self, phase: str) -> None:
        self._write("phase", phase=phase)

    def progress(
        self, done: float, total: float, unit: str, remaining_seconds: float | None = None
    ) -> None:
        self._write("progress", done=done, total=total, unit=unit, remaining=remaining_seconds)

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        self._write("metrics", step=step, **{name: round(v, 6) for name, v in values.items()})

    def log(self, line: str) -> None:
        self._write("log", line=line)

    def checkpoint(self, step: int) -> None:
        self._write("checkpoint", step=step)

    def samples(self, written: Path) -> None:
        self._write("samples", path=written.name)
