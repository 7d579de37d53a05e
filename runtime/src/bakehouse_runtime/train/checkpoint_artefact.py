"""Uploads the last checkpoint to the server, in case the machine does not return.

It is one archive, so the server always has a complete checkpoint. The server stores only the last
one, and passes it as the input `checkpoint` to an attempt with an empty work folder.
"""

from __future__ import annotations

import shutil
import tarfile
import time
from typing import TYPE_CHECKING

from ..errors import PlainError, ServerUnreachableError
from ..files import write_atomically
from ..workload import CHECKPOINT_FILE, CHECKPOINT_INPUT, CHECKPOINTS_FOLDER
from .cadence import Cadence

if TYPE_CHECKING:
    from pathlib import Path

    from ..workload import Workload

# A shorter run would not lose enough to justify the upload.
_FIRST_AFTER_S = 60.0
_AFTER_S = 120.0
# How long to wait for the report of a checkpoint before its upload.
_REPORTED_WITHIN_S = 10.0


class CheckpointArtefact:
    """Uploads checkpoints of one run within their share of the time."""

    def __init__(self, work: Workload, cadence: Cadence | None = None) -> None:
        self._work = work
        self._cadence = cadence or Cadence(time.monotonic(), _FIRST_AFTER_S, _AFTER_S)
        self._left_out: list[Path] = []

    def upload(self, paths: list[Path]) -> None:
        """Uploads the files and folders for resuming, which are below the work folder, if it is
        time. Does not wait for an unreachable server, because the next checkpoint will be uploaded
        soon."""
        if self._cadence.is_due(time.monotonic()):
            self._upload(paths)
        else:
            self._left_out = paths

    def upload_last(self) -> None:
        """Uploads the newest checkpoint at a stop, if the server lacks it and the work folder will
        be deleted."""
        if self._left_out and self._work.spec.keeps_work_dir is False:
            self._upload(self._left_out)

    def _upload(self, paths: list[Path]) -> None:
        began = time.monotonic()
        self._left_out = paths
        work_dir = self._work.work_dir
        try:
            # The server attributes the upload to the step of this report.
            if not self._work.reporter.wait_until_accepted(_REPORTED_WITHIN_S):
                raise ServerUnreachableError("the server does not answer.")
            with (
                write_atomically(work_dir / CHECKPOINT_FILE) as partial,
                tarfile.open(partial, "w") as archive,
            ):
                for path in paths:
                    archive.add(path, path.relative_to(work_dir).as_posix())
            self._work.client.upload(CHECKPOINT_FILE, work_dir / CHECKPOINT_FILE, timeout_s=0)
            self._left_out = []
        except (PlainError, ServerUnreachableError, OSError) as error:
            self._work.reporter.log(f"Note: the checkpoint stays on this machine alone: {error}")
        finally:
            (work_dir / CHECKPOINT_FILE).unlink(missing_ok=True)
        self._cadence.saved(began, time.monotonic())


def restore_checkpoint(work: Workload) -> None:
    """Extracts the server's checkpoint into a work folder without one."""
    folder = work.inputs().get(CHECKPOINT_INPUT)
    archive = folder / CHECKPOINT_FILE if folder else None
    if archive is None or not archive.is_file() or work.has_checkpoint():
        return
    # A partial checkpoint would look complete.
    partial = work.work_dir / ".restoring"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with tarfile.open(archive) as packed:
            packed.extractall(partial, filter="data")
    except (tarfile.TarError, OSError) as error:
        work.reporter.log(f"Note: the checkpoint on the server cannot be read: {error}")
        return
    (work.work_dir / CHECKPOINTS_FOLDER).mkdir(exist_ok=True)
    for path in sorted(partial.rglob("*"), key=lambda path: CHECKPOINTS_FOLDER in path.parts):
        target = work.work_dir / path.relative_to(partial)
        # A checkpoint is moved as a whole, file or folder.
        if path.exists() and not target.exists():
            path.replace(target)
    shutil.rmtree(partial)
    work.reporter.log("Got the last checkpoint back from the server.")
