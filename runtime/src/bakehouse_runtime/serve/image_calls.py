"""The HTTP server of an image model: `POST /generate`, `POST /edit` and `GET /health`."""

from __future__ import annotations

import base64
import hmac
import json
import select
import socket
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..errors import PlainError, RequestError, StopRequested, first_wrong_field
from ..image.picture_file import check_metadata
from ..protocol import ErrorImageEvent, QueuedImageEvent, StepImageEvent
from .image_engines import brings_picture, format_of, lora_of
from .lora_files import LoraMissingError
from .media_files import FileOptions, written
from .sampler import (
    PROGRESS_INTERVAL_S,
    Done,
    Event,
    Failed,
    Job,
    Queued,
    Refused,
    Sampler,
    Stepped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PIL.Image import Image

    from ..protocol import Wire
    from .image_engines import ImageEngine, ImageRequest
    from .lora_files import LoraFiles

# Each connection has a thread.
_CONNECTIONS_MAX = 256
# Maximum number of running and queued requests. The gateway has a queue of its own.
_IN_FLIGHT_MAX = 128
# Full-size pictures in memory at a time, 120 MB and more each.
_UNPACKED_AT_ONCE = 2
# A client without any traffic for this long is disconnected.
_SOCKET_TIMEOUT_S = 30
# How often the connection of a client is checked.
_POLL_INTERVAL_S = 0.1
_PREVIEW_QUALITY = 75


class ImageCalls(ThreadingHTTPServer):
    """Accepts connections; each has a thread, which only waits, encodes and writes."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        api_key: str,
        sampler: Sampler,
        engine: ImageEngine,
        loras: LoraFiles,
    ) -> None:
        self.engine = engine
        self.loras = loras
        self.authorization = f"Bearer {api_key}".encode()
        self.sampler = sampler
        self.in_flight = 0
        self.unpacking = threading.BoundedSemaphore(_UNPACKED_AT_ONCE)
        self._lock = threading.Lock()
        self._connections = threading.BoundedSemaphore(_CONNECTIONS_MAX)
        super().__init__(address, _Handler)

    def admit(self) -> bool:
        """Admits a request if there is room; returns whether it did."""
        with self._lock:
            has_room = self.in_flight < _IN_FLIGHT_MAX
            self.in_flight += has_room
            return has_room

    def release(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A disconnected client is not a server error.
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class _Refusal(Exception):  # noqa: N818 - an answer
    """The error response to a request."""

    def __init__(self, status: int, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"message": message, "param": param}


class _Handler(BaseHTTPRequestHandler):
    server: ImageCalls  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    server_version = "bakehouse"
    sys_version = ""
    timeout = _SOCKET_TIMEOUT_S
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Requests must not be logged."""

    def do_GET(self) -> None:
        if self.path == "/health" and not self.server.sampler.is_loaded:
            self._send(503, {"status": "loading"})
        elif self.path == "/health":
            self._send(200, {"status": "ok"})
        else:
            self._send(404, {"error": {"message": "There is no such route.", "param": None}})

    def do_POST(self) -> None:
        try:
            request = self._read_request()
            if not self.server.sampler.is_loaded:
                raise _Refusal(503, "The model is still being loaded.")
            if not self.server.admit():
                raise _Refusal(503, "Too many requests wait already.")
            try:
                with self.server.loras.lent(lora_of(request), self._is_connected) as file:
                    job = Job(self._read_picture(request, file), request.preview_every)
                    wanted = FileOptions(format_of(request), request.metadata)
                    # The request may wait long, so free its picture in base64.
                    del request
                    self._answer(wanted, job)
            finally:
                self.server.release()
        except _Refusal as refusal:
            self._send_error(refusal)
        except LoraMissingError as error:
            self._send_error(_Refusal(503, str(error), "lora"))
        # The client disconnected before its LoRA was downloaded, or its picture was unpacked.
        except StopRequested:
            self.close_connection = True

    def _read_request(self) -> ImageRequest:
        if not hmac.compare_digest(
            self.headers.get("Authorization", "").encode(), self.server.authorization
        ):
            raise _Refusal(401, "The API key of this model server is missing or wrong.")
        if self.path not in ("/generate", "/edit"):
            raise _Refusal(404, "There is no such route.")
        length = self.headers.get("Content-Length", "")
        bytes_max = self.server.engine.body_bytes_max
        # Streaming requires the chunked encoding of HTTP/1.1.
        if self.request_version != "HTTP/1.1" or not (length.isascii() and length.isdigit()):
            raise _Refusal(411, "A request is HTTP/1.1 and says its Content-Length.")
        if len(length) > 9 or int(length) > bytes_max:
            raise _Refusal(413, f"A request has at most {bytes_max} bytes.")
        try:
            request = self.server.engine.wire.model_validate_json(self.rfile.read(int(length)))
            check_metadata(request.metadata)
        except ValidationError as error:
            field, message = first_wrong_field(error)
            message = f"{field}: {message}." if field else f"{message}."
            raise _Refusal(400, message, field or None) from error
        except PlainError as error:
            raise _Refusal(400, str(error), "metadata") from error
        return request

    def _read_picture(self, request: ImageRequest, lora_file: Path | None) -> object:
        """Returns the request to the model. Unpacking a large picture takes long, which delays
        other pictures but not sampling."""
        try:
            with self._place_to_unpack(request):
                asked = self.server.engine.to_request(request, lora_file)
                return self.server.sampler.prepared(asked)
        except PlainError as error:
            field = error.field if isinstance(error, RequestError) else "picture"
            raise _Refusal(400, str(error), field) from error

    @contextmanager
    def _place_to_unpack(self, request: ImageRequest) -> Iterator[None]:
        """Acquires an unpacking slot for a picture; raises StopRequested if the client disconnects
        first."""
        if not brings_picture(request):
            yield
            return
        while not self.server.unpacking.acquire(timeout=_POLL_INTERVAL_S):
            if not self._is_connected():
                raise StopRequested
        try:
            yield
        finally:
            self.server.unpacking.release()

    def _answer(self, wanted: FileOptions, job: Job) -> None:
        """Writes a line for each event and the file after the last one, or stops when the client
        disconnects."""
        self.server.sampler.submit(job)
        try:
            events = self._next_events(job)
            if isinstance(events[0], Refused):
                raise _Refusal(400, events[0].message, events[0].field)
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                self._write_chunk(b"".join(_written(event, wanted) for event in events))
                if isinstance(events[-1], Done | Failed):
                    break
                events = self._next_events(job)
            self._write_chunk(b"")
        finally:
            job.cancel()

    def _next_events(self, job: Job) -> list[Event]:
        """Waits for events. Each written line takes CPU time from sampling, so they are sent a few
        times per second, except the last. Raises ConnectionError when the client disconnects."""
        due = time.monotonic() + PROGRESS_INTERVAL_S
        while True:
            if not self._is_connected():
                raise ConnectionAbortedError
            has_ended = job.wait(_POLL_INTERVAL_S)
            if (has_ended or time.monotonic() >= due) and (events := job.take()):
                return events

    def _is_connected(self) -> bool:
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        try:
            return not poll.poll(0) or self.connection.recv(1, socket.MSG_PEEK) != b""
        except ConnectionError:
            return False

    def _send_error(self, refusal: _Refusal) -> None:
        # The rest of the body is not read.
        self.close_connection = True
        self._send(refusal.status, {"error": refusal.error})

    def _write_chunk(self, content: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _written(event: Event, wanted: FileOptions) -> bytes:
    """Returns the line of an event, followed by the files for the last one."""
    match event:
        case Queued():
            return _line(QueuedImageEvent(type="queued", position=event.position))
        case Stepped():
            step = StepImageEvent(
                type="step",
                step=event.step,
                expert_weights=event.expert_weights,
                preview=event.preview and _preview(event.preview),
            )
            return _line(step)
        case Done():
            done, files = written(event.generated, wanted)
            return _line(done) + files
        case Failed() | Refused():
            return _line(ErrorImageEvent(type="error", message=event.message))


def _line(event: Wire) -> bytes:
    return f"{event.model_dump_json()}\n".encode()


def _preview(picture: Image) -> str:
    file = BytesIO()
    picture.save(file, "JPEG", quality=_PREVIEW_QUALITY)
    return base64.b64encode(file.getvalue()).decode("ascii")
