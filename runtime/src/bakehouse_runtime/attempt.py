"""An attempt that starts without a spec file, as in a pod, and requests it from the server."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import PlainError
from .server_client import ServerClient

if TYPE_CHECKING:
    from pathlib import Path

SPEC_FILE = "spec.json"


@dataclass(frozen=True)
class Place:
    """Settings of an attempt that its environment sets instead of the spec."""

    server_url: str
    workload_id: str
    token_file: Path
    # Holds the spec and the inputs, which are read-only for the work.
    folder: Path
    work_dir: Path
    # The address that a model server listens on.
    host: str
    # 0 picks any free port.
    port: int
    threads: int
    # How long a model server may finish running requests after a stop signal.
    leave_seconds: int | None


def fetch_spec(place: Place) -> Path:
    """Writes the spec of the attempt into the folder of `place` and returns its path. Raises
    PlainError if the token cannot be read, ServerUnreachableError and WorkloadOver."""
    try:
        token = place.token_file.read_text().strip()
    except OSError as error:
        message = f"The token {place.token_file} cannot be read: {error.strerror}."
        raise PlainError(message) from error
    client = ServerClient(place.workload_id, place.server_url, token)
    with contextlib.closing(client):
        spec = client.read_spec()
    spec |= {
        "server": {"base_url": place.server_url, "token": token},
        "work_dir": str(place.work_dir),
        # The next attempt may run on another machine.
        "keeps_work_dir": False,
        "inputs_dir": str(place.folder / "files"),
    }
    if spec.get("kind") == "serve":
        spec |= {
            "host": place.host,
            "port": place.port,
            "threads": place.threads,
            "leave_seconds": place.leave_seconds,
        }
    path = place.folder / SPEC_FILE
    path.write_text(json.dumps(spec))
    return path
