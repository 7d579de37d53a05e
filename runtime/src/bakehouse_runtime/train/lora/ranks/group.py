"""The processes that train one run together, one per GPU, and their communication."""

from __future__ import annotations

import os
import socket
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from torch.distributed import TCPStore

    from ....device import Device

# For a process that hangs: the others may wait for the first while it uploads a checkpoint. A
# process that dies is noticed immediately (launch.py).
_TIMEOUT = timedelta(minutes=30)
_HERE = "127.0.0.1"


class Ranks:
    """One of the processes: `rank` of `count`. The first, 0, leads: only it reports, decides and
    writes files. A run of one process does not use torch.distributed."""

    def __init__(self, rank: int = 0, count: int = 1, others: Sequence[Connection] = ()) -> None:
        self.rank = rank
        self.count = count
        self._others = others
        self._group: Any = None

    def join(self, device: Device, store: TCPStore) -> None:
        """Joins the process group, and selects a GPU if `device` is CUDA. Returns when all
        processes have joined."""
        import torch
        import torch.distributed as dist

        # Accelerate detects a distributed run by these variables of torchrun.
        names = {"RANK": self.rank, "LOCAL_RANK": self.rank}
        names |= {"WORLD_SIZE": self.count, "LOCAL_WORLD_SIZE": self.count}
        os.environ.update({name: str(value) for name, value in names.items()})
        # Otherwise Gloo uses the address of the host name, which may not resolve.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
        if device == "cuda":
            torch.cuda.set_device(self.rank)
        dist.init_process_group(
            "gloo" if device == "cpu" else "cpu:gloo,cuda:nccl",
            store=store,
            rank=self.rank,
            world_size=self.count,
            timeout=_TIMEOUT,
        )
        # Decisions are broadcast on the CPU, so that they do not wait for a GPU.
        self._group = dist.new_group(backend="gloo", timeout=_TIMEOUT)

    def leave(self) -> None:
        """Leaves the group; all processes must call it together."""
        if self._group is not None:
            import torch.distributed as dist

            dist.destroy_process_group()
            self._group = None

    def call_followers(self, method: str, *arguments: Any) -> None:
        """Makes the other processes call this method of their trainers. The first process must then
        call it too."""
        for other in self._others:
            other.send((method, arguments))

    def broadcast(self, *values: bool) -> list[bool]:
        """Returns the values of the first process in all processes."""
        if self._group is None:
            return list(values)
        import torch
        import torch.distributed as dist

        received = torch.tensor(values, dtype=torch.uint8)
        dist.broadcast(received, 0, group=self._group)
        return [bool(value) for value in received]

    def all_reduce(self, values: Sequence[float]) -> list[float]:
        """Returns the sum of each value over all processes, which must pass equally many."""
        if self._group is None:
            return list(values)
        import torch
        import torch.distributed as dist

        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total, group=self._group)
        return total.tolist()

    def barrier(self) -> None:
        """Returns when all processes have called it."""
        if self._group is not None:
            import torch.distributed as dist

            dist.barrier(group=self._group)


ALONE = Ranks()


def open_store() -> TCPStore:
    """Opens the rendezvous store of a run's processes on any free local port."""
    from torch.distributed import TCPStore

    listener = socket.create_server((_HERE, 0))
    port = listener.getsockname()[1]
    # The store closes the listening socket.
    return TCPStore(
        _HERE,
        port,
        is_master=True,
        wait_for_workers=False,
        timeout=_TIMEOUT,
        master_listen_fd=listener.detach(),
    )


def connect_store(port: int) -> TCPStore:
    """Connects to the store that the first process has opened on this port."""
    from torch.distributed import TCPStore

    return TCPStore(_HERE, port, is_master=False, timeout=_TIMEOUT)
