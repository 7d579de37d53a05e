"""Downloads a workload's inputs to this machine.

Each file is stored once under `cache_dir/<sha256>`, shared by all workloads of the machine, and is
hard-linked to `inputs_dir/<input>/<path>`, or copied on another disk. Its modification time is its
last use. Only `pull` can access the cache. The program that processes the files can read its
inputs, but cannot change them or the cache.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .backoff import backoff
from .errors import MachineError, PlainError, ServerUnreachableError
from .files import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .protocol import InputFile, WorkloadInput

_ATTEMPTS_AT_WHOLE_FILE = 3
# Consecutive streams without data before giving up; with the pauses this takes almost a minute.
_STREAMS_WITHOUT_A_BYTE_MAX = 10
_UNUSED_AFTER_S = 30 * 24 * 3600
_DEFAULT_CACHE_BYTES = 50 << 30
# Reserved for other writers, e.g. the database; the server's blob store reserves it too.
_RESERVE_BYTES = 1 << 30
_ROOM_CHECKED_EVERY_BYTES = 64 << 20


class Source(Protocol):
    """The source of the bytes: the Bakehouse server."""

    def read_input(
        self, sha256: str, offset: int, *, follow_links: bool
    ) -> contextlib.AbstractContextManager[Bytes]:
        """Opens the bytes of an input from `offset` on. With `follow_links` the server may redirect
        to an external link."""
        ...


class Bytes(Protocol):
    """A stream with its start offset, because the server may ignore the requested one."""

    @property
    def offset(self) -> int: ...

    def __iter__(self) -> Iterator[bytes]: ...


class Opened(Protocol):
    """Opens the bytes of one input."""

    def __call__(self, offset: int) -> contextlib.AbstractContextManager[Bytes]: ...


def pull_inputs(
    inputs: list[WorkloadInput],
    source: Source,
    cache_dir: Path,
    inputs_dir: Path,
    progress: Callable[[int, int], None],
) -> None:
    """Downloads every input.

    `progress` receives the finished and total bytes. Raises PlainError for a path that leads out of
    the folder or bytes with the wrong hash, MachineError if the disk is or would become full, and
    ServerUnreachableError if no more bytes arrive.
    """
    targets = [
        (file, inside(folder, file.path))
        for one, folder in zip(inputs, input_folders(inputs, inputs_dir).values(), strict=True)
        for file in one.files
    ]
    total = sum(file.size_bytes for file, _ in targets)
    done = 0
    cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    sizes = {file.sha256: file.size_bytes for file, _ in targets}
    _require_room(cache_dir, sum(_missing(cache_dir, *one) for one in sizes.items()))
    for file, target in targets:
        before = done
        try:
            with _lock(cache_dir / f"{file.sha256}.lock"):
                cached = _cached(
                    file, source, cache_dir, lambda have, b=before: progress(b + have, total)
                )
                os.utime(cached)
                _link(cached, target)
        except OSError as error:
            raise MachineError(
                f"The input {file.path} cannot be stored: {error.strerror}."
            ) from error
        done += file.size_bytes
        progress(done, total)


def input_folders(inputs: list[WorkloadInput], inputs_dir: Path) -> dict[str, Path]:
    """Returns the folder of each input by name. Raises PlainError for an invalid folder name."""
    return {one.name: inputs_dir / _folder_name(one.name) for one in inputs}


def cache_limit_bytes() -> int:
    """Returns the size limit of the cache, which the server sets."""
    return int(os.environ.get("BAKEHOUSE_INPUT_CACHE_BYTES") or _DEFAULT_CACHE_BYTES)


def prune_cache(cache_dir: Path, limit_bytes: int) -> None:
    """Deletes files unused for 30 days, then the oldest ones while the cache exceeds `limit_bytes`.
    A file with another hard link is in use by a workload and is not deleted."""
    kept = _cached_files(cache_dir)
    _delete_stray_locks(cache_dir, {path.stem for path, _ in kept})
    total = sum(stat.st_size for _, stat in kept)
    now = time.time()
    for path, stat in sorted(kept, key=lambda one: one[1].st_mtime):
        if total <= limit_bytes and now - stat.st_mtime < _UNUSED_AFTER_S:
            return
        if _delete_unused(path):
            total -= stat.st_size


def _cached_files(cache_dir: Path) -> list[tuple[Path, os.stat_result]]:
    """Returns the complete and partial files in the cache; empty if there is no cache."""
    kept = []
    if not cache_dir.is_dir():
        return kept
    for path in cache_dir.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.suffix != ".lock":
                kept.append((path, path.stat()))
    return kept


def _delete_unused(path: Path) -> bool:
    """Deletes the file and its lock unless it is in use; returns whether it did."""
    lock = path.with_name(f"{path.stem}.lock")
    try:
        with _lock(lock, wait=False):
            if path.stat().st_nlink > 1:
                return False
            path.unlink()
            lock.unlink()
            return True
    except (BlockingIOError, FileNotFoundError):
        return False


def _delete_stray_locks(cache_dir: Path, names: set[str]) -> None:
    """Deletes unlocked lock files whose file is gone."""
    for path in cache_dir.glob("*.lock"):
        if path.stem in names:
            continue
        with contextlib.suppress(BlockingIOError, FileNotFoundError), _lock(path, wait=False):
            path.unlink()


def sha256_of(path: Path) -> str:
    """Returns the SHA-256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _cached(
    file: InputFile, source: Source, cache_dir: Path, progress: Callable[[int], None]
) -> Path:
    """Returns the path of a file in the cache; downloads and verifies it first if it is missing.

    The caller holds the file's lock.
    """
    whole = cache_dir / file.sha256
    if whole.exists() and whole.stat().st_size == file.size_bytes:
        return whole
    partial = cache_dir / f"{file.sha256}.partial"
    for attempt in range(_ATTEMPTS_AT_WHOLE_FILE):
        # After a damaged download through a link, let the server read and check the bytes itself.
        opened = functools.partial(source.read_input, file.sha256, follow_links=attempt == 0)
        if _download(file, opened, partial, progress) == file.sha256:
            partial.chmod(0o444)
            partial.replace(whole)
            return whole
        partial.unlink()
    raise PlainError(f"The input {file.path} arrived damaged {_ATTEMPTS_AT_WHOLE_FILE} times.")


def _missing(cache_dir: Path, sha256: str, size_bytes: int) -> int:
    """Returns how many bytes of a file are not in the cache yet."""
    for path in (cache_dir / sha256, cache_dir / f"{sha256}.partial"):
        with contextlib.suppress(FileNotFoundError):
            return max(0, size_bytes - path.stat().st_size)
    return size_bytes


def _require_room(cache_dir: Path, size_bytes: int) -> None:
    """Frees space for `size_bytes` in the cache by deleting unused files. Raises MachineError if
    that is not enough."""
    if size_bytes == 0:
        return
    lacking = _lacking(cache_dir, size_bytes)
    if lacking <= 0:
        return
    cached = sum(stat.st_size for _, stat in _cached_files(cache_dir))
    prune_cache(cache_dir, max(0, cached - lacking))
    if _lacking(cache_dir, size_bytes) > 0:
        raise _no_room(cache_dir, size_bytes)


def _lacking(folder: Path, size_bytes: int) -> int:
    return size_bytes + _RESERVE_BYTES - shutil.disk_usage(folder).free


def _no_room(folder: Path, size_bytes: int) -> MachineError:
    free = max(0, shutil.disk_usage(folder).free - _RESERVE_BYTES)
    return MachineError(
        f"The machine's disk has no room for the inputs: they need {_gb(size_bytes)} more, "
        f"and {_gb(free)} may be used."
    )


def _gb(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):.1f} GB"


def _download(
    file: InputFile, opened: Opened, partial: Path, progress: Callable[[int], None]
) -> str:
    """Downloads until the partial file is complete, resuming where the last try ended.

    Returns its SHA-256. Raises ServerUnreachableError after repeated tries without data: the
    server's own file may be truncated.
    """
    partial.touch()
    pauses, in_vain = backoff(), 0
    while (before := partial.stat().st_size) < file.size_bytes:
        # The callback raises if the caller has cancelled the download.
        progress(before)
        _append(file, opened, partial, progress)
        if partial.stat().st_size > before:
            pauses, in_vain = backoff(), 0
            continue
        in_vain += 1
        if in_vain == _STREAMS_WITHOUT_A_BYTE_MAX:
            raise ServerUnreachableError(
                f"The Bakehouse server sends {before} of the {file.size_bytes} bytes of "
                f"{file.path} and no more."
            )
        time.sleep(next(pauses))
    return sha256_of(partial)


def _append(
    file: InputFile, opened: Opened, partial: Path, progress: Callable[[int], None]
) -> None:
    with (
        opened(partial.stat().st_size) as stream,
        partial.open("r+b") as sink,
    ):
        sink.truncate(stream.offset)
        sink.seek(stream.offset)
        have = checked = stream.offset
        for chunk in stream:
            # Other processes write to the disk, too.
            if have - checked >= _ROOM_CHECKED_EVERY_BYTES:
                _require_room(partial.parent, file.size_bytes - have)
                checked = have
            sink.write(chunk)
            have += len(chunk)
            progress(have)


@contextlib.contextmanager
def _lock(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Locks a file against other workloads of this machine; the kernel releases it when the process
    dies.

    Raises BlockingIOError if it is locked and `wait` is false.
    """
    while True:
        with path.open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder may have deleted the file that was opened.
            if _is_at(path, handle.fileno()):
                yield
                return


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _folder_name(name: str) -> str:
    if name in {".", ".."} or "/" in name or "\\" in name or "\0" in name:
        raise PlainError(f"The input name {name!r} is not the name of a folder.")
    return name
