"""Starts the processes that train one run, and ends it where one of them dies.

The process of the run is the first of them: it has the server and the signals. The others are its
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

from ....confined import end_with_parent
from ....errors import MachineError, PlainError, StopRequested
from .group import ALONE, Ranks, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from ....workload import Workload

# Where one process dies another sees a closed connection, perhaps before it is known who has died;
# or nothing at all, waiting for its GPU.
_CAUSE_KNOWN_WITHIN_S = 10.0
_REPORTED_WITHIN_S = 10.0
_ENDS_WITHIN_S = 20.0


@contextlib.contextmanager
def train_together(work: Workload, count: int, build: dict[str, Any]) -> Iterator[Ranks]:
    """Starts the other processes of a run of `count`, which build their trainers by `build`, joins
    them, and ends them. Raises what has ended one of them."""
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
        # That this process has left its training, and ends the others if it has to.
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
        """Ends them in order: none is in the middle of anything."""
        for one in self.connections:
            one.send(None)
        self._is_dismissed = True
        ranks.leave()
        for process in self._processes:
            process.join(_ENDS_WITHIN_S)

    def cause(self) -> Exception | None:
        """What one of them has died of; None where they live."""
        self._has_left.set()
        self._has_died.wait(_CAUSE_KNOWN_WITHIN_S)
        return self._cause

    def kill(self) -> None:
        """Ends those that are still there, whatever they do."""
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
        # It may wait for the one that has died, and cannot be woken.
        if not self._has_left.wait(_CAUSE_KNOWN_WITHIN_S):
            print(self._work.fail(self._cause), file=sys.stderr, flush=True)
            self._work.reporter.wait_until_accepted(_REPORTED_WITHIN_S)
            os._exit(1)

    def _cause_of(self, rank: int) -> Exception:
        """What the process has sent before it died, or how the system has ended it."""
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
    # A stop reaches the whole process group; the first process decides what it means.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    from .follow import follow

    follow(ranks, port, leader, build)
