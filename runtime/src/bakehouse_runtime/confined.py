"""Work on what strangers have made, in a process of its own that may take only so much.

A data file can be made so that it unpacks to any size, and a chat template is a program. A process
that takes too much memory or time is ended, and whoever started it says so in one sentence. It
imports nothing heavy, so that the limits hold before anything is loaded.
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

# Enough for the largest file with rows that can be uploaded; a text file is read whole. A
# small machine gives an eighth of its memory: a server runs up to four reads at once
# (share-reads.ts).
MEMORY_BYTES = 4 << 30
# A few million rows. The server gives up a little later (read-data.ts).
TIME_LIMIT_S = 1800.0
# Seconds of the processor for what a chat template writes of one conversation: an honest one takes
# milliseconds. The system ends a process that uses up ITIMER_VIRTUAL.
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
    """Calls `work`, a function of a module, in a process with limits, and returns or raises what it
    does; `what` names the file to people.

    Raises PlainError where the process took more memory or time than it may, and StopRequested.
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
    # It ended without an answer: libraries that are not Python's abort where memory ends.
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
    """Bytes that reading may take on this machine."""
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
    # A stop reaches the whole process group; the parent decides what it means.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory_bytes)
    end_with_parent()
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

    # Libraries that keep memory ready for each core would use up the limit on a large machine.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bytes_ = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    # macOS takes the limit and does not keep to it: there the readers' own limits have to do.
    resource.setrlimit(resource.RLIMIT_DATA, (bytes_, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """From now on this process ends with the one that has started it: nobody waits for the answer
    of one whose parent was killed."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
