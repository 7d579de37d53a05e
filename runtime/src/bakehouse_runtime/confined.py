"""Runs work on untrusted files in a child process with limits.

A data file can be crafted to unpack to any size, and a chat template is a program. A process that
exceeds its memory or time is killed, and the caller raises a one-sentence error. The module imports
no heavy libraries, so that the limits are set before any library is loaded.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from typing import TYPE_CHECKING, TypeVar

from .errors import PlainError, StopRequested

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

Result = TypeVar("Result")

# Enough for the largest file with rows that can be uploaded; a text file is read whole. A small
# machine allows an eighth of its memory, because a server runs up to four reads concurrently
# (limit-reads.ts).
MEMORY_BYTES = 4 << 30
# Enough for a few million rows. The server's own timeout is a little longer (read-data.ts).
TIME_LIMIT_S = 1800.0
# CPU seconds for rendering one conversation with a chat template; a normal one takes milliseconds.
# ITIMER_VIRTUAL kills a process that exceeds it.
TEMPLATE_LIMIT_S = 5.0
_POLL_S = 0.1


def run_confined(
    what: str,
    work: Callable[..., Result],
    *arguments: object,
    stop_requested: Callable[[], bool] = lambda: False,
    memory_bytes: int | None = None,
    limit_s: float | None = None,
) -> Result:
    """Calls `work`, a module-level function, in a process with limits, and returns its result or
    raises its error. `what` is the name of the file for error messages.

    Raises PlainError if the process exceeds its memory or time, and StopRequested.
    """
    memory_bytes = memory_bytes or memory_limit()
    limit_s = limit_s or TIME_LIMIT_S
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    call = pickle.dumps((work, arguments))
    process = context.Process(target=_child, args=(sender, call, memory_bytes), daemon=True)
    process.start()
    sender.close()
    deadline = time.monotonic() + limit_s
    try:
        while not receiver.poll(_POLL_S):
            if stop_requested():
                raise StopRequested
            if time.monotonic() > deadline:
                raise PlainError(
                    f"Reading {what} took longer than {limit_s / 60:.0f} minutes: use a smaller "
                    "file, or a base model with a simpler chat template."
                )
        succeeded, outcome = receiver.recv()
    # The process ended without an answer: native libraries abort when memory runs out.
    except EOFError:
        process.join()
        if process.exitcode == -signal.SIGVTALRM:
            raise _endless_template() from None
        raise _too_much(what, memory_bytes) from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if succeeded:
        return outcome
    raise _too_much(what, memory_bytes) if isinstance(outcome, MemoryError) else outcome


def memory_limit() -> int:
    """Returns the bytes that reading may use on this machine."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(MEMORY_BYTES, machine // 8)


def _endless_template() -> PlainError:
    return PlainError(
        f"The base model's chat template takes longer than {TEMPLATE_LIMIT_S:g} seconds for one "
        "conversation: use a base model with a simpler chat template."
    )


def _too_much(what: str, memory_bytes: int) -> PlainError:
    return PlainError(
        f"Reading {what} takes more than {memory_bytes / (1 << 30):.1f} GB of memory: use a "
        "smaller file, or one with shorter texts."
    )


def _child(sender: Connection, call: bytes, memory_bytes: int) -> None:
    # A stop signal reaches the whole process group; the parent handles it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory_bytes)
    exit_with_parent()
    try:
        work, arguments = pickle.loads(call)
        outcome = (True, work(*arguments))
    except PlainError as error:
        outcome = (False, error)
    except MemoryError:
        outcome = (False, MemoryError())
    except Exception as error:
        traceback.print_exc()
        outcome = (False, RuntimeError(f"{type(error).__name__}: {error}"))
    sender.send(outcome)


def _limit_memory(memory_bytes: int) -> None:
    import resource

    # Libraries that reserve memory per core would exhaust the limit on a large machine.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bytes_ = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    # macOS accepts the limit but does not enforce it; only the readers' own limits apply there.
    resource.setrlimit(resource.RLIMIT_DATA, (bytes_, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def exit_with_parent() -> None:
    """Exits this process when its parent exits, because nothing would read its result."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
