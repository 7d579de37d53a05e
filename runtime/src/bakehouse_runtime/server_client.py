"""The HTTP side of a workload: inputs down, artefacts up, reports in numbered batches.

Every call is repeated until it succeeds: a server may be away for minutes while it restarts.
Only 401, 403, 404 and 410 end the workload (WorkloadOver); other refusals are bugs and say so.
"""

from __future__ import annotations

import contextlib
import math
import ssl
import threading
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote

import httpx

from .answers import raise_unless_ok
from .backoff import backoff
from .errors import PlainError, ServerUnreachableError, WorkloadOver
from .inputs import sha256_of
from .protocol import ReportsAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .protocol import HeldOutAnswers


Answer = TypeVar("Answer")

_CHUNK_BYTES = 1 << 20
_CONNECT_S = 5.0
_ANSWER_S = 30.0
# The server flushes a file to its disk before it answers: as much as this in a second, or more.
_FLUSHED_BYTES_PER_S = 16 << 20
# How long a server may be away before the workload saves its work and ends.
_RETRY_TIMEOUT_S = 30 * 60.0
_STOP_TIMEOUT_S = 15.0
# How long a stopped workload may finish what it has begun, where the server does not say.
_DRAIN_S = 10.0
# Frequent reports are sent in batches; what people wait for is sent at once.
_BATCHABLE = {"progress", "metrics", "log"}


@dataclass(frozen=True)
class InputStream:
    """Bytes of an input from `offset` on."""

    offset: int
    response: httpx.Response

    def __iter__(self) -> Iterator[bytes]:
        return self.response.iter_raw()


@dataclass(frozen=True)
class Artefact:
    """A file that the server now holds."""

    path: str
    sha256: str
    size_bytes: int


class ServerClient:
    """Calls the server in the name of one workload. Safe to use from several threads."""

    def __init__(
        self, workload_id: str, base_url: str, token: str, input_timeout_s: float | None = None
    ) -> None:
        """`input_timeout_s`: how long the server may be out of reach while an input is asked for,
        by default half an hour."""
        self._input_timeout_s = input_timeout_s
        verify = ssl.create_default_context()
        self._http = httpx.Client(
            base_url=f"{base_url.rstrip('/')}/runtime/v1/workloads/{quote(workload_id, safe='')}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=_http_timeout(_ANSWER_S),
            # The address is the operator's own: no proxy of the machine, but its certificates.
            trust_env=False,
            verify=verify,
        )
        # Of the store of files: it has no business with the token.
        self._store = httpx.Client(timeout=_http_timeout(_ANSWER_S), trust_env=False, verify=verify)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()
        self._store.close()

    @contextlib.contextmanager
    def read_input(
        self, sha256: str, offset: int, *, follow_links: bool = True
    ) -> Iterator[InputStream]:
        """Opens an input's bytes, which the server may have the store of files send where links are
        followed. A connection lost midway ends the block without an error: the caller sees that
        bytes are missing and opens again. Raises ServerUnreachableError."""
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
                # Where the store does not give them, the server itself is asked.
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

        response = _retry(open_stream, "give the input", self._input_timeout_s)
        try:
            # 200 instead of 206: the server sends the whole file.
            with contextlib.suppress(httpx.TransportError):
                yield InputStream(offset if response.status_code == 206 else 0, response)
        finally:
            response.close()

    def upload(self, path: str, file: Path, timeout_s: float | None = None) -> Artefact:
        """Stores a file under `path` among the workload's artefacts. Raises
        ServerUnreachableError where the server stays out of reach for longer than `timeout_s`, by
        default half an hour."""
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

        _retry(put, f"take the file {path}", timeout_s)
        return Artefact(path, digest, size)

    def post_reports(self, reports: list[dict[str, Any]]) -> ReportsAnswer:
        """One attempt to send a batch. Raises httpx.HTTPError when it has to be repeated."""
        response = self._http.post("/reports", json={"reports": reports})
        raise_unless_ok(response)
        return ReportsAnswer.model_validate_json(response.content)


def _http_timeout(answer_s: float) -> httpx.Timeout:
    return httpx.Timeout(_ANSWER_S, connect=_CONNECT_S, read=answer_s)


def _retry(call: Callable[[], Answer], what: str, timeout_s: float | None = None) -> Answer:
    """Repeats `call` with exponential backoff until it succeeds; ServerUnreachableError after
    `timeout_s`, by default half an hour. `what` the server is asked to do, it says where that has
    answered, but would not."""
    deadline = time.monotonic() + (_RETRY_TIMEOUT_S if timeout_s is None else timeout_s)
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
    raise AssertionError("pauses never end")


class Reporter:
    """Sends reports to the server from a thread of its own, so that work never waits for it.

    Reports are numbered when their batch is made; a batch is repeated unchanged until the server
    has accepted it. Use as a context manager; leaving it waits until everything is accepted.
    """

    def __init__(
        self,
        client: ServerClient,
        *,
        heartbeat_s: float = 3.0,
        batch_delay_s: float = 0.2,
    ) -> None:
        self._client = client
        self._heartbeat_s = heartbeat_s
        self._batch_delay_s = batch_delay_s
        self._waiting: deque[dict[str, Any]] = deque()
        self._in_flight = False
        self._changed = threading.Condition()
        self._closing = False
        self._stop = threading.Event()
        self._stop_by = math.inf
        self._over: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    def __enter__(self) -> Reporter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        # A stopped workload has to end soon; a finished result may wait for its server.
        self._thread.join(_STOP_TIMEOUT_S if self.stop_requested else _RETRY_TIMEOUT_S)

    @property
    def stop_requested(self) -> bool:
        """Whether the work should be saved and ended: by the server, a signal, or its end."""
        return self._stop.is_set()

    @property
    def stop_by(self) -> float:
        """Until when, by the monotonic clock, what was begun may be finished. A second stop may
        come that leaves less time."""
        return self._stop_by

    def request_stop(self, drain_s: float | None = None) -> None:
        """Asks the work to be saved and ended, as the server's `stop` does."""
        within_s = _DRAIN_S if drain_s is None else drain_s
        self._stop_by = min(self._stop_by, time.monotonic() + within_s)
        self._stop.set()

    def wait_for_stop(self, timeout_s: float) -> bool:
        """Waits until a stop is asked for; returns whether it was."""
        return self._stop.wait(timeout_s)

    def wait_until_accepted(self, timeout_s: float) -> bool:
        """Waits until the server has every report so far; returns whether it has."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._over or not (self._waiting or self._in_flight), timeout_s
            )
            return not (self._waiting or self._in_flight)

    def raise_if_over(self) -> None:
        """Raises what ended the connection for good: WorkloadOver, or a refusal as PlainError."""
        if self._over is not None:
            raise self._over

    def phase(self, phase: str, *, counted: bool = True) -> None:
        """A named phase begins; one that is not counted costs nothing."""
        self._add("phase", phase=phase, counted=counted)

    def progress(
        self,
        done: float,
        total: float,
        unit: Literal["steps", "bytes", "examples"],
        remaining_seconds: float | None = None,
    ) -> None:
        """How far the phase is. One that has not left yet is replaced by the next."""
        self._add(
            "progress", done=done, total=total, unit=unit, remaining_seconds=remaining_seconds
        )

    def metrics(self, step: int, values: Mapping[str, float]) -> None:
        """One point of the curves; values that are not finite numbers have no place in JSON."""
        finite = {key: value for key, value in values.items() if abs(value) < float("inf")}
        if finite:
            self._add("metrics", step=step, values=finite)
        if len(finite) < len(values):
            names = ", ".join(key for key in values if key not in finite)
            self.log(f"Step {step}: not a finite number: {names}.")

    def log(self, line: str) -> None:
        """One line of the log, also printed here."""
        print(line, flush=True)
        self._add("log", line=line)

    def checkpoint(self, step: int) -> None:
        """A whole checkpoint of `step` is on disk."""
        self._add("checkpoint", step=step)

    def held_out_answers(self, answers: HeldOutAnswers) -> None:
        """What the base and the tuned model answer to held-out rows."""
        self._add("held_out_answers", **answers.model_dump(exclude_unset=True))

    def samples(
        self, step: int, pictures: list[dict[str, object]], adapter: str | None = None
    ) -> None:
        """A checkpoint has drawn pictures, which are uploaded: path, width and height of each. So
        is the adapter that has drawn them, where there is one."""
        drawn_by = {} if adapter is None else {"adapter": adapter}
        self._add("samples", step=step, pictures=pictures, **drawn_by)

    def ready(self, base_url: str) -> None:
        """A server is answering at `base_url`."""
        self._add("ready", base_url=base_url)

    def result(self, files: list[Artefact], summary: Mapping[str, float | str | None]) -> None:
        """The finite work is done and its last artefact is uploaded. A number of the summary that
        is not finite becomes None: it has no place in JSON."""
        self._add(
            "result",
            files=[vars(file) for file in files],
            summary={
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in summary.items()
            },
        )

    def stopped(self, step: int) -> None:
        """The work was saved at `step` and ended on request."""
        self._add("stopped", step=step)

    def failed(self, message: str) -> None:
        """It cannot go on; `message` is one plain sentence."""
        self._add("failed", message=message)

    def _add(self, kind: str, **fields: Any) -> None:
        report = {"type": kind, "at": _now(), **fields}
        with self._changed:
            if kind == "progress" and self._waiting and self._waiting[-1]["type"] == "progress":
                self._waiting[-1] = report
            else:
                self._waiting.append(report)
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            self._send()
        except (WorkloadOver, PlainError) as error:
            self._end(error)
        # An exception in a thread ends only the thread: the work would go on without reports.
        except Exception as error:
            over = PlainError(f"The reports cannot be sent ({type(error).__name__}: {error}).")
            over.__cause__ = error
            self._end(over)

    def _send(self) -> None:
        # A workload that was restarted goes on from the last number that the server accepted.
        accepted = self._post([])
        while batch := self._next_batch():
            accepted = self._post(
                [{"seq": accepted + i, **report} for i, report in enumerate(batch.reports, 1)]
            )
            with self._changed:
                self._in_flight = False
                self._changed.notify_all()

    def _end(self, over: Exception) -> None:
        with self._changed:
            self._over = over
            self._changed.notify_all()
        self.request_stop()

    def _next_batch(self) -> _Batch | None:
        """Waits for reports or the next heartbeat; None when closed and everything is sent."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing, self._heartbeat_s)
            if self._waiting and self._waiting[-1]["type"] in _BATCHABLE:
                self._changed.wait_for(lambda: self._closing, self._batch_delay_s)
            if self._closing and not self._waiting:
                return None
            count = min(len(self._waiting), 500)
            self._in_flight = count > 0
            return _Batch([self._waiting.popleft() for _ in range(count)])

    def _post(self, reports: list[dict[str, Any]]) -> int:
        """Repeats one batch until it is accepted; returns the last number the server has."""
        answer = _retry(lambda: self._client.post_reports(reports), "take the reports")
        if answer.command == "stop":
            self.request_stop(answer.drain_seconds)
        return answer.accepted_seq


@dataclass(frozen=True)
class _Batch:
    """Reports of one request; an empty one is a heartbeat that fetches the command."""

    reports: list[dict[str, Any]]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
