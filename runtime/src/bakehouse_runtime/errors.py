"""Errors that are shown to users."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class PlainError(Exception):
    """An error in one plain sentence that a user can act on. Never a traceback."""


class RequestError(PlainError):
    """An invalid field of a request."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class ServerUnreachableError(PlainError):
    """The server was unreachable, or responded with errors, for longer than a workload waits. The
    workload itself has not failed."""


class ResponseError(PlainError):
    """The server responded with `status`, and a retry would not help."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class MachineError(PlainError):
    """The machine failed, e.g. because of a full disk. The workload itself has not failed: it is
    retried and not reported as failed."""


def loss_not_finite(step: int, learning_rate: float) -> PlainError:
    """Returns the error of a training whose loss is NaN or infinite."""
    return PlainError(
        f"The loss stopped being a number at step {step}; a smaller learning rate than "
        f"{learning_rate:g} is needed."
    )


class WorkloadOver(Exception):  # noqa: N818 - an event, not an error
    """The server no longer accepts this workload (401, 403, 404 or 410), so it exits."""


class StopRequested(Exception):  # noqa: N818 - an event, not an error
    """Unwinds running work after a stop request, so that it can save and stop."""


class StoppedEarly(Exception):  # noqa: N818 - an event, not an error
    """Ends a training without improvement for `patience` evaluations; the run is complete."""


_NO_MEMORY = "DefaultCPUAllocator|CUDA error: out of memory|(CUBLAS|CUDNN)_STATUS_ALLOC_FAILED"


def is_out_of_memory(error: Exception) -> bool:
    """Returns whether the error means that memory ran out. Besides Python's and torch's own errors
    it recognises the messages of torch on a CPU and of CUDA, which raise no specific error. Does
    not import torch."""
    torch = sys.modules.get("torch")
    return (
        isinstance(error, MemoryError)
        or (torch is not None and isinstance(error, torch.OutOfMemoryError))
        or (isinstance(error, RuntimeError) and re.search(_NO_MEMORY, str(error)) is not None)
    )


def system_failure_reason(error: Exception) -> str | None:
    """Returns the reason of an operating system failure, or None for other errors. Libraries may
    raise OSError for invalid files too, but without an errno."""
    # After such a failure torch.save raises an unrelated error about ending its archive.
    if isinstance(error, RuntimeError) and isinstance(error.__context__, OSError):
        error = error.__context__
    if isinstance(error, OSError):
        return error.strerror if error.errno is not None else None
    # The message format of Rust libraries, such as safetensors.
    said = re.search(r"([^:]+) \(os error \d+\)", str(error))
    return said[1].strip() if said else None


def first_wrong_field(error: ValidationError, tags: int = 0) -> tuple[str, str]:
    """Returns the path of the first invalid field, empty for the whole value, and its error. `tags`
    is the number of discriminated unions above the fields: Pydantic puts the name of each option
    before the field."""
    first = error.errors(include_url=False)[0]
    discriminator = first.get("ctx", {}).get("discriminator")
    if discriminator is not None:
        return discriminator.strip("'"), first["msg"]
    return ".".join(str(part) for part in first["loc"][tags:]), first["msg"]
