"""What every workload does around its work: listens for stops, says what failed, pulls inputs."""

from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import PlainError, ServerAwayError, StopRequested, WorkloadOver
from .inputs import cache_limit_bytes, input_folders, prune_cache, pull_inputs
from .server_client import Reporter, ServerClient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .protocol import (
        ServeTextSpec,
        TrainAutoencoderSpec,
        TrainKontextSpec,
        TrainParisSpec,
        TrainSpec,
        WorkloadSpecBase,
    )
    from .server_client import Artefact

    Spec = TrainSpec | TrainAutoencoderSpec | TrainParisSpec | TrainKontextSpec | ServeTextSpec
    AnySpec = Spec | WorkloadSpecBase


# What takes less memory, by what the workload does.
_REMEDIES = {
    "lora": "choose a smaller batch size, chunk size or rank",
    "kontext": "choose a smaller batch size, or train an adapter (LoRA) of a small rank",
    "autoencoder": "choose a smaller batch size",
    "paris": "choose a smaller batch size",
    "serve": "deploy a smaller model, or on a machine with more of it",
}


class Workload:
    """One workload while it runs."""

    def __init__(self, spec: AnySpec, client: ServerClient, reporter: Reporter) -> None:
        self.spec = spec
        self.client = client
        self.reporter = reporter
        self.work_dir = Path(spec.work_dir)

    def inputs(self) -> dict[str, Path]:
        """The folder of each input, as `pull` has filled it."""
        return input_folders(self.spec.inputs, Path(self.spec.inputs_dir))

    def pull_inputs(self, cache_dir: Path) -> None:
        """Brings the inputs here; reports the bytes."""
        self.reporter.phase("pulling inputs")
        inputs_dir = Path(self.spec.inputs_dir)
        pull_inputs(self.spec.inputs, self.client, cache_dir, inputs_dir, self._pulled)
        prune_cache(cache_dir, cache_limit_bytes())

    def upload(self, folder: Path) -> list[Artefact]:
        """Uploads everything in `folder` under its path there; reports the bytes."""
        self.reporter.phase("uploading")
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        total = sum(file.stat().st_size for file in files)
        done = 0
        uploaded = []
        for file in files:
            uploaded.append(self.client.upload(file.relative_to(folder).as_posix(), file))
            done += file.stat().st_size
            self.reporter.progress(done, total, "bytes")
        return uploaded

    def _pulled(self, done: int, total: int) -> None:
        if self.reporter.stop_requested:
            raise StopRequested
        self.reporter.progress(done, total, "bytes")


@contextlib.contextmanager
def workload(spec: AnySpec) -> Iterator[Workload]:
    """Connects to the server, turns SIGTERM into a stop, and reports what fails.

    A StopRequested that nobody catches is a stop before there was anything to save.

    Leaving it waits until the server has every report. Raises WorkloadOver when the server has
    ended the workload meanwhile.
    """
    client = ServerClient(spec.workload_id, spec.server.base_url, spec.server.token)
    with contextlib.closing(client), Reporter(client) as reporter:
        before = signal.signal(signal.SIGTERM, lambda *_: reporter.request_stop())
        try:
            yield Workload(spec, client, reporter)
        except StopRequested:
            reporter.stopped(0)
        except (WorkloadOver, ServerAwayError):
            raise
        except PlainError as error:
            reporter.failed(str(error))
            raise
        except Exception as error:
            if not _is_out_of_memory(error):
                reporter.failed(
                    f"The workload failed unexpectedly ({type(error).__name__}: {error})."
                )
                raise
            message = f"The memory is not enough: {_REMEDIES[_method(spec)]}."
            reporter.failed(message)
            raise PlainError(message) from error
        finally:
            signal.signal(signal.SIGTERM, before)
    reporter.raise_if_over()


def pull(spec: WorkloadSpecBase, cache_dir: Path) -> bool:
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


def _method(spec: AnySpec) -> str:
    return getattr(spec, "method", "serve")


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: Python's, a GPU's, or what torch takes on a CPU, for which it has no
    error of its own. Torch is asked only where somebody has loaded it."""
    torch = sys.modules.get("torch")
    return (
        isinstance(error, MemoryError)
        or (torch is not None and isinstance(error, torch.OutOfMemoryError))
        or (isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error))
    )
