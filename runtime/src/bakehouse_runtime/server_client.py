"""The HTTP client of a workload: downloads inputs, uploads artefacts, sends reports in numbered
batches.

Every call is retried until it succeeds, because a server may be down for minutes while it restarts.
Only 401, 403, 404 and 410 end the workload (WorkloadOver); other rejections are bugs and raise
ResponseError.
"""

from __future__ import annotations

import contextlib
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx

from .answers import raise_unless_ok
from .backoff import backoff
from .errors import ServerUnreachableError
from .inputs import sha256_of
from .protocol import ReportsAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


Answer = TypeVar("Answer")

_CHUNK_BYTES = 1 << 20
_CONNECT_S = 5.0
_ANSWER_S = 30.0
# The lowest disk throughput of the server, for timeouts: it flushes a file to disk before it
# responds.
_FLUSHED_BYTES_PER_S = 16 << 20
# How long a server may be down before the workload saves its work and ends.
RETRY_TIMEOUT_S = 30 * 60.0
# Shorter than later, because no work can be lost yet.
_SPEC_TIMEOUT_S = 5 * 60.0


@dataclass(frozen=True)
class InputStream:
    """Bytes of an input from `offset` on."""

    offset: int
    response: httpx.Response

    def __iter__(self) -> Iterator[bytes]:
        return self.response.iter_raw()


@dataclass(frozen=True)
class Artefact:
    """A file that the server has stored."""

    path: str
    sha256: str
    size_bytes: int


class ServerClient:
    """Calls the server on behalf of one workload. Thread-safe."""

    def __init__(
        self, workload_id: str, base_url: str, token: str, input_timeout_s: float | None = None
    ) -> None:
        """`input_timeout_s` limits how long the server may be unreachable for an input; defaults to
        half an hour."""
        self._input_timeout_s = input_timeout_s
        verify = ssl.create_default_context()
        self._http = httpx.Client(
            base_url=f"{base_url.rstrip('/')}/runtime/v1/workloads/{quote(workload_id, safe='')}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=_http_timeout(_ANSWER_S),
            # The address is the operator's own: ignore the machine's proxies, but use its
            # certificates.
            trust_env=False,
            verify=verify,
        )
        # For the blob store, which must not receive the token.
        self._store = httpx.Client(timeout=_http_timeout(_ANSWER_S), trust_env=False, verify=verify)

    def close(self) -> None:
        self._http.close()
        self._store.close()

    @contextlib.contextmanager
    def read_input(
        self, sha256: str, offset: int, *, follow_links: bool = True
    ) -> Iterator[InputStream]:
        """Opens an input's bytes; with `follow_links` the server may redirect to the blob store. A
        connection lost midway ends the block without an error: the caller sees that bytes are
        missing and opens the input again. Raises ServerUnreachableError."""
        headers = {"Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        follows = follow_links

        def open_stream() -> httpx.Response:
            nonlocal follows
            asked = {**headers, "X-Bakehouse-Links": "1"} if follows else headers
            request = self._http.build_request("GET", f"/inputs/{sha256}", headers=asked)
            response = self._http.send(request, stream=True)
            if response.is_redirect:
                # If the blob store fails, request the bytes from the server itself.
                follows = False
                response.close()
                link = self._store.build_request(
                    "GET", response.headers["location"], headers=headers
                )
                response = self._store.send(link, stream=True)
                if not response.is_success:
                    response.close()
                    return open_stream()
            try:
                raise_unless_ok(response)
            except BaseException:
                response.close()
                raise
            return response

        response = retry(open_stream, "give the input", self._input_timeout_s)
        try:
            # 200 instead of 206: the server sends the whole file.
            with contextlib.suppress(httpx.TransportError):
                yield InputStream(offset if response.status_code == 206 else 0, response)
        finally:
            response.close()

    def upload(self, path: str, file: Path, timeout_s: float | None = None) -> Artefact:
        """Stores a file under `path` among the workload's artefacts. Raises ServerUnreachableError
        if the server is unreachable for longer than `timeout_s`, by default half an hour."""
        digest = sha256_of(file)
        size = file.stat().st_size

        def put() -> None:
            with file.open("rb") as stream:
                response = self._http.put(
                    f"/artefacts/{quote(path)}",
                    content=iter(lambda: stream.read(_CHUNK_BYTES), b""),
                    headers={
                        "X-Content-SHA256": digest,
                        "Content-Length": str(size),
                        "Content-Type": "application/octet-stream",
                    },
                    timeout=_http_timeout(_ANSWER_S + size / _FLUSHED_BYTES_PER_S),
                )
            raise_unless_ok(response)

        retry(put, f"take the file {path}", timeout_s)
        return Artefact(path, digest, size)

    def read_spec(self) -> dict[str, Any]:
        """Returns the workload's spec, without the settings of its environment. Raises
        ServerUnreachableError."""

        def get() -> httpx.Response:
            response = self._http.get("/spec")
            raise_unless_ok(response)
            return response

        return retry(get, "say what there is to do", _SPEC_TIMEOUT_S).json()

    def post_reports(self, reports: list[dict[str, Any]]) -> ReportsAnswer:
        """Sends a batch once. Raises httpx.HTTPError if it must be retried."""
        response = self._http.post("/reports", json={"reports": reports})
        raise_unless_ok(response)
        return ReportsAnswer.model_validate_json(response.content)


def _http_timeout(answer_s: float) -> httpx.Timeout:
    return httpx.Timeout(_ANSWER_S, connect=_CONNECT_S, read=answer_s)


def retry(call: Callable[[], Answer], what: str, timeout_s: float | None = None) -> Answer:
    """Retries `call` with exponential backoff until it succeeds; raises ServerUnreachableError
    after `timeout_s`, by default half an hour. `what` describes the request in the error."""
    deadline = time.monotonic() + (RETRY_TIMEOUT_S if timeout_s is None else timeout_s)
    for pause in backoff():
        try:
            return call()
        except httpx.HTTPError as error:
            if time.monotonic() >= deadline:
                message = "The Bakehouse server has been out of reach too long."
                if isinstance(error, httpx.HTTPStatusError):
                    status = error.response.status_code
                    message = f"The Bakehouse server did not {what}: it answers with {status}."
                raise ServerUnreachableError(message) from error
            time.sleep(pause)
    raise AssertionError("backoff ended unexpectedly")
