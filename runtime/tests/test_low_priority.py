"""Tests processes that lower their priority."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bakehouse_runtime import validate
from bakehouse_runtime.confined import run_confined
from bakehouse_runtime.low_priority import lower_priority, lower_priority_after

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Scheduling classes are Linux's")


TASKS = Path("/proc/self/task")


def classes_of_threads() -> set[int]:
    classes = set()
    for task in TASKS.iterdir():
        # The thread that lowered the priority may have ended.
        with suppress(ProcessLookupError):
            classes.add(os.sched_getscheduler(int(task.name)))
    return classes


def lowered_by_itself() -> tuple[set[int], set[int]]:
    # The kernel lowers a whole session, so this must not be the session of the tests.
    os.setsid()
    done = threading.Event()
    threading.Thread(target=done.wait, daemon=True).start()
    before = classes_of_threads()
    lower_priority()
    after = classes_of_threads()
    done.set()
    return before, after


def lowered_after_work() -> set[int]:
    os.setsid()
    lower_priority_after(0.01)
    while classes_of_threads() != {os.SCHED_IDLE}:
        pass
    return classes_of_threads()


def seconds_until_priority_is_lowered() -> float:
    used = time.process_time()

    def never_estimates(*_: object, **__: object) -> float:
        while classes_of_threads() != {os.SCHED_IDLE}:
            pass
        return time.process_time() - used

    validate.read_as_training_would = never_estimates
    return validate.read_at_low_priority(None)  # type: ignore[arg-type, return-value]


def session_of_a_reader() -> int:
    validate.read_as_training_would = lambda *_, **__: os.getsid(0)
    return validate.read_at_low_priority(None)  # type: ignore[arg-type, return-value]


def test_lowers_the_priority_of_all_threads() -> None:
    assert run_confined("x", lowered_by_itself) == ({os.SCHED_OTHER}, {os.SCHED_IDLE})


def test_lowers_the_priority_after_enough_cpu_time() -> None:
    assert run_confined("x", lowered_after_work) == {os.SCHED_IDLE}


def test_lowers_the_priority_without_an_early_estimate() -> None:
    assert run_confined("x", seconds_until_priority_is_lowered) < 10


def test_reads_a_file_in_a_session_of_its_own() -> None:
    assert run_confined("x", session_of_a_reader) != os.getsid(0)


def test_the_session_that_runs_the_tests_keeps_its_priority() -> None:
    autogroup = Path("/proc/self/autogroup")
    if not autogroup.exists():
        pytest.skip("This kernel does not share the processor among sessions")
    before = autogroup.read_text()
    run_confined("x", lowered_by_itself)
    assert autogroup.read_text() == before
