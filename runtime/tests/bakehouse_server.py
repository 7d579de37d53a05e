"""A fake Bakehouse server that can inject faults."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal

import httpx

from bakehouse_runtime.protocol import ReportsBody

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODEL_KEY = "key-of-the-model-server"
# A client of the model server that sends its key.
AUTHORIZED_CLIENT = httpx.Client(headers={"Authorization": f"Bearer {MODEL_KEY}"}, trust_env=False)
TOKEN = "a-token-for-one-workload"

# The fault of a request: a status, a closed connection, a response truncated after some bytes
# (`cut`), or a response lost after the work was done (`lost`).
Fault = int | Literal["drop", "cut", "lost"]


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A killed workload leaves connections open."""


class BakehouseServer:
    """Serves inputs and stores reports and artefacts. `faults` are consumed, one per request."""

    def __init__(self, artefacts: Path) -> None:
        self.artefacts = artefacts
        self.inputs: dict[str, bytes | Path] = {}
        # The spec for attempts that request one.
        self.spec: dict[str, Any] = {}
        # Whether inputs are links to a blob store, which this server simulates too.
        self.links = False
        # Error statuses of inputs, by hash.
        self.refused: dict[str, int] = {}
        self.reports: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.faults: list[Fault] = []
        self.command: Literal["continue", "stop"] = "continue"
        # How long flushing an artefact to disk takes.
        self.flush_s = 0.0
        self.drain_seconds: int | None = None
        # Adapters that a text server must load, and those that it needs.
        self.adapters: list[dict[str, Any]] = []
        self.wanted_adapters: list[str] | None = None
        self.on_report: Callable[[dict[str, Any]], None] = lambda _: None
        self._changed = threading.Condition()
        self._http: ThreadingHTTPServer | None = None
        self._port = 0

    def __enter__(self) -> BakehouseServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listens; after a stop, on the same port as before."""
        self._http = _Http(("127.0.0.1", self._port), _handler(self))
        self._port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def add_input(self, content: bytes | Path, path: str) -> dict[str, Any]:
        """Adds bytes or a file as an input; returns its entry for a spec."""
        data = content if isinstance(content, bytes) else content.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        self.inputs[digest] = content
        return {"path": path, "sha256": digest, "size_bytes": len(data)}

    def add_folder(self, name: str, folder: Path) -> dict[str, Any]:
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        return {
            "name": name,
            "files": [self.add_input(file, file.relative_to(folder).as_posix()) for file in files],
        }

    def workload(self, tmp_path: Path, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Returns the common part of a spec."""
        return {
            "protocol": 1,
            "workload_id": "w-1",
            "server": {"base_url": self.url, "token": TOKEN},
            "work_dir": str(tmp_path / "work"),
            "inputs_dir": str(tmp_path / "inputs"),
            "inputs": inputs,
        }

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [report for report in self.reports if report["type"] == kind]

    def wait_for(self, kind: str, timeout_s: float = 120.0) -> dict[str, Any]:
        """Waits for the first report of a kind and returns it."""
        with self._changed:
            found = self._changed.wait_for(lambda: self.of_type(kind), timeout_s)
        assert found, f"no report {kind}; there are {self.reports[-5:]}"
        return found[0]

    def store(self, path: str, body: bytes, announced: str) -> bytes:
        """Stores an artefact and returns the response body."""
        assert hashlib.sha256(body).hexdigest() == announced
        target = self.artefacts / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
        time.sleep(self.flush_s)
        return b""

    def accept(self, body: bytes) -> dict[str, Any]:
        ReportsBody.model_validate_json(body)
        with self._changed:
            for report in json.loads(body)["reports"]:
                if report["seq"] == len(self.reports) + 1:
                    self.reports.append(report)
                    self.on_report(report)
            self._changed.notify_all()
            answer: dict[str, Any] = {"accepted_seq": len(self.reports), "command": self.command}
            if self.adapters:
                answer["adapters"] = self.adapters
            if self.wanted_adapters is not None:
                answer["wanted_adapters"] = self.wanted_adapters
            return answer | ({"drain_seconds": self.drain_seconds} if self.drain_seconds else {})


def _handler(server: BakehouseServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.answer(b"")

        def do_POST(self) -> None:
            self.answer(self.rfile.read(int(self.headers["Content-Length"])))

        do_PUT = do_POST  # noqa: N815 - the handler's own naming

        def answer(self, body: bytes) -> None:
            server.requests.append((self.command, self.path, dict(self.headers.items())))
            fault = server.faults.pop(0) if server.faults else None
            if fault == "drop":
                self.close_connection = True
            elif isinstance(fault, int):
                self.send(fault, b"refused")
            elif self.path.startswith("/store/") and "Authorization" not in self.headers:
                self.send_input(server.inputs[self.path[7:]], cut=fault == "cut")
            elif self.headers["Authorization"] != f"Bearer {TOKEN}":
                self.send(401, b"")
            else:
                self.route(body, fault)

        def route(self, body: bytes, fault: Fault | None) -> None:
            found = re.fullmatch(r"/runtime/v1/workloads/w-1/(\w+)/?(.*)", self.path)
            kind, rest = found.groups() if found else ("", "")
            if kind == "inputs" and rest in server.refused:
                self.send(server.refused[rest], b"")
            elif kind == "inputs" and server.links and "X-Bakehouse-Links" in self.headers:
                self.send(307, b"", {"Location": f"{server.url}/store/{rest}"})
            elif kind == "inputs" and rest in server.inputs:
                self.send_input(server.inputs[rest], cut=fault == "cut")
            elif kind in ("spec", "reports"):
                answer = server.spec if kind == "spec" else server.accept(body)
                if fault == "lost":
                    self.close_connection = True
                else:
                    self.send(200, json.dumps(answer).encode())
            elif kind == "artefacts":
                self.send(204, server.store(rest, body, self.headers["X-Content-SHA256"]))
            else:
                self.send(404, b"")

        def send_input(self, content: bytes | Path, *, cut: bool) -> None:
            data = content if isinstance(content, bytes) else content.read_bytes()
            start = int(self.headers.get("Range", "bytes=0-")[6:-1])
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            end = start + (len(data) - start) // 2 if cut else len(data)
            self.wfile.write(data[start:end])
            if cut:
                self.close_connection = True

        def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
