"""Shared code of every workload: handles stops, reports failures, pulls inputs."""

from __future__ import annotations

import contextlib
import signal
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import (
    MachineError,
    PlainError,
    ResponseError,
    ServerUnreachableError,
    StopRequested,
    WorkloadOver,
    is_out_of_memory,
    system_failure_reason,
)
from .inputs import cache_limit_bytes, input_folders, prune_cache, pull_inputs
from .reporter import Reporter
from .server_client import ServerClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .protocol import WorkloadSpec
    from .server_client import Artefact


# The last checkpoint of a run, which the server stores for the next attempt.
CHECKPOINT_INPUT = "checkpoint"
CHECKPOINT_FILE = "checkpoint.tar"
CHECKPOINTS_FOLDER = "checkpoints"

# The server's status for bytes that it knows but that are damaged or missing.
_BYTES_LOST = 409

_DEPLOY_SMALLER = "deploy a smaller model, or on a machine with more of it"


class Workload:
    def __init__(
        self,
        spec: WorkloadSpec,
        client: ServerClient,
        reporter: Reporter,
        saves_memory: str = _DEPLOY_SMALLER,
    ) -> None:
        self.spec = spec
        self.client = client
        self.reporter = reporter
        self.work_dir = Path(spec.work_dir)
        self._saves_memory = saves_memory

    def inputs(self) -> dict[str, Path]:
        """Returns the folder of each input that `pull` has filled."""
        return input_folders(self.spec.inputs, Path(self.spec.inputs_dir))

    def pull_inputs(self, cache_dir: Path) -> None:
        """Downloads the inputs and reports the bytes."""
        self.reporter.phase("pulling inputs")
        inputs_dir = Path(self.spec.inputs_dir)
        checkpoint = [one for one in self.spec.inputs if one.name == CHECKPOINT_INPUT]
        others = [one for one in self.spec.inputs if one.name != CHECKPOINT_INPUT]
        pull_inputs(others, self.client, cache_dir, inputs_dir, self._pulled)
        # If the work folder has survived, its own checkpoint is newer.
        if checkpoint and not self.has_checkpoint():
            try:
                pull_inputs(checkpoint, self.client, cache_dir, inputs_dir, self._pulled)
            except ResponseError as error:
                if error.status != _BYTES_LOST:
                    raise
                # The server no longer counts any progress as saved (read-input.ts).
                self.reporter.log("Note: the server has lost the checkpoint: the run starts again.")
        prune_cache(cache_dir, cache_limit_bytes())

    def has_checkpoint(self) -> bool:
        """Returns whether an earlier attempt on this machine has left a checkpoint."""
        folder = self.work_dir / CHECKPOINTS_FOLDER
        return folder.is_dir() and any(folder.iterdir())

    def upload(self, folder: Path) -> list[Artefact]:
        """Uploads every file in `folder` under its relative path and reports the bytes. The user is
        not billed for the upload time."""
        self.reporter.phase("uploading", counted=False)
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        total = sum(file.stat().st_size for file in files)
        done = 0
        uploaded = []
        for file in files:
            uploaded.append(self.client.upload(file.relative_to(folder).as_posix(), file))
            done += file.stat().st_size
            self.reporter.progress(done, total, "bytes")
        return uploaded

    def fail(self, error: Exception) -> Exception:
        """Reports the failure, unless the work is retried. Returns the error to show: a PlainError,
        or the error itself."""
        # Work that is reported as failed is never retried.
        if isinstance(error, (ServerUnreachableError, MachineError)):
            return error
        if isinstance(error, PlainError):
            self.reporter.failed(str(error))
            return error
        trouble = system_failure_reason(error)
        if trouble is not None:
            traceback.print_exception(error)
            return MachineError(f"The machine could not go on: {trouble}.")
        if not is_out_of_memory(error):
            self.reporter.failed(
                f"The workload failed unexpectedly ({type(error).__name__}: {error})."
            )
            return error
        message = f"The memory is not enough: {self._saves_memory}."
        self.reporter.failed(message)
        return PlainError(message)

    def _pulled(self, done: int, total: int) -> None:
        if self.reporter.stop_requested:
            raise StopRequested
        self.reporter.progress(done, total, "bytes")


@contextlib.contextmanager
def workload(spec: WorkloadSpec, saves_memory: str = _DEPLOY_SMALLER) -> Iterator[Workload]:
    """Connects to the server, turns SIGTERM into a stop, and reports failures. `saves_memory` is
    the advice to show when memory runs out.

    If StopRequested reaches this function, the work was stopped before there was anything to save.

    On exit it waits until the server has every report. Raises WorkloadOver if the server has ended
    the workload, and MachineError if the machine is at fault.
    """
    client = ServerClient(spec.workload_id, spec.server.base_url, spec.server.token)
    with contextlib.closing(client), Reporter(client) as reporter:
        before = signal.signal(
            signal.SIGTERM, lambda *_: reporter.request_stop_by_environment(spec.leave_seconds)
        )
        work = Workload(spec, client, reporter, saves_memory)
        try:
            yield work
        except StopRequested:
            reporter.stopped(0)
        except WorkloadOver:
            raise
        except Exception as error:
            failure = work.fail(error)
            if failure is error:
                raise
            raise failure from error
        finally:
            signal.signal(signal.SIGTERM, before)
    reporter.raise_if_over()


def pull(spec: WorkloadSpec, cache_dir: Path) -> bool:
    """Downloads the inputs of a workload, and returns whether its work should start.

    This runs as a separate program that parses no file. The work itself parses files, so it has no
    access to the cache, which contains files of all users, and cannot change its inputs.
    """
    all_here = False
    with workload(spec) as work:
        work.pull_inputs(cache_dir)
        all_here = True
    # The server's last response may have requested a stop.
    return all_here and not work.reporter.stop_requested
