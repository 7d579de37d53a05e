"""Where a workload's inputs lie on this machine.

Every file is kept once under `cache_dir/<sha256>`, shared by all workloads of the machine, and
appears under `inputs_dir/<input>/<path>` as a hard link, or as a copy on another disk. Its
modification time says when a workload last wanted it. Only `pull` sees the cache: the program that
works on the files may read what it was given, and write to neither.
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
# In a row; with the pauses between them that is most of a minute.
_STREAMS_WITHOUT_A_BYTE_MAX = 10
_UNUSED_AFTER_S = 30 * 24 * 3600
_DEFAULT_CACHE_BYTES = 50 << 30
# What is left free for what else writes there, e.g. the database; the server's blob store, too.
_RESERVE_BYTES = 1 << 30
_ROOM_CHECKED_EVERY_BYTES = 64 << 20


class Source(Protocol):
    """Where bytes come from: the Bakehouse server."""

    def read_input(
        self, sha256: str, offset: int, *, follow_links: bool
    ) -> contextlib.AbstractContextManager[Bytes]:
        """Opens the bytes of an input from `offset` on, also where the server only knows a link to
        them, if links are followed."""
        ...


class Bytes(Protocol):
    """A stream that says where it starts: the server may ignore the asked offset."""

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
    """Brings every input here.

    `progress` gets bytes done and bytes in all. Raises PlainError for a name that leads out of the
    folder, or bytes that do not have their hash, MachineError for a disk that is full, or would be
    nearly so, and ServerUnreachableError where no more bytes come.
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
    """The folder of each input by its name. Raises PlainError for one that is not a folder's."""
    return {one.name: inputs_dir / _folder_name(one.name) for one in inputs}


def cache_limit_bytes() -> int:
    """How many bytes the cache may keep, as the server says."""
    return int(os.environ.get("BAKEHOUSE_INPUT_CACHE_BYTES") or _DEFAULT_CACHE_BYTES)


def prune_cache(cache_dir: Path, limit_bytes: int) -> None:
    """Deletes files that nobody has wanted for 30 days, then the oldest while all that is kept
    exceeds `limit_bytes`. Who has another name is in use by a workload, and stays."""
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
    """What lies in the cache, whole or not; nothing before there is one."""
    kept = []
    if not cache_dir.is_dir():
        return kept
    for path in cache_dir.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.suffix != ".lock":
                kept.append((path, path.stat()))
    return kept


def _delete_unused(path: Path) -> bool:
    """Whether the file was deleted, and its lock with it."""
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
    """Deletes locks that nobody holds and whose file is gone."""
    for path in cache_dir.glob("*.lock"):
        if path.stem in names:
            continue
        with contextlib.suppress(BlockingIOError, FileNotFoundError), _lock(path, wait=False):
            path.unlink()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _cached(
    file: InputFile, source: Source, cache_dir: Path, progress: Callable[[int], None]
) -> Path:
    """The cache's path of a file, downloaded where it is missing and verified before it appears.

    The caller holds the file's lock.
    """
    whole = cache_dir / file.sha256
    if whole.exists() and whole.stat().st_size == file.size_bytes:
        return whole
    partial = cache_dir / f"{file.sha256}.partial"
    for attempt in range(_ATTEMPTS_AT_WHOLE_FILE):
        # The server sees for itself what is wrong with bytes that came damaged by a link.
        opened = functools.partial(source.read_input, file.sha256, follow_links=attempt == 0)
        if _download(file, opened, partial, progress) == file.sha256:
            partial.chmod(0o444)
            partial.replace(whole)
            return whole
        partial.unlink()
    raise PlainError(f"The input {file.path} arrived damaged {_ATTEMPTS_AT_WHOLE_FILE} times.")


def _missing(cache_dir: Path, sha256: str, size_bytes: int) -> int:
    """How many bytes of a file are not in the cache yet."""
    for path in (cache_dir / sha256, cache_dir / f"{sha256}.partial"):
        with contextlib.suppress(FileNotFoundError):
            return max(0, size_bytes - path.stat().st_size)
    return size_bytes


def _require_room(cache_dir: Path, size_bytes: int) -> None:
    """Makes room for so many bytes of the cache out of what no workload uses. Raises MachineError
    where that is not enough."""
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
    """Appends to the partial file until it is whole, going on where the last try ended.

    Returns the SHA-256 of what is there then. Raises ServerUnreachableError where one try after the
    other brings nothing: the server's own file may be cut off.
    """
    partial.touch()
    pauses, in_vain = backoff(), 0
    while (before := partial.stat().st_size) < file.size_bytes:
        # Whoever wants the file may give up meanwhile, and says so here.
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
    """Appends what one stream brings."""
    with (
        opened(partial.stat().st_size) as stream,
        partial.open("r+b") as sink,
    ):
        sink.truncate(stream.offset)
        sink.seek(stream.offset)
        have = checked = stream.offset
        for chunk in stream:
            # Others write there, too.
            if have - checked >= _ROOM_CHECKED_EVERY_BYTES:
                _require_room(partial.parent, file.size_bytes - have)
                checked = have
            sink.write(chunk)
            have += len(chunk)
            progress(have)


@contextlib.contextmanager
def _lock(path: Path, *, wait: bool = True) -> Iterator[None]:
    """One workload of this machine at a time; the system frees it when the process dies.

    Raises BlockingIOError where another one has it and `wait` is false.
    """
    while True:
        with path.open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have deleted the file that was opened.
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
