"""An attempt that nobody could hand a file, as in a pod: it asks the server what there is to do."""

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
    """What only the place of an attempt knows."""

    server_url: str
    workload_id: str
    token_file: Path
    # Holds the spec and the inputs, which the work may only read.
    folder: Path
    work_dir: Path
    # Where a model server listens.
    host: str
    # 0: at any port that is free.
    port: int
    threads: int
    # How long a model server may finish what it has begun where its place tells it to end.
    leave_seconds: int | None


def fetch_spec(place: Place) -> Path:
    """Writes the spec of the attempt into the place's folder; returns its path. Raises PlainError
    where the token cannot be read, ServerUnreachableError and WorkloadOver."""
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
        # The next attempt may be anywhere.
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
