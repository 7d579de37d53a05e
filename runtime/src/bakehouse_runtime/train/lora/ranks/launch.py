"""Starts the processes that train one run, and ends the run if one of them dies.

The first process is the run's own: it handles the server and the signals. The others are its
children, in its process group (docs/decisions/multi-gpu-training.md).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from ....confined import exit_with_parent
from ....errors import MachineError, PlainError, StopRequested
from .group import ALONE, Ranks, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from ....workload import Workload

# When a process dies, others may see a closed connection before the cause is known, or keep waiting
# for their GPU.
_CAUSE_KNOWN_WITHIN_S = 10.0
_REPORTED_WITHIN_S = 10.0
_ENDS_WITHIN_S = 20.0


@contextlib.contextmanager
def train_together(work: Workload, count: int, build: dict[str, Any]) -> Iterator[Ranks]:
    """Starts the other processes of a run of `count`, which build their trainers from `build`,
    joins them, and ends them. Raises the error that ended one of them."""
    if count == 1:
        yield ALONE
        return
    store = open_store()
    followers = _Followers(work, count, store.port, build)
    try:
        ranks = Ranks(0, count, followers.connections)
        ranks.join(build["device"], store)
        try:
            yield ranks
        except StopRequested:
            followers.dismiss(ranks)
            raise
        followers.dismiss(ranks)
    except (PlainError, StopRequested):
        raise
    except Exception as error:
        cause = followers.cause()
        if cause is None:
            raise
        raise cause from error
    finally:
        followers.kill()


class _Followers:
    """The other processes of a run."""

    def __init__(self, work: Workload, count: int, port: int, build: dict[str, Any]) -> None:
        self._work = work
        self._count = count
        self._cause: Exception | None = None
        self._has_died = threading.Event()
        # Set when this process has left its training and can end the others itself.
        self._has_left = threading.Event()
        self._is_dismissed = False
        context = multiprocessing.get_context("spawn")
        self._processes: list[SpawnProcess] = []
        self.connections: list[Connection] = []
        for rank in range(1, count):
            ours, theirs = context.Pipe()
            arguments = (Ranks(rank, count), port, theirs, build)
            process = context.Process(target=_start, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self.connections.append(ours)
        threading.Thread(target=self._watch, name="ranks", daemon=True).start()

    def dismiss(self, ranks: Ranks) -> None:
        """Ends the other processes in order; all must be idle."""
        for one in self.connections:
            one.send(None)
        self._is_dismissed = True
        ranks.leave()
        for process in self._processes:
            process.join(_ENDS_WITHIN_S)

    def cause(self) -> Exception | None:
        """Returns the error of a process that has died, or None if all are alive."""
        self._has_left.set()
        self._has_died.wait(_CAUSE_KNOWN_WITHIN_S)
        return self._cause

    def kill(self) -> None:
        self._is_dismissed = True
        self._has_left.set()
        for process in self._processes:
            process.kill()
            process.join()

    def _watch(self) -> None:
        ended = wait([process.sentinel for process in self._processes])
        if self._is_dismissed:
            return
        rank = next(rank for rank, one in enumerate(self._processes, 1) if one.sentinel == ended[0])
        self._cause = self._cause_of(rank)
        self._has_died.set()
        # The main thread may be blocked waiting for the dead process, and cannot be woken.
        if not self._has_left.wait(_CAUSE_KNOWN_WITHIN_S):
            print(self._work.fail(self._cause), file=sys.stderr, flush=True)
            self._work.reporter.wait_until_accepted(_REPORTED_WITHIN_S)
            os._exit(1)

    def _cause_of(self, rank: int) -> Exception:
        """Returns the error that the process sent before it died, or its exit status as an
        error."""
        process, connection = self._processes[rank - 1], self.connections[rank - 1]
        with contextlib.suppress(EOFError, OSError):
            if connection.poll():
                return connection.recv()
        process.join()
        status = process.exitcode or 0
        name = f"Process {rank + 1} of {self._count}"
        if status < 0:
            return MachineError(f"{name} was ended by {signal.Signals(-status).name}.")
        return RuntimeError(f"{name} ended with status {status}")


def _start(ranks: Ranks, port: int, leader: Connection, build: dict[str, Any]) -> None:
    # A stop signal reaches the whole process group; the first process handles it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_with_parent()
    from .follow import follow

    follow(ranks, port, leader, build)
