"""The loop of all processes of a run except the first, whose calls they repeat."""

from __future__ import annotations

import contextlib
import os
import traceback
from typing import TYPE_CHECKING, Any

import torch

from ....device import use_all_cores, use_single_malloc_arena
from ....errors import (
    MachineError,
    PlainError,
    StoppedEarly,
    StopRequested,
    is_out_of_memory,
    system_failure_reason,
)
from ..trainer import build_trainer
from .callback import FollowingCallback
from .group import connect_store

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from .group import Ranks


def follow(ranks: Ranks, port: int, leader: Connection, build: dict[str, Any]) -> None:
    """Mirrors the calls of the first process until it ends the run. Sends any fatal error to it."""
    try:
        use_single_malloc_arena()
        use_all_cores(ranks.count)
        ranks.join(build["device"], connect_store(port))
        trainer = build_trainer(**build, ranks=ranks, callbacks=[FollowingCallback(ranks)])
        # Dropout must differ between processes.
        torch.manual_seed(build["spec"].data.seed + ranks.rank)
        while (call := leader.recv()) is not None:
            method, arguments = call
            with contextlib.suppress(StopRequested, StoppedEarly):
                getattr(trainer, method)(*arguments)
        ranks.leave()
    except Exception as error:
        traceback.print_exc()
        leader.send(_to_send(error))
        # Leaving a process group midway may block the interpreter's exit.
        os._exit(1)


def _to_send(error: Exception) -> Exception:
    """Converts an error to a picklable error with the same meaning."""
    if isinstance(error, PlainError):
        return error
    if is_out_of_memory(error):
        return MemoryError()
    trouble = system_failure_reason(error)
    if trouble is not None:
        return MachineError(f"The machine could not go on: {trouble}.")
    return RuntimeError(f"{type(error).__name__}: {error}")
