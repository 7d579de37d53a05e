from __future__ import annotations

import itertools
import os
import shutil
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from bakehouse_runtime import inputs
from bakehouse_runtime.errors import (
    MachineError,
    PlainError,
    ServerUnreachableError,
    WorkloadOver,
)
from bakehouse_runtime.inputs import input_folders, prune_cache, pull_inputs
from bakehouse_runtime.protocol import WorkloadInput
from bakehouse_runtime.server_client import ServerClient
from bakehouse_server import TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bakehouse_server import BakehouseServer, Fault

CONTENT = bytes(range(256)) * 5000


def pull(server: BakehouseServer, tmp_path: Path, entries: list[dict[str, Any]]) -> dict[str, Path]:
    client = ServerClient("w-1", server.url, TOKEN)
    inputs = [WorkloadInput.model_validate({"name": "dataset", "files": entries})]
    pull_inputs(inputs, client, tmp_path / "cache", tmp_path / "inputs", lambda *_: None)
    return input_folders(inputs, tmp_path / "inputs")


def gets(server: BakehouseServer) -> list[dict[str, str]]:
    return [headers for method, _, headers in server.requests if method == "GET"]


def test_stores_inputs_under_their_paths_and_fetches_them_once(
    server: BakehouseServer, tmp_path: Path
) -> None:
    entries = [server.add_input(CONTENT, "a/b.bin"), server.add_input(CONTENT, "again.bin")]
    folders = pull(server, tmp_path, entries)
    assert (folders["dataset"] / "a/b.bin").read_bytes() == CONTENT
    assert (folders["dataset"] / "again.bin").read_bytes() == CONTENT
    assert len(gets(server)) == 1
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0
    pull(server, tmp_path, entries)
    assert len(gets(server)) == 1


def test_resumes_an_interrupted_download(server: BakehouseServer, tmp_path: Path) -> None:
    entry = server.add_input(CONTENT, "x")
    server.faults = ["cut", 503, "drop"]
    folders = pull(server, tmp_path, [entry])
    assert (folders["dataset"] / "x").read_bytes() == CONTENT
    assert [headers.get("Range") for headers in gets(server)] == [
        None,
        *[f"bytes={len(CONTENT) // 2}-"] * 3,
    ]


def test_follows_a_link_to_the_blob_store_without_the_token(
    server: BakehouseServer, tmp_path: Path
) -> None:
    entry = server.add_input(CONTENT, "x")
    server.links = True
    # Faults of the link, and of the blob store, whose response is truncated.
    server.faults = [503, "lost", "cut"]
    folders = pull(server, tmp_path, [entry])
    assert (folders["dataset"] / "x").read_bytes() == CONTENT
    stored = [headers for _, path, headers in server.requests if path.startswith("/store/")]
    assert [headers.get("Range") for headers in stored] == [None, f"bytes={len(CONTENT) // 2}-"]


@pytest.mark.parametrize("fault", [403, 404, 503, "drop"])
def test_falls_back_to_the_server_if_the_blob_store_fails(
    server: BakehouseServer, tmp_path: Path, fault: Fault
) -> None:
    entry = server.add_input(CONTENT, "x")
    server.links = True
    server.faults = ["lost", fault]
    folders = pull(server, tmp_path, [entry])
    assert (folders["dataset"] / "x").read_bytes() == CONTENT
    assert "X-Bakehouse-Links" not in gets(server)[-1]


def test_requests_bytes_from_the_server_after_a_damaged_link(
    server: BakehouseServer, tmp_path: Path
) -> None:
    entry = server.add_input(CONTENT, "x")
    server.links = True
    server.inputs[entry["sha256"]] = b"?" * len(CONTENT)
    with pytest.raises(PlainError, match="x arrived damaged 3 times"):
        pull(server, tmp_path, [entry])
    assert ["X-Bakehouse-Links" in headers for headers in gets(server)] == [
        True,
        False,
        False,
        False,
    ]


def test_backs_off_and_fails_if_the_server_sends_no_more_bytes(
    server: BakehouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "backoff", lambda: itertools.repeat(0.02))
    entry = server.add_input(CONTENT, "x") | {"size_bytes": len(CONTENT) + 1}
    began = time.monotonic()
    with pytest.raises(ServerUnreachableError, match="1280000 of the 1280001 bytes of x and no"):
        pull(server, tmp_path, [entry])
    assert len(gets(server)) == 1 + 10
    assert time.monotonic() - began > 9 * 0.02


def test_waits_for_bytes_that_arrive_slowly(
    server: BakehouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "backoff", lambda: itertools.repeat(0))
    monkeypatch.setattr(inputs, "_STREAMS_WITHOUT_A_BYTE_MAX", 2)
    entry = server.add_input(CONTENT, "x")
    # Each stream sends half of the remaining bytes.
    server.faults = ["cut"] * 15
    assert (pull(server, tmp_path, [entry])["dataset"] / "x").read_bytes() == CONTENT
    assert len(gets(server)) == 16


def test_uses_a_partial_file_of_an_earlier_attempt(server: BakehouseServer, tmp_path: Path) -> None:
    entry = server.add_input(CONTENT, "x")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / f"{entry['sha256']}.partial").write_bytes(CONTENT[:1000])
    folders = pull(server, tmp_path, [entry])
    assert (folders["dataset"] / "x").read_bytes() == CONTENT
    assert [headers.get("Range") for headers in gets(server)] == ["bytes=1000-"]


def test_fetches_damaged_bytes_again(server: BakehouseServer, tmp_path: Path) -> None:
    entry = server.add_input(CONTENT, "x")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / f"{entry['sha256']}.partial").write_bytes(b"wrong" * 100)
    folders = pull(server, tmp_path, [entry])
    assert (folders["dataset"] / "x").read_bytes() == CONTENT


def test_fails_if_bytes_stay_damaged(server: BakehouseServer, tmp_path: Path) -> None:
    entry = server.add_input(CONTENT, "x")
    server.inputs[entry["sha256"]] = b"?" * len(CONTENT)
    with pytest.raises(PlainError, match="x arrived damaged 3 times"):
        pull(server, tmp_path, [entry])
    assert not (tmp_path / "cache" / entry["sha256"]).exists()


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", "a\\..\\x", ".", "a\0b"])
def test_rejects_a_path_out_of_the_folder_before_fetching(
    server: BakehouseServer, tmp_path: Path, path: str
) -> None:
    with pytest.raises(PlainError, match="leads out of its folder"):
        pull(server, tmp_path, [server.add_input(CONTENT, path)])
    assert gets(server) == []


@pytest.mark.parametrize("name", ["..", "a/b", "."])
def test_rejects_an_invalid_input_name(server: BakehouseServer, tmp_path: Path, name: str) -> None:
    inputs = [WorkloadInput.model_validate({"name": name, "files": []})]
    entry = server.add_input(CONTENT, "x")
    inputs[0].files.append(type(inputs[0]).model_validate({"name": "n", "files": [entry]}).files[0])
    client = ServerClient("w-1", server.url, TOKEN)
    with pytest.raises(PlainError, match="is not the name of a folder"):
        pull_inputs(inputs, client, tmp_path / "cache", tmp_path / "inputs", lambda *_: None)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_final_rejection_ends_the_workload(
    server: BakehouseServer, tmp_path: Path, status: int
) -> None:
    entry = server.add_input(CONTENT, "x")
    server.faults = [status]
    with pytest.raises(WorkloadOver):
        pull(server, tmp_path, [entry])


def test_an_empty_file_needs_no_request(server: BakehouseServer, tmp_path: Path) -> None:
    folders = pull(server, tmp_path, [server.add_input(b"", "empty")])
    assert (folders["dataset"] / "empty").read_bytes() == b""
    assert gets(server) == []


def test_two_workloads_fetch_the_same_file_once(server: BakehouseServer, tmp_path: Path) -> None:
    entry = server.add_input(CONTENT, "x")
    threads = [
        threading.Thread(target=pull, args=(server, tmp_path / str(i), [entry])) for i in range(4)
    ]
    for i in range(4):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / "cache").symlink_to(tmp_path / "shared", target_is_directory=True)
    (tmp_path / "shared").mkdir()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(gets(server)) == 1


DAY_S = 24 * 3600


def cached(tmp_path: Path, name: str, size: int, age_days: float) -> Path:
    path = tmp_path / "cache" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(size))
    at = time.time() - age_days * DAY_S
    os.utime(path, (at, at))
    return path


def left(tmp_path: Path) -> set[str]:
    return {path.name for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"}


def test_deletes_files_unused_for_a_month(tmp_path: Path) -> None:
    for name, age in [("old", 31), ("broken.partial", 40), ("young", 29)]:
        cached(tmp_path, name, 10, age)
    prune_cache(tmp_path / "cache", 1000)
    assert left(tmp_path) == {"young"}


def test_deletes_the_oldest_unused_files_above_the_limit(tmp_path: Path) -> None:
    files = [cached(tmp_path, name, 10, age) for name, age in [("a", 4), ("b", 3), ("c", 2)]]
    (tmp_path / "in use").hardlink_to(files[0])
    prune_cache(tmp_path / "cache", 20)
    assert left(tmp_path) == {"a", "c"}
    prune_cache(tmp_path / "cache", 0)
    assert left(tmp_path) == {"a"}


def test_using_a_cached_file_protects_it_from_deletion(
    server: BakehouseServer, tmp_path: Path
) -> None:
    entry = server.add_input(CONTENT, "x")
    pull(server, tmp_path, [entry])
    os.utime(tmp_path / "cache" / entry["sha256"], (0, 0))
    pull(server, tmp_path, [entry])
    (tmp_path / "inputs/dataset/x").unlink()
    prune_cache(tmp_path / "cache", len(CONTENT))
    assert left(tmp_path) == {entry["sha256"]}


def test_deletes_locks_with_their_file(server: BakehouseServer, tmp_path: Path) -> None:
    entry = server.add_input(CONTENT, "x")
    pull(server, tmp_path, [entry])
    cache = tmp_path / "cache"
    (cache / "broken-off.lock").touch()
    prune_cache(cache, 0)
    assert {path.name for path in cache.iterdir()} == {entry["sha256"], f"{entry['sha256']}.lock"}
    (tmp_path / "inputs/dataset/x").unlink()
    prune_cache(cache, 0)
    assert list(cache.iterdir()) == []


def test_waiting_for_a_deleted_lock_acquires_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    order: list[str] = []
    waits = threading.Event()

    def wait() -> None:
        waits.set()
        with inputs._lock(path):
            order.append("second")
            assert path.exists()

    with inputs._lock(path):
        waiter = threading.Thread(target=wait)
        waiter.start()
        waits.wait()
        time.sleep(0.1)
        order.append("first")
        path.unlink()
    waiter.join()
    assert order == ["first", "second"]


def disk(monkeypatch: pytest.MonkeyPatch, free: Callable[[], int]) -> None:
    usage = type(shutil.disk_usage("/"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1 << 40, 0, free()))


def test_inputs_leave_a_reserve_on_the_disk(
    server: BakehouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [server.add_input(CONTENT, "x"), server.add_input(CONTENT, "again")]
    disk(monkeypatch, lambda: (1 << 30) + len(CONTENT) - 1)
    with pytest.raises(MachineError, match="has no room for the inputs"):
        pull(server, tmp_path, entries)
    assert gets(server) == []
    # A file under two names is stored once.
    disk(monkeypatch, lambda: (1 << 30) + len(CONTENT))
    pull(server, tmp_path, entries)
    # Cached files need no further space.
    disk(monkeypatch, lambda: 0)
    pull(server, tmp_path, entries)


def test_deletes_unused_files_to_make_room(
    server: BakehouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, young = cached(tmp_path, "old", len(CONTENT), 2), cached(tmp_path, "young", 10, 1)
    disk(monkeypatch, lambda: (1 << 30) + (0 if old.exists() else len(CONTENT)))
    pull(server, tmp_path, [server.add_input(CONTENT, "x")])
    assert (old.exists(), young.exists()) == (False, True)


def test_a_disk_that_fills_up_ends_the_download(
    server: BakehouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "_ROOM_CHECKED_EVERY_BYTES", 1000)
    looks: list[int] = []
    disk(monkeypatch, lambda: looks.append(0) or (1 << 40 if len(looks) == 1 else 0))
    with pytest.raises(MachineError, match="has no room for the inputs"):
        pull(server, tmp_path, [server.add_input(CONTENT, "x")])
