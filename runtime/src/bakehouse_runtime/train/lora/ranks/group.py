"""The processes that train one run together, one on each GPU, and what they say to each other."""

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

# A process that dies is seen at once (launch.py). This is for one that hangs: the others may wait
# for the first while it uploads a checkpoint.
_TIMEOUT = timedelta(minutes=30)
_HERE = "127.0.0.1"


class Ranks:
    """One of the processes: `rank` of `count`. The first, 0, leads: it alone reports, decides and
    writes files. A run of one process needs nothing of torch.distributed."""

    def __init__(self, rank: int = 0, count: int = 1, others: Sequence[Connection] = ()) -> None:
        self.rank = rank
        self.count = count
        self._others = others
        self._group: Any = None

    def join(self, device: Device, store: TCPStore) -> None:
        """Meets the others, and takes a GPU where `device` says so. Returns when all are there."""
        import torch
        import torch.distributed as dist

        # By these names, which are torchrun's, Accelerate knows that it is one of several.
        names = {"RANK": self.rank, "LOCAL_RANK": self.rank}
        names |= {"WORLD_SIZE": self.count, "LOCAL_WORLD_SIZE": self.count}
        os.environ.update({name: str(value) for name, value in names.items()})
        # Else Gloo takes the address that the host's name stands for, which may be none.
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
        # Decisions go by the CPU, and wait for no GPU.
        self._group = dist.new_group(backend="gloo", timeout=_TIMEOUT)

    def leave(self) -> None:
        """Ends the group; all processes do so together."""
        if self._group is not None:
            import torch.distributed as dist

            dist.destroy_process_group()
            self._group = None

    def call_followers(self, method: str, *arguments: Any) -> None:
        """Has the others call this method of their trainers, as the first is about to do."""
        for other in self._others:
            other.send((method, arguments))

    def broadcast(self, *values: bool) -> list[bool]:
        """The values of the first process, whatever those of the others are."""
        if self._group is None:
            return list(values)
        import torch
        import torch.distributed as dist

        received = torch.tensor(values, dtype=torch.uint8)
        dist.broadcast(received, 0, group=self._group)
        return [bool(value) for value in received]

    def all_reduce(self, values: Sequence[float]) -> list[float]:
        """Of each of the values the sum over all processes, which have equally many."""
        if self._group is None:
            return list(values)
        import torch
        import torch.distributed as dist

        total = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(total, group=self._group)
        return total.tolist()

    def barrier(self) -> None:
        """Returns when all processes are here."""
        if self._group is not None:
            import torch.distributed as dist

            dist.barrier(group=self._group)


ALONE = Ranks()


def open_store() -> TCPStore:
    """The store by which the processes of a run find each other, at any free port of this machine
    alone."""
    from torch.distributed import TCPStore

    listener = socket.create_server((_HERE, 0))
    port = listener.getsockname()[1]
    # The store closes what it listens at.
    return TCPStore(
        _HERE,
        port,
        is_master=True,
        wait_for_workers=False,
        timeout=_TIMEOUT,
        master_listen_fd=listener.detach(),
    )


def connect_store(port: int) -> TCPStore:
    """The one that the first process has opened at this port."""
    from torch.distributed import TCPStore

    return TCPStore(_HERE, port, is_master=False, timeout=_TIMEOUT)
