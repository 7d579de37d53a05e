"""Errors that are meant for people."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class PlainError(Exception):
    """Something a person can read and act on, in one plain sentence. Never a traceback."""


class RequestError(PlainError):
    """What is wrong with one field of a request."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class ServerUnreachableError(PlainError):
    """The server was out of reach, or answered with errors, for longer than a workload waits:
    nothing against the work."""


class RefusedError(PlainError):
    """The server has answered with `status`, and would again."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class MachineError(PlainError):
    """The machine could not do what the work needs, e.g. write to a full disk: nothing against the
    work, so it is not reported as its failure, and is tried again."""


def loss_not_finite(step: int, learning_rate: float) -> PlainError:
    """What ends a training whose loss is NaN or infinite."""
    return PlainError(
        f"The loss stopped being a number at step {step}; a smaller learning rate than "
        f"{learning_rate:g} is needed."
    )


class WorkloadOver(Exception):  # noqa: N818 - an event, not an error
    """The server no longer knows this workload (401, 403, 404 or 410): it ends itself."""


class StopRequested(Exception):  # noqa: N818 - an event, not an error
    """Leaves work that cannot be ended from inside, to save what there is and stop."""


class StoppedEarly(Exception):  # noqa: N818 - an event, not an error
    """Leaves a training that has gained nothing for as long as it was patient: it is done."""


_NO_MEMORY = "DefaultCPUAllocator|CUDA error: out of memory|(CUBLAS|CUDNN)_STATUS_ALLOC_FAILED"


def is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: Python's, a GPU's, or what torch takes on a CPU and CUDA beside
    torch, for which it has no error of its own. Torch is asked only where somebody has loaded
    it."""
    torch = sys.modules.get("torch")
    return (
        isinstance(error, MemoryError)
        or (torch is not None and isinstance(error, torch.OutOfMemoryError))
        or (isinstance(error, RuntimeError) and re.search(_NO_MEMORY, str(error)) is not None)
    )


def machine_trouble(error: Exception) -> str | None:
    """What the system itself could not do; None for every other error. What libraries say of wrong
    files may be an OSError too, but has no number."""
    # torch.save then fails to end its archive, and speaks of that alone.
    if isinstance(error, RuntimeError) and isinstance(error.__context__, OSError):
        error = error.__context__
    if isinstance(error, OSError):
        return error.strerror if error.errno is not None else None
    # The words of libraries in Rust, such as safetensors.
    said = re.search(r"([^:]+) \(os error \d+\)", str(error))
    return said[1].strip() if said else None


def first_wrong_field(error: ValidationError, tags: int = 0) -> tuple[str, str]:
    """The first field that is wrong, empty where it is the whole, and what is wrong with it.
    `tags` is how many discriminated unions lie above the fields: Pydantic names the option of each
    before the field."""
    first = error.errors(include_url=False)[0]
    discriminator = first.get("ctx", {}).get("discriminator")
    if discriminator is not None:
        return discriminator.strip("'"), first["msg"]
    return ".".join(str(part) for part in first["loc"][tags:]), first["msg"]
