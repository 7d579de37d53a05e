"""What every workload does around its work: listens for stops, reports failures, pulls inputs."""

from __future__ import annotations

import contextlib
import signal
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import (
    MachineError,
    PlainError,
    RefusedError,
    ServerUnreachableError,
    StopRequested,
    WorkloadOver,
    is_out_of_memory,
    machine_trouble,
)
from .inputs import cache_limit_bytes, input_folders, prune_cache, pull_inputs
from .reporter import Reporter
from .server_client import ServerClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .protocol import WorkloadSpec
    from .server_client import Artefact


# The last checkpoint of a run, as the server keeps it and gives it to the next attempt.
CHECKPOINT_INPUT = "checkpoint"
CHECKPOINT_FILE = "checkpoint.tar"
CHECKPOINTS_FOLDER = "checkpoints"

# The server's answer for bytes that it knows, and that are damaged or missing.
_BYTES_LOST = 409

_DEPLOY_SMALLER = "deploy a smaller model, or on a machine with more of it"


class Workload:
    """One workload while it runs."""

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
        """The folder of each input, as `pull` has filled it."""
        return input_folders(self.spec.inputs, Path(self.spec.inputs_dir))

    def pull_inputs(self, cache_dir: Path) -> None:
        """Brings the inputs here; reports the bytes."""
        self.reporter.phase("pulling inputs")
        inputs_dir = Path(self.spec.inputs_dir)
        checkpoint = [one for one in self.spec.inputs if one.name == CHECKPOINT_INPUT]
        others = [one for one in self.spec.inputs if one.name != CHECKPOINT_INPUT]
        pull_inputs(others, self.client, cache_dir, inputs_dir, self._pulled)
        # Where the work folder has survived, its own checkpoint is the newer one.
        if checkpoint and not self.has_checkpoint():
            try:
                pull_inputs(checkpoint, self.client, cache_dir, inputs_dir, self._pulled)
            except RefusedError as error:
                if error.status != _BYTES_LOST:
                    raise
                # Nothing counts as saved any more (read-input.ts).
                self.reporter.log("Note: the server has lost the checkpoint: the run begins anew.")
        prune_cache(cache_dir, cache_limit_bytes())

    def has_checkpoint(self) -> bool:
        """Whether an earlier attempt on this machine has left a checkpoint."""
        folder = self.work_dir / CHECKPOINTS_FOLDER
        return folder.is_dir() and any(folder.iterdir())

    def upload(self, folder: Path) -> list[Artefact]:
        """Uploads everything in `folder` under its path there; reports the bytes. However long the
        server takes, the work is done, and nobody pays for the wait."""
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
        """Reports what has ended the work, unless it is tried again. Returns what people read of
        it: a PlainError, or the error itself."""
        # What is reported as failed is never tried again.
        if isinstance(error, (ServerUnreachableError, MachineError)):
            return error
        if isinstance(error, PlainError):
            self.reporter.failed(str(error))
            return error
        trouble = machine_trouble(error)
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
    """Connects to the server, turns SIGTERM into a stop, and reports what fails. `saves_memory`
    says what to do where the memory is not enough.

    A StopRequested that nobody catches is a stop before there was anything to save.

    Leaving it waits until the server has every report. Raises WorkloadOver when the server has
    ended the workload meanwhile, and MachineError where the machine is in trouble.
    """
    client = ServerClient(spec.workload_id, spec.server.base_url, spec.server.token)
    with contextlib.closing(client), Reporter(client) as reporter:
        before = signal.signal(
            signal.SIGTERM, lambda *_: reporter.request_leave(spec.leave_seconds)
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
    """Brings the inputs of a workload here, and returns whether it is to go on to its work.

    A program of its own does this, which looks into no file: the work itself, which does, may see
    neither the cache, where the files of all users lie, nor change what it was given.
    """
    all_here = False
    with workload(spec) as work:
        work.pull_inputs(cache_dir)
        all_here = True
    # The server's word may have come with its last answer.
    return all_here and not work.reporter.stop_requested
