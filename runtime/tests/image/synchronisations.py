"""Counts how often a training synchronises with its device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch.utils._python_dispatch import TorchDispatchMode

from .line import SETTINGS, Recorder


class SyncCounter(TorchDispatchMode):
    """Counts synchronisations with the device: values read from tensors, and shapes that depend on
    values."""

    WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero")

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204
        self.count += func.overloadpacket.__name__ in self.WAITING
        return func(*args, **(kwargs or {}))


class SyncsPerStep(Recorder):
    """Records at each step the number of values read before it."""

    def __init__(self, reads: SyncCounter) -> None:
        super().__init__()
        self.reads = reads
        self.until: list[int] = []

    @property
    def stop_requested(self) -> bool:
        self.until.append(self.reads.count)
        return False


WITHOUT_REPORTS = replace(SETTINGS, steps=8, report_every=8, checkpoint_every=8)


def check_that_no_step_reads(train: Callable[[SyncsPerStep], bool]) -> None:
    with SyncCounter() as reads:
        stepwise = SyncsPerStep(reads)
        assert train(stepwise)
    # One check before each step, and one at the final checkpoint.
    *steps, _ = stepwise.until
    assert len(steps) == 8
    assert steps[0] == steps[-1], "seven steps without a look at a value"
    assert reads.count > steps[-1], "what was learnt is read at the end"
