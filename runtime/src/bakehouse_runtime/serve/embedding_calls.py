"""The HTTP server of an encoder: `POST /v1/embeddings` as in llama.cpp, and `GET /health`."""

from __future__ import annotations

import base64
import hmac
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..embed.encoder import InputError
from ..errors import PlainError, first_wrong_field

if TYPE_CHECKING:
    from ..embed.encoder import Encoder
    from ..protocol import ServeEmbeddingSpec

_BODY_BYTES_MAX = 16 * 1024 * 1024
# A client without any traffic for this long is disconnected.
_SOCKET_TIMEOUT_S = 30


class _Request(BaseModel):
    """The request; the gateway has already validated it."""

    model_config = ConfigDict(strict=True, extra="ignore")

    input: list[str] | list[list[int]] = Field(min_length=1, max_length=2048)


class EncoderServer:
    """Serves clients that send the API key. Batches of concurrent requests take turns on the
    processors."""

    def __init__(self, spec: ServeEmbeddingSpec, encoder: Encoder) -> None:
        encoder.encode(encoder.tokenise(["ready"]))
        self._calls = _Calls((spec.host, spec.port), encoder, spec.api_key)
        self.base_url = f"http://{spec.host}:{self._calls.server_port}"
        self._answered = 0
        threading.Thread(target=self._calls.serve_forever, name="calls", daemon=True).start()

    def ended(self) -> str | None:
        """Returns None: it runs as long as this process."""
        return None

    def in_flight(self) -> int:
        return self._calls.in_flight

    def advances(self) -> bool:
        """Returns whether a request finished since the last call, or none is running."""
        before, self._answered = self._answered, self._calls.answered
        return self._answered != before or self._calls.in_flight == 0

    def close(self) -> None:
        self._calls.shutdown()
        self._calls.server_close()


class _Calls(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], encoder: Encoder, api_key: str) -> None:
        self.authorization = f"Bearer {api_key}".encode()
        self.in_flight = 0
        self.answered = 0
        self._encoder = encoder
        self._count = threading.Lock()
        super().__init__(address, _Handler)

    def answer(self, request: _Request) -> dict[str, Any]:
        """Returns the response body. Raises InputError and PlainError."""
        with self._count:
            self.in_flight += 1
        try:
            sequences = self._encoder.tokenise(request.input)
            vectors = self._encoder.encode(sequences)
            tokens = sum(map(len, sequences))
            return {
                "object": "list",
                "data": [
                    {
                        "object": "embedding",
                        "index": index,
                        "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode(),
                    }
                    for index, vector in enumerate(vectors)
                ],
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        finally:
            with self._count:
                self.in_flight -= 1
                self.answered += 1

    def too_long(self, error: InputError) -> dict[str, Any]:
        """Returns llama.cpp's error for a text that exceeds the context."""
        return {
            "type": "exceed_context_size_error",
            "n_prompt_tokens": error.tokens,
            "n_ctx": self._encoder.window,
        }

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A disconnected client is not a server error.
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Calls  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    server_version = "bakehouse"
    sys_version = ""
    timeout = _SOCKET_TIMEOUT_S
    disable_nagle_algorithm = True
    # Sends the head and the body of a response in one packet.
    wbufsize = -1

    def log_message(self, format: str, *args: object) -> None:
        """Requests must not be logged."""

    def do_GET(self) -> None:
        if self.path == "/health":
            self._send(200, {"status": "ok"})
        else:
            self._reject(404, {"message": "There is no such route."})

    def do_POST(self) -> None:
        shown = self.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(shown, self.server.authorization):
            return self._reject(401, {"message": "The API key of this model server is wrong."})
        if self.path != "/v1/embeddings":
            return self._reject(404, {"message": "There is no such route."})
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or len(length) > 9:
            return self._reject(411, {"message": "A request says its Content-Length."})
        if int(length) > _BODY_BYTES_MAX:
            return self._reject(413, {"message": f"A request has at most {_BODY_BYTES_MAX} bytes."})
        try:
            request = _Request.model_validate_json(self.rfile.read(int(length)))
            self._send(200, self.server.answer(request))
        except ValidationError as error:
            field, message = first_wrong_field(error)
            self._reject(400, {"message": f"{field}: {message}."})
        except InputError as error:
            said = {"message": str(error), "index": error.index}
            self._reject(400, said if error.tokens is None else said | self.server.too_long(error))
        except PlainError as error:
            self._reject(500, {"message": str(error)})

    def _reject(self, status: int, error: dict[str, Any]) -> None:
        # The rest of the body is not read.
        self.close_connection = True
        self._send(status, {"error": error})

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
