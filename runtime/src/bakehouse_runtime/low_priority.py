"""Lowers the scheduling priority of background work."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

_POLL_S = 0.2
_TASKS = Path("/proc/self/task")


def lower_priority() -> None:
    """Runs all threads of this process at idle priority from now on; on Linux in the idle class,
    which is weaker than nice 19 (docs/decisions/cpu-scheduling-of-workloads.md)."""
    if sys.platform != "linux":
        os.nice(19)
        return
    # If the kernel schedules sessions first, only the session's priority counts.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text("19")
    for task in _TASKS.iterdir():
        # The thread may have ended.
        with suppress(ProcessLookupError):
            os.sched_setscheduler(int(task.name), os.SCHED_IDLE, os.sched_param(0))


def lower_priority_after(seconds: float) -> None:
    """Lowers the priority once this process has used `seconds` of CPU time."""
    used = time.process_time()

    def watch() -> None:
        while time.process_time() - used < seconds:
            time.sleep(_POLL_S)
        lower_priority()

    threading.Thread(target=watch, daemon=True).start()
